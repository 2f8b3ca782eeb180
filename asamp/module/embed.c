/* SPDX-License-Identifier: MIT */
/* Implements asamp.h on top of a tracker, which takes the samples of a Lua state (embed.h). */
#include "embed.h"

#include "binding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "codefile.h"
#include "counting.h"
#include "frameids.h"
#include "idmap.h"
#include "labels.h"
#include "list.h"
#include "native.h"
#include "sampler.h"
#include "place.h"
#include "snapshot.h"
#include "tracker.h"
#include "trackholders.h"

/* The sampling of a Lua state for a client: a program that uses asamp.h. */
typedef struct Embed {
  asamp_Client client;	/* The client's callbacks. A callback is NULL if the client has not given
                           it, or was built with an older asamp.h, which lacks it. */
  Tracker *tracker;	/* The state's tracker. */
  IdMap ids;			/* Maps function ids to indexes in 'functions'. */
  asamp_Function **functions;	/* Functions reported by the tracker. */
  size_t nfunctions, functions_size;
  asamp_Frame *frames;		/* array whose last n elements are the stack of the last sample */
  /* 'n': number of frames of the last sample's stack; 'size': capacity of 'frames', in frames */
  size_t n, size;
  asamp_Known *reported;		/* samples for which the client will receive callbacks:
                                           'nfollowed' survivors, then samples without an outcome */
  size_t nreported, nfollowed, reported_size;
  uint64_t samples;		/* number of samples reported to the client */
} Embed;

/* 1: this OS thread runs a callback of the client. The functions of asamp.h, except 'symbol' and
   'kindname', then fail, because they would call the Lua API, which callbacks must not do. */
static __thread int inside __attribute__((tls_model("initial-exec")));

#define INSIDE	"this function must not be called in a callback of the client; call it later"

/* Calls the callback f of the client, if it has one, with 'inside' set. */
#define notify(e,f,...) \
  ((e)->client.f == NULL ? (void)0 : \
   (inside = 1, (e)->client.f((e)->client.ud, __VA_ARGS__), inside = 0, (void)0))

/* Represents a function that could not be stored for lack of memory, and the frames that a long
   stack leaves out (FRAME_CUT). */
static const asamp_Function unknown = {"?", "?", 0};

/* Represents callers that tail calls have replaced (FRAME_TAIL). */
static const asamp_Function tailcalls = {"(tail call)", "?", 0};

/* {== callbacks of the tracker ========================================= */

/* Returns a function with copies of name and source, or NULL if out of memory. */
static asamp_Function *newfunction (const char *name, int linedefined,
                                    const char *source) {
  size_t n = strlen(name) + 1, m = strlen(source) + 1;
  asamp_Function *f = malloc(sizeof(*f) + n + m);
  if (f != NULL) {
    char *text = (char *)(f + 1);
    f->name = memcpy(text, name, n);
    f->source = memcpy(text + n, source, m);
    f->linedefined = linedefined;
  }
  return f;
}

/* Stores a new function under its id. If out of memory, stores nothing: functionof then returns
   'unknown'. */
static void onfunction (void *ud, uint64_t id, const char *name, int linedefined,
                        const char *source) {
  Embed *e = ud;
  asamp_Function *f;
  if (!list_grow(&e->functions, e->nfunctions, &e->functions_size, sizeof(*e->functions)))
    return;
  if ((f = newfunction(name, linedefined, source)) == NULL) return;
  if (!idmap_set(&e->ids, id, (uint32_t)e->nfunctions)) {
    free(f);
    return;
  }
  e->functions[e->nfunctions++] = f;
}

static const asamp_Function *functionof (const Embed *e, uint64_t id) {
  uint32_t at = idmap_get(&e->ids, id);
  if (id == FRAME_TAIL) return &tailcalls;
  return (at != IDMAP_NONE) ? e->functions[at] : &unknown;
}

/* Reserves space in e->reported for one more sample. Returns 0 if out of memory. */
static int onroom (void *ud, uint64_t count) {
  (void)count;
  Embed *e = ud;
  return list_grow(&e->reported, e->nreported, &e->reported_size, sizeof(*e->reported));
}

/* Stores a sample and its stack. The stack consists of the n inner frames in frames[] and of the
   'shared' outermost frames of the previous stack. Calls the client's callback 'allocated'. */
static void onsample (void *ud, const ProfileSample *in, size_t shared,
                      const ProfileFrame *frames, size_t n) {
  Embed *e = ud;
  size_t known = e->nreported++;
  asamp_Sample s;
  asamp_Frame *to;
  size_t i;
  e->reported[known].number = ++e->samples;
  e->reported[known].size = in->size;
  e->reported[known].count = in->count;
  e->reported[known].value = NULL;
  /* 'shared' outer frames are those of the previous stack. If there was no memory when the previous
     stack was stored, its inner frames are missing in e->frames. */
  if (shared > e->n) shared = e->n;
  if (!list_roomahead(&e->frames, shared + n, shared, &e->size, sizeof(*e->frames)))
    /* no memory: keeps only the outer frames shared with the previous stack, which are in e->frames
       already */
    n = 0;
  e->n = shared + n;
  to = e->frames + e->size - e->n;
  for (i = 0; i < n; i++) {
    uint64_t id = frames[i].id;
    int isnative = (id & 1) && id != FRAME_CUT && id != FRAME_TAIL;
    to[i].function = isnative ? NULL : functionof(e, id);
    to[i].line = (int)frames[i].line;
    to[i].address = isnative ? (const void *)(uintptr_t)((id & CODEFILE_ADDRESS) - 1) : NULL;
  }
  if (e->client.allocated == NULL) return;
  s.number = e->reported[known].number;
  s.time = in->time;
  s.size = in->size;
  s.count = in->count;
  s.kind = (asamp_Kind)in->kind;
  s.outside = in->outside;
  s.frames = to;
  s.nframes = e->n;
  s.shared = shared;
  inside = 1;
  e->reported[known].value = e->client.allocated(e->client.ud, &s);
  inside = 0;
}

/* Calls the client's callback 'decided' for all samples whose outcome a collection has found, in
   the order of the samples. Removes these samples from e->reported, except the survivors whose
   deaths will be reported. */
static void embed_notifyfates (Embed *e, const PendingFates *fates) {
  asamp_Known *waiting = e->reported + e->nfollowed;
  size_t i;
  for (i = 0; i < fates->n; i++) {
    uint32_t class = (fates->classes != NULL) ? fates->classes[i] : 0;
    asamp_Fate f;
    f.survived = (fates->survived[i] != 0);
    f.followed = (fates->survived[i] == 1 && e->client.died != NULL);
    f.class_name = (class != 0) ? e->tracker->classes.classes[class - 1].name
                                : NULL;
    notify(e, decided, &waiting[i], &f);
    if (f.followed) e->reported[e->nfollowed++] = waiting[i];
  }
  e->nreported = e->nfollowed;
}

/* Calls the client's callback 'died' for dead survivors, and removes them from e->reported.
   deaths->runs has the lengths of runs of survivors. The first run is alive, the second dead, the
   third alive, and so on. */
static void notifydeaths (Embed *e, const FollowedDeaths *deaths) {
  size_t i, at = 0, to = 0;
  for (i = 0; i < deaths->n; i++) {
    size_t n = deaths->runs[i];
    if (i % 2 == 0) {
      memmove(e->reported + to, e->reported + at, n * sizeof(*e->reported));
      to += n;
      at += n;
    }
    else for (; n > 0; n--) notify(e, died, &e->reported[at++]);
  }
  if (to < at)
    memmove(e->reported + to, e->reported + at, (e->nreported - at) * sizeof(*e->reported));
  e->nreported = e->nfollowed = e->nreported - (at - to);
}

/* Calls the client's callback 'left' for all samples in e->reported. */
static void notifyleft (Embed *e) {
  size_t i;
  for (i = 0; i < e->nreported; i++) notify(e, left, &e->reported[i]);
}

/* Calls the client's callbacks for the outcomes and the deaths that a collection has found, then
   for the collection. */
static void oncollection (void *ud, const ProfileCollection *in,
                          const PendingFates *fates,
                          const FollowedDeaths *deaths) {
  Embed *e = ud;
  asamp_Collection c;
  embed_notifyfates(e, fates);
  notifydeaths(e, deaths);
  c.time = in->time;
  c.duration = in->duration;
  c.inuse = in->inuse;
  c.held = in->held;
  c.rss = in->rss;
  c.tenured = in->tenured;
  c.minors = in->minors;
  c.majors = in->majors;
  c.major = in->major;
  c.phase = in->state;
  c.lost = e->tracker->lost;
  notify(e, collected, &c);
}

/* Does nothing with a new class: embed_notifyfates reads the names of classes from the tracker. */
static void onclass (void *ud, uint32_t id, const char *name) {
  (void)ud; (void)id; (void)name;
}

static int embed_stop (lua_State *L);

/* Ends the sampling at the start of lua_close. */
static void onclosing (void *ud, lua_State *L) {
  (void)ud;
  embed_stop(L);
}

/* Calls the client's callback 'held' for each live survivor. h->ids[i] is the number of the path of
   references to the survivor e->reported[i]. */
static void onholders (void *ud, Holders *h) {
  Embed *e = ud;
  const char *steps[READER_MAXSTEPS];
  size_t i;
  for (i = 0; i < h->n && i < e->nfollowed; i++) {
    asamp_Path p;
    uint32_t at = h->ids[i];
    p.number = at;
    p.nsteps = (at != 0) ? h->paths[at].depth : 0;
    p.steps = steps;
    for (; at != 0; at = h->paths[at].parent)
      steps[h->paths[at].depth - 1] = h->paths[at].step;
    notify(e, held, &e->reported[i], &p);
  }
}

#define CLIENT(follows) \
  {onfunction, onclass, onroom, onsample, NULL, oncollection, NULL, onclosing, follows, \
   NULL, onholders, NULL, NULL, NULL}

/* The callbacks that the tracker calls: clients[1] if the client has the callback 'died', else
   clients[0]. */
static const TrackerClient clients[2] = {CLIENT(0), CLIENT(1)};

/* }===================================================================== */

/* {== the interface ==================================================== */

static void freeembed (Embed *e) {
  size_t i;
  for (i = 0; i < e->nfunctions; i++) free(e->functions[i]);
  free(e->functions);
  free(e->frames);
  free(e->reported);
  idmap_free(&e->ids);
  free(e);
}

/* Returns 1 if this file has started the tracker, so that its 'ud' is an Embed. */
static int embed_isours (const Tracker *t) {
  return t->client == &clients[0] || t->client == &clients[1];
}

/* Returns the state's Embed; NULL: the state has no client of asamp.h. May raise a memory error.
   Must not be called in a callback of the client. */
static Embed *embed_current (lua_State *L) {
  Sampler *s = sampler_of(L);
  Tracker *t = (s != NULL) ? sampler_tracker(s) : NULL;
  return (t != NULL && embed_isours(t)) ? (Embed *)t->ud : NULL;
}

/* Returns NULL, or the reason why the period is invalid. */
static const char *badperiod (uint64_t period) {
  return (period >= INTERVAL_MIN && period <= INTERVAL_MAX)
         ? NULL : "the sampling period must be 64 to 2^62 bytes";
}

/* Copies the struct *from of the program to *to, which has 'size' bytes. The first member of *from
   is its size. It is smaller if the program uses an older header: the members that *from lacks
   become zero in *to. Returns 0 if the size of *from is invalid. */
static int embed_take (void *to, size_t size, const void *from) {
  size_t known = *(const size_t *)from;
  if (known < sizeof(size_t) || known > size) return 0;
  memset(to, 0, size);
  memcpy(to, from, known);
  return 1;
}

static const char *embed_start (lua_State *L, const asamp_Options *options,
                                const asamp_Client *client) {
  asamp_Options o;
  asamp_Client c;
  const char *wrong;
  Sampler *s;
  Tracker *t;
  Embed *e;
  if (inside) return INSIDE;
  if (options == NULL || client == NULL) return "options and client must not be NULL";
  if (!embed_take(&o, sizeof(o), options))
    return "the field 'size' of options must be sizeof(asamp_Options); use this module's asamp.h";
  if (!embed_take(&c, sizeof(c), client))
    return "the field 'size' of client must be sizeof(asamp_Client); use this module's asamp.h";
  if ((wrong = badperiod(o.period)) != NULL) return wrong;
  if ((s = sampler_tostart(L)) == NULL)
    return luaN_isclosing(L) ? "the Lua state is being closed; call start before lua_close"
                             : "not enough memory";
  t = sampler_tracker(s);
  if (embed_isours(t)) return "the Lua state already has a client; stop that client first";
  if (t->client != NULL)
    return "a profile of this Lua state is being written; call profiler.disable() first";
  if ((e = calloc(1, sizeof(*e))) == NULL) return "not enough memory";
  e->client = c;
  e->tracker = t;
  tracker_start(t, &clients[c.died != NULL], e, o.period, o.native);
  tracker_on(t, L, o.period, !o.fixed,
             (o.seed != 0) ? o.seed : sampler_seed());
  return NULL;
}

static int embed_stop (lua_State *L) {
  Embed *e = inside ? NULL : embed_current(L);
  if (e == NULL) return 0;
  tracker_end(e->tracker, L);
  notifyleft(e);
  freeembed(e);
  snapshot_check();
  return 1;
}

static const char *period (lua_State *L, uint64_t n) {
  const char *wrong = badperiod(n);
  Embed *e;
  if (inside) return INSIDE;
  if (wrong != NULL) return wrong;
  if ((e = embed_current(L)) == NULL) return "the Lua state has no client; call start first";
  tracker_period(e->tracker, L, n);
  return NULL;
}

static const char *embed_label (lua_State *L, const char *name, const char *value) {
  LabelChange c;
  uint32_t set;
  if (inside) return INSIDE;
  if (name == NULL || name[0] == '\0' || strchr(name, '=') != NULL)
    return "the name of a label must be text without '='";
  c.name = name;
  c.namelength = strlen(name);
  c.value = value;
  c.valuelength = (value != NULL) ? strlen(value) : 0;
  set = labels_change(luaN_label(L), &c, 1);
  if (set == LABELS_NOMEMORY) return "not enough memory";
  luaN_setlabel(L, set);
  return NULL;
}

static void symbol (const void *address, char *name, size_t namesize,
                    char *file, size_t filesize) {
  native_name(NULL, native_id(address), name, namesize, file, filesize);
}

static const char *kindname (asamp_Kind kind) {
  return profile_kindname((int)kind);
}

static size_t embed_holders (lua_State *L) {
  Embed *e = inside ? NULL : embed_current(L);
  return (e != NULL) ? trackholders_now(e->tracker, L) : 0;
}

static int snapshot (lua_State *L, const char *path, int wait, char *err,
                     size_t errsize) {
  const SnapshotWish wish = {path, PLACE_PROFILES, 0, wait, 0, 0, NULL, NULL};
  Snapshot s;
  char why[1024] = INSIDE;
  int ok = !inside && snapshot_take(L, &wish, &s, why, sizeof(why));
  if (ok) free(s.path);
  else if (err != NULL && errsize > 0) snprintf(err, errsize, "%s", why);
  return ok;
}

static const char *count_start (lua_State *L) {
  return inside ? INSIDE : counting_start(L) ? NULL
         : "the module profiler.core is not loaded; call asamp_api for this state first";
}

static const char *count_stop (lua_State *L) {
  return inside ? INSIDE : counting_stop(L) ? NULL
         : "no count of the state is running; call count_start first";
}

static int embed_count (lua_State *L, asamp_Counts *to) {
  return !inside && to->size == sizeof(*to) && counting_read(L, to);
}

static uint64_t alive (lua_State *L) {
  return inside ? 0 : counting_alive(L);
}

const asamp_Api embed_api = {
  ASAMP_VERSION, embed_start, embed_stop, period, symbol, kindname, embed_holders, snapshot,
  embed_label,
  count_start, count_stop, embed_count, alive
};

/* }===================================================================== */
