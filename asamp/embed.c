/* SPDX-License-Identifier: MIT */
/*
** asamp.h on top of a tracker (embed.h).
*/
#include "embed.h"

#include <stdlib.h>
#include <string.h>

#include "idmap.h"
#include "native.h"
#include "sampler.h"
#include "tracker.h"

typedef struct Embed {
  asamp_Client client;
  Tracker *tracker;
  IdMap ids;			/* id of a function -> its place + 1 */
  asamp_Function **functions;
  size_t nfunctions, functions_size;
  asamp_Frame *frames;		/* EM2 */
  size_t n, size;
  uint64_t samples, decided;	/* told so far */
} Embed;

/*
** This OS thread is in a callback. The state is in the middle of an allocation
** or a collection then, so not even sampler_of may be called.
*/
static __thread int inside __attribute__((tls_model("initial-exec")));

#define INSIDE	"it was called in a callback of the client"

/* Calls a callback of the client. */
#define tellclient(e,f,x) \
  (inside = 1, (e)->client.f((e)->client.ud, (x)), inside = 0)

/* For what there was no memory for. */
static const asamp_Function unknown = {"?", "?", 0};


/* {== the tracker's client ============================================= */

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


static void function (void *ud, uint64_t id, const char *name, int linedefined,
                      const char *source) {
  Embed *e = ud;
  asamp_Function *f;
  uint32_t *at;
  int isnew;
  if (e->nfunctions == e->functions_size) {
    size_t size = 2 * e->functions_size + 64;
    asamp_Function **v = realloc(e->functions, size * sizeof(*v));
    if (v == NULL) return;
    e->functions = v;
    e->functions_size = size;
  }
  if ((f = newfunction(name, linedefined, source)) == NULL) return;
  if ((at = idmap_at(&e->ids, id, &isnew)) == NULL) {
    free(f);
    return;
  }
  e->functions[e->nfunctions++] = f;
  *at = (uint32_t)e->nfunctions;
}


static const asamp_Function *functionof (const Embed *e, uint64_t id) {
  const uint32_t *at = idmap_find(&e->ids, id);
  return (at != NULL && *at != 0) ? e->functions[*at - 1] : &unknown;
}


/* Room for n frames, the last 'kept' <= e->n of which stay. 0: no memory. */
static int room (Embed *e, size_t n, size_t kept) {
  asamp_Frame *frames;
  size_t size = 2 * e->size + 256;
  if (n <= e->size) return 1;
  if (size < n) size = n;
  if ((frames = malloc(size * sizeof(*frames))) == NULL) return 0;
  if (kept > 0)
    memcpy(frames + size - kept, e->frames + e->size - kept,
           kept * sizeof(*frames));
  free(e->frames);
  e->frames = frames;
  e->size = size;
  return 1;
}


static void sample (void *ud, const ProfileSample *in, size_t kept,
                    const ProfileFrame *frames, size_t n) {
  Embed *e = ud;
  asamp_Sample s;
  asamp_Frame *to;
  size_t i;
  e->samples++;
  if (kept > e->n) kept = e->n;  /* EM3 */
  if (!room(e, kept + n, kept)) n = 0;  /* what stays is right */
  e->n = kept + n;
  to = e->frames + e->size - e->n;
  for (i = 0; i < n; i++) {
    uint64_t id = frames[i].id;
    int isnative = (id & 1) && id != PROFILE_CUT;
    to[i].function = isnative ? NULL : functionof(e, id);
    to[i].line = (int)frames[i].line;
    to[i].address = isnative ? (const void *)(uintptr_t)(id & ~UINT64_C(1)) : NULL;
  }
  if (e->client.allocated == NULL) return;
  s.number = e->samples;
  s.time = in->time;
  s.size = in->size;
  s.count = in->count;
  s.kind = (asamp_Kind)in->kind;
  s.outside = in->outside;
  s.frames = to;
  s.nframes = e->n;
  s.kept = kept;
  tellclient(e, allocated, &s);
}


static void collection (void *ud, const ProfileCollection *in,
                        const PendingFates *fates,
                        const FollowedDeaths *deaths) {
  Embed *e = ud;
  asamp_Fate f;
  asamp_Collection c;
  size_t i;
  (void)deaths;  /* none are looked for */
  for (i = 0; i < fates->n; i++) {
    uint32_t class = (fates->classes != NULL) ? fates->classes[i] : 0;
    f.number = ++e->decided;
    f.survived = fates->survived[i];
    f.class_name = (class != 0) ? e->tracker->classes.classes[class - 1].name
                                : NULL;
    if (e->client.decided != NULL) tellclient(e, decided, &f);
  }
  if (e->client.collected == NULL) return;
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
  tellclient(e, collected, &c);
}


/* Its name lives in the tracker. */
static void class (void *ud, uint32_t id, const char *name) {
  (void)ud; (void)id; (void)name;
}


static void point (void *ud, lua_State *L) {
  (void)ud; (void)L;  /* nobody has asked for points */
}


static int stop (lua_State *L);

static void closing (void *ud, lua_State *L) {
  (void)ud;
  stop(L);
}


static const TrackerClient client = {
  function, class, sample, collection, point, closing, 0
};

/* }===================================================================== */


/* {== the interface ==================================================== */

static void freeembed (Embed *e) {
  size_t i;
  for (i = 0; i < e->nfunctions; i++) free(e->functions[i]);
  free(e->functions);
  free(e->frames);
  idmap_free(&e->ids);
  free(e);
}


/* The client of the state, or NULL. */
static Embed *current (lua_State *L) {
  Sampler *s = sampler_of(L);
  Tracker *t = (s != NULL) ? sampler_tracker(s) : NULL;
  return (t != NULL && t->client == &client) ? (Embed *)t->ud : NULL;
}


static const char *badperiod (uint64_t period) {
  return (period >= GAP_MIN && period <= GAP_MAX)
         ? NULL : "the period must be 64 to 2^62 bytes";
}


static const char *start (lua_State *L, const asamp_Options *o,
                          const asamp_Client *c) {
  const char *wrong = badperiod(o->period);
  Sampler *s;
  Tracker *t;
  Embed *e;
  if (inside) return INSIDE;
  if (wrong != NULL) return wrong;
  if (c == NULL) return "there is no client";
  if ((s = sampler_of(L)) == NULL) return "the state is closed, or there is no memory";
  t = sampler_tracker(s);
  if (t->client == &client) return "the state has a client; stop it first";
  if (t->client != NULL)
    return "the state writes a profile; call profiler.disable() first";
  if ((e = calloc(1, sizeof(*e))) == NULL) return "there is no memory";
  e->client = *c;
  e->tracker = t;
  tracker_begin(t, &client, e, o->period, o->native);
  tracker_on(t, L, o->period, !o->fixed,
             (o->seed != 0) ? o->seed : sampler_seed());
  return NULL;
}


static int stop (lua_State *L) {
  Embed *e = inside ? NULL : current(L);
  if (e == NULL) return 0;
  tracker_end(e->tracker, L);
  freeembed(e);
  return 1;
}


static const char *period (lua_State *L, uint64_t n) {
  const char *wrong = badperiod(n);
  Embed *e;
  if (inside) return INSIDE;
  if (wrong != NULL) return wrong;
  if ((e = current(L)) == NULL) return "the state has no client; start one first";
  tracker_period(e->tracker, L, n);
  return NULL;
}


static void symbol (const void *address, char *name, size_t namesize,
                    char *file, size_t filesize) {
  native_name(NULL, (uint64_t)(uintptr_t)address, name, namesize, file,
              filesize);
}


static const char *kindname (asamp_Kind kind) {
  return profile_kindname((int)kind);
}


const asamp_Api embed_api = {
  ASAMP_VERSION, start, stop, period, symbol, kindname
};

/* }===================================================================== */
