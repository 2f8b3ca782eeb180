/* SPDX-License-Identifier: MIT */
/* Requests for heap snapshots (heaprequest.h). */
#include "heaprequest.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "sampler.h"
#include "snapshot.h"
#include "tracker.h"

/* Stage of a request. REQUESTED: no thread has released the request. DONE: the thread that runs the
   state has released it first. LEFT: the control thread has released it first. The second thread
   that releases the request frees it. */
typedef enum Stage { REQUESTED, DONE, LEFT } Stage;

struct HeapRequest {
  SamplerRequest request;	/* first member: heaprequest_take casts its address */
  Stage stage;		/* changed only by becomes(), atomically: two threads use it */
  int ok;		/* 1: the snapshot was taken */
  uint64_t state;	/* number of the state whose snapshot was taken */
  /* 'path': path of the file. 'err': reason of a failure. */
  char path[PATH_MAX], err[1024];
};

/* Sets h->stage atomically. Returns the previous stage. */
static Stage becomes (HeapRequest *h, Stage stage) {
  return __atomic_exchange_n(&h->stage, stage, __ATOMIC_ACQ_REL);
}

/* Adds a mark to the profile if the child could not write the snapshot. */
static void heaprequest_failed (const char *why) {
  (void)process_mark("heap snapshot failed", why);
}

/* Takes the requested snapshot at the end of a collection, on the thread that runs the state. If
   the state was closed before a collection, L is NULL and the request fails. */
static void heaprequest_take (SamplerRequest *request, lua_State *L) {
  HeapRequest *h = (HeapRequest *)request;
  SnapshotWish wish = {h->path, 0, 0, 0, 0, 0, NULL, heaprequest_failed};
  Snapshot s;
  if (L == NULL) strcpy(h->err, "the Lua state was closed before its next collection, which would "
                                "have taken the snapshot; try another state");
  else h->ok = snapshot_take(L, &wish, &s, h->err, sizeof(h->err));
  if (h->ok) {
    Sampler *of = sampler_attached(L);
    if (of != NULL) {
      h->state = sampler_tracker(of)->number;
      /* this mark explains the program's pause for the snapshot */
      sampler_mark(of, "heap snapshot", 13, s.path, strlen(s.path));
    }
    snprintf(h->path, sizeof(h->path), "%s", s.path);
    free(s.path);
  }
  if (becomes(h, DONE) == LEFT) free(h);
}

HeapRequest *heaprequest_start (uint64_t state, const char *path, const char **why) {
  HeapRequest *h = calloc(1, sizeof(*h));
  int sent;
  *why = "not enough memory";
  if (h == NULL) return NULL;
  h->request.f = heaprequest_take;
  snprintf(h->path, sizeof(h->path), "%s", path);
  sent = sampler_request(state, &h->request);
  if (sent > 0) return h;
  free(h);
  *why = (sent == 0) ? "no Lua state of the process has this number; leave --state out, or send - "
                       "in the request 'heap', for the first state that runs a collection"
         : "another client has requested a snapshot that was not taken yet; try again later";
  return NULL;
}

HeapRequestState heaprequest_poll (const HeapRequest *h, const char **text, uint64_t *state) {
  if (__atomic_load_n(&h->stage, __ATOMIC_ACQUIRE) != DONE) return HEAPREQUEST_WAITS;
  *text = h->ok ? h->path : h->err;
  *state = h->state;
  return h->ok ? HEAPREQUEST_TAKEN : HEAPREQUEST_FAILED;
}

void heaprequest_end (HeapRequest *h) {
  if (sampler_withdraw(&h->request) || becomes(h, LEFT) == DONE) free(h);
}
