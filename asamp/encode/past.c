/* SPDX-License-Identifier: MIT */
/* Keeps data of the events that a flight recorder has dropped (past.h). */
#include "past.h"
#include "bounds.h"
#include "frameids.h"
#include "hash.h"
#include "list.h"
#include "origin.h"
#include "strtab.h"

#include <stdlib.h>
#include <string.h>

enum { STACKS = 4096, STATES = 1024 };  /* number of hash chains in the tables of stacks and of
                                           states */

/* A stack that stored samples share. 'users' is the number of these samples, n the number of
   frames. */
typedef struct PastStack {
  struct PastStack *next;
  uint64_t hash;
  uint32_t users, n;
  ProfileFrame frames[];  /* outermost first */
} PastStack;

/* A stored allocation sample whose memory is alive or whose survival is not known yet; see 'dead'
   for the exception. */
typedef struct Kept {
  ProfileSample sample;
  uint64_t period;      /* bytes per sampling period */
  PastStack *stack;     /* NULL: not stored */
  /* Numbers of the sample's class (PastState.classes) and of the path of references that keeps the
     sampled object alive (PastState.paths); 0: none. */
  uint32_t class, path;
  /* 1: the sampled object died. The entry stays until the next collection: until then, deaths are
     reported as lengths of runs of live and dead entries, and these runs include this entry. */
  int dead;
} Kept;

/* A function of a Lua state. 'id': number of the function in the state. 'text': offset of its name
   in Past.texts. */
typedef struct PastName {
  uint64_t id;
  uint32_t text;
} PastName;

/* A path of references. 'parent': number of the path without its last reference. 'text': offset of
   that reference's text in Past.texts. */
typedef struct PastPath {
  uint32_t parent, text;
} PastPath;

/* The stored data of one Lua state, from its dropped events. */
typedef struct PastState {
  struct PastState *chain;           /* next in the hash chain */
  struct PastState *next, *before;   /* neighbours in the list of all states, which is in the order
                                        of their first events */
  uint32_t id, thread;
  int started, ended, iscalled, wall, istimed, iscollected;
  uint64_t start, end, period, timeperiod;
  uint32_t called;
  PastName *names;
  size_t nnames, namesize;
  IdMap known;                       /* ids of the functions in 'names' */
  uint32_t *classes;                 /* element i - 1: the name of class i, as an offset in
                                        Past.texts */
  size_t nclasses, classsize;
  PastPath *paths;                   /* element i - 1: path of references number i */
  size_t npaths, pathsize;
  ProfileFrame *stack;               /* the stack reported last, outermost frame first */
  size_t depth, stacksize;
  ProfileCollection last;
  Kept *list;                        /* live samples: first those that survived a collection, then
                                        those whose survival is not known yet */
  size_t followed, n, size;          /* followed: number of survivors. n: number of all samples in
                                        'list'. size: capacity of 'list' */
  /* Index in 'list' of the next sample of a series of events that continue each other.
     deathat   EVENT_DEATHS; 0 after a collection
     holderat  EVENT_HOLDERS; 0 after a collection */
  size_t deathat, holderat;
} PastState;

/* The stored data of all dropped events. */
struct Past {
  PastState *states[STATES], *first, *latest;
  PastStack *stacks[STACKS];
  size_t stackbytes;
  StrTab texts;
  uint64_t period, mallocs;
  uint64_t left;
  int failed;
};

/* ------------------------------------------------------------- stacks -- */

static size_t bytesof (size_t n) {
  return sizeof(PastStack) + n * sizeof(ProfileFrame);
}

/* Copies a stack of n frames to 'to'. Of a stack deeper than PROFILE_DEPTH, copies only the frames
   at both ends, and puts FRAME_CUT between them. Returns the number of frames in 'to'. */
static size_t past_ends (const ProfileFrame *frames, size_t n, ProfileFrame *to) {
  size_t inner = PROFILE_DEPTH / 2, outer = PROFILE_DEPTH - inner - 1;
  if (n <= PROFILE_DEPTH) {
    if (n > 0)
      memcpy(to, frames, n * sizeof(*to));
    return n;
  }
  memcpy(to, frames, outer * sizeof(*to));
  to[outer].id = FRAME_CUT;
  to[outer].line = 0;
  memcpy(to + outer + 1, frames + n - inner, inner * sizeof(*to));
  return PROFILE_DEPTH;
}

static PastStack *getstack (Past *p, const PastState *s) {
  ProfileFrame frames[PROFILE_DEPTH];
  size_t i, n = past_ends(s->stack, s->depth, frames);
  uint64_t hash = hash_word(s->id);
  PastStack **chain, *k;
  for (i = 0; i < n; i++)
    hash = hash_words(hash ^ frames[i].line, frames[i].id);
  chain = &p->stacks[hash % STACKS];
  for (k = *chain; k != NULL; k = k->next) {
    int same = k->hash == hash && k->n == n;
    for (i = 0; same && i < n; i++)
      same = k->frames[i].id == frames[i].id && k->frames[i].line == frames[i].line;
    if (same) {
      k->users++;
      return k;
    }
  }
  if (p->stackbytes + bytesof(n) > PAST_STACKS || (k = spare_malloc(bytesof(n))) == NULL) {
    p->left++;
    return NULL;
  }
  p->stackbytes += bytesof(n);
  k->hash = hash;
  k->users = 1;
  k->n = (uint32_t)n;
  memcpy(k->frames, frames, n * sizeof(*frames));
  k->next = *chain;
  *chain = k;
  return k;
}

static void dropstack (Past *p, PastStack *k) {
  PastStack **at;
  if (k == NULL || --k->users > 0)
    return;
  for (at = &p->stacks[k->hash % STACKS]; *at != k; at = &(*at)->next) { }
  *at = k->next;
  p->stackbytes -= bytesof(k->n);
  free(k);
}

/* Sets the stack of the following samples: the 'shared' outermost frames of the previous stack and
   n new frames. */
static void setstack (Past *p, PastState *s, size_t shared, const ProfileFrame *frames, size_t n) {
  size_t i;
  if (shared > s->depth)
    shared = s->depth;
  if (!list_room(&s->stack, shared + n, &s->stacksize, sizeof(*s->stack))) {
    p->failed = 1;
    return;
  }
  for (i = 0; i < n; i++)
    s->stack[shared + n - 1 - i] = frames[i];
  s->depth = shared + n;
}

/* ------------------------------------------------------------- states -- */

static PastState *findstate (const Past *p, uint32_t id) {
  PastState *s = p->states[id % STATES];
  while (s != NULL && s->id != id)
    s = s->chain;
  return s;
}

static PastState *getstate (Past *p, uint32_t id) {
  PastState **chain = &p->states[id % STATES], *s = findstate(p, id);
  if (s != NULL)
    return s;
  s = spare_calloc(1, sizeof(*s));
  if (s == NULL) {
    p->failed = 1;
    return NULL;
  }
  s->id = id;
  s->period = p->period;
  s->chain = *chain;
  *chain = s;
  s->before = p->latest;
  *(p->latest != NULL ? &p->latest->next : &p->first) = s;
  p->latest = s;
  return s;
}

static void dropstate (Past *p, PastState *s) {
  PastState **at;
  size_t i;
  for (at = &p->states[s->id % STATES]; *at != s; at = &(*at)->chain) { }
  *at = s->chain;
  *(s->before != NULL ? &s->before->next : &p->first) = s->next;
  *(s->next != NULL ? &s->next->before : &p->latest) = s->before;
  for (i = 0; i < s->n; i++)
    dropstack(p, s->list[i].stack);
  free(s->names);
  idmap_free(&s->known);
  free(s->classes);
  free(s->paths);
  free(s->stack);
  free(s->list);
  free(s);
}

Past *past_new (uint64_t period, uint64_t mallocs) {
  Past *p = spare_calloc(1, sizeof(*p));
  hash_prepare();
  if (p == NULL || !strtab_init(&p->texts, PAST_TEXTS)) {
    free(p);
    return NULL;
  }
  p->period = period;
  p->mallocs = mallocs;
  return p;
}

void past_free (Past *p) {
  if (p == NULL)
    return;
  while (p->first != NULL)
    dropstate(p, p->first);
  strtab_free(&p->texts);
  free(p);
}

uint64_t past_left (const Past *p) {
  return p->left + p->texts.left;
}

int past_failed (const Past *p) {
  return p->failed || p->texts.failed;
}

/* -------------------------------------------------------------- taken -- */

static uint32_t past_put (Past *p, const char *text) {
  return strtab_put(&p->texts, text, strlen(text));
}

static void past_name (Past *p, PastState *s, uint64_t id, const char *text) {
  if (idmap_get(&s->known, id) != IDMAP_NONE)
    return;
  if (!list_grow(&s->names, s->nnames, &s->namesize, sizeof(*s->names)) ||
      !idmap_set(&s->known, id, 0)) {
    p->failed = 1;
    return;
  }
  s->names[s->nnames].id = id;
  s->names[s->nnames++].text = past_put(p, text);
}

/* Stores the name of a class if it is new. A new class has the next number. */
static void class (Past *p, PastState *s, uint64_t id, const char *text) {
  if (id != s->nclasses + 1)
    return;
  if (!list_grow(&s->classes, s->nclasses, &s->classsize, sizeof(*s->classes)))
    p->failed = 1;
  else
    s->classes[s->nclasses++] = past_put(p, text);
}

static void path (Past *p, PastState *s, uint64_t id, const void *body) {
  PastPath *at;
  if (id != s->npaths + 1)
    return;
  if (!list_grow(&s->paths, s->npaths, &s->pathsize, sizeof(*s->paths))) {
    p->failed = 1;
    return;
  }
  at = &s->paths[s->npaths++];
  memcpy(&at->parent, body, sizeof(at->parent));
  at->text = past_put(p, (const char *)body + sizeof(at->parent));
}

static void past_sample (Past *p, PastState *s, const SampleEvent *body, size_t n) {
  Kept *k;
  setstack(p, s, body->shared, body->frames, n);
  if (profile_iscopy(body->sample.kind))
    /* samples of copied bytes are not stored: they have no object whose survival or death a later
       event reports */
    return;
  if (!list_grow(&s->list, s->n, &s->size, sizeof(*s->list))) {
    p->failed = 1;
    return;
  }
  k = &s->list[s->n++];
  *k = (Kept){.sample = body->sample, .stack = getstack(p, s),
              .period = body->sample.kind == KIND_NATIVE ? p->mallocs : s->period};
}

/* Records the survival of the n oldest undecided samples. survived[i] is 0 if sample i died, 1 if
   it survived and its death will be reported, 2 if it survived and its death will not be reported.
   Keeps only the samples with 1, and drops the others. */
static void fates (Past *p, PastState *s, const unsigned char *survived,
                   const uint32_t *classes, size_t n) {
  size_t i, from = s->followed, to = from;
  if (n > s->n - from)
    n = s->n - from;
  for (i = 0; i < n; i++) {
    Kept *k = &s->list[from + i];
    if (survived[i] != 1) {
      p->left += survived[i] == 2;
      dropstack(p, k->stack);
      continue;
    }
    k->class = classes != NULL ? classes[i] : 0;
    s->list[to++] = *k;
  }
  s->followed = to;
  if (to < from + n && s->n > from + n)
    memmove(s->list + to, s->list + from + n, (s->n - from - n) * sizeof(*s->list));
  s->n -= from + n - to;
}

static void deaths (PastState *s, const uint32_t *runs, size_t n) {
  size_t i, k;
  for (i = 0; i + 1 < n; i += 2) {
    s->deathat += runs[i];
    for (k = 0; k < runs[i + 1] && s->deathat < s->followed; k++)
      s->list[s->deathat++].dead = 1;
  }
}

/* Handles a collection: removes the dead samples of the state, and stores *c as its last
   collection. */
static void past_collection (Past *p, PastState *s, const ProfileCollection *c) {
  size_t i, to = 0, followed = s->followed;
  for (i = 0; i < s->n; i++) {
    if (s->list[i].dead) {
      dropstack(p, s->list[i].stack);
      followed--;
    }
    else
      s->list[to++] = s->list[i];
  }
  s->n = to;
  s->followed = followed;
  s->deathat = s->holderat = 0;
  s->last = *c;
  s->iscollected = 1;
}

/* Call it at the end of a state, and whenever samples of an ended state have been removed from
   'list'. Counts all samples in 'list' as survivors. If 'list' is empty, frees the state's data. */
static void orphaned (Past *p, PastState *s) {
  s->followed = s->n;
  if (s->n == 0)
    dropstate(p, s);
}

/* Handles the end of a state. Drops its samples, except the live ones of native memory, which may
   outlive the state. */
static void past_end (Past *p, PastState *s, const EndEvent *e) {
  size_t i, to = 0;
  for (i = 0; i < s->n; i++) {
    const Kept *k = &s->list[i];
    if (e->orphans > 0 && i < s->followed && k->sample.kind == KIND_NATIVE && !k->dead)
      s->list[to++] = *k;
    else
      dropstack(p, k->stack);
  }
  s->n = to;
  s->ended = 1;
  s->end = e->time;
  s->nclasses = s->npaths = s->depth = 0;
  orphaned(p, s);
}

static void orphans (Past *p, PastState *s, const uint32_t *runs, size_t n) {
  size_t i, from = 0, to = 0;
  uint32_t k;
  for (i = 0; from < s->n; i++) {  /* samples after the last run are alive */
    for (k = i < n ? runs[i] : UINT32_MAX; k > 0 && from < s->n; k--, from++)
      if (i < n && i % 2 == 1)
        dropstack(p, s->list[from].stack);
      else
        s->list[to++] = s->list[from];
  }
  s->n = to;
  orphaned(p, s);
}

/* Stores for each survivor the path of references that the body of an EVENT_HOLDERS event has for
   it. Path 0 (unknown) does not replace a stored path. */
static void past_holders (PastState *s, const uint32_t *words, size_t n) {
  size_t i, k;
  if (words[0])
    s->holderat = 0;
  for (i = 1; i + 1 < n; i += 2)
    for (k = 0; k < words[i] && s->holderat < s->followed; k++, s->holderat++)
      if (words[i + 1] > 0)
        s->list[s->holderat].path = words[i + 1];
}

/* Stores the data of an event about samples: stack, survival, class or paths. Returns 0 for other
   types. */
static int past_takesample (Past *p, PastState *s, const Event *event) {
  const void *body = event + 1;
  size_t n = (size_t)event->n;
  switch (event->type) {
    case EVENT_SAMPLE:
      past_sample(p, s, body, n);
      break;
    case EVENT_TIME: case EVENT_STACK:
      setstack(p, s, ((const TimeEvent *)body)->shared, ((const TimeEvent *)body)->frames, n);
      break;
    case EVENT_FATES:
      fates(p, s, body, NULL, n);
      break;
    case EVENT_CLASSFATES:
      fates(p, s, (const unsigned char *)((const uint32_t *)body + n), body, n);
      break;
    case EVENT_DEATHS:
      deaths(s, body, n);
      break;
    case EVENT_CLASS:
      class(p, s, event->n, body);
      break;
    case EVENT_PATH:
      path(p, s, event->n, body);
      break;
    case EVENT_HOLDERS:
      past_holders(s, body, n);
      break;
    default:
      return 0;
  }
  return 1;
}

/* Stores the data of an event that later events of the state may refer to; ignores other events. */
static void past_takestate (Past *p, PastState *s, const Event *event) {
  const void *body = event + 1;
  switch (event->type) {
    case EVENT_START:
      s->started = 1;
      s->start = event->n;
      break;
    case EVENT_CALLED:
      s->iscalled = 1;
      s->called = past_put(p, body);
      break;
    case EVENT_END:
      past_end(p, s, body);
      break;
    case EVENT_ORPHANS:
      orphans(p, s, ((const OrphansEvent *)body)->runs, (size_t)event->n);
      break;
    case EVENT_NAME:
      past_name(p, s, event->n, body);
      break;
    case EVENT_COLLECTION:
      past_collection(p, s, body);
      break;
    case EVENT_PERIOD:
      s->period = event->n;
      break;
    case EVENT_CPUPERIOD: case EVENT_WALLPERIOD:
      s->istimed = 1;
      s->timeperiod = event->n;
      s->wall = event->type == EVENT_WALLPERIOD;
      break;
  }
}

void past_take (Past *p, const Event *event) {
  PastState *s = event->type == EVENT_ORPHANS ? findstate(p, event->state)
                                              : getstate(p, event->state);
  if (s == NULL)
    return;
  if (event->thread != 0)
    s->thread = event->thread;
  if (!past_takesample(p, s, event))
    past_takestate(p, s, event);
}

/* --------------------------------------------------------------- emit -- */

static void batch (Encoder *e) {
  if (encoder_full(e))
    encoder_batch(e);
}

static void emitstack (Encoder *e, const ProfileFrame *outermost, size_t n) {
  ProfileFrame frames[PROFILE_DEPTH];
  size_t shared = 0;
  do {  /* each step adds up to PROFILE_DEPTH inner frames to the 'shared' outermost ones */
    size_t i, m = n - shared < PROFILE_DEPTH ? n - shared : PROFILE_DEPTH;
    for (i = 0; i < m; i++)
      frames[m - 1 - i] = outermost[shared + i];
    encoder_stack(e, shared, frames, m);
    shared += m;
  } while (shared < n);
}

static void emitnames (const Past *p, Encoder *e, const PastState *s) {
  const char *texts = p->texts.text;
  size_t i;
  for (i = 0; i < s->nnames; i++)
    encoder_name(e, s->names[i].id, s->names[i].text > 0 ? texts + s->names[i].text
                                                         : ORIGIN_FUNCTIONS);
  for (i = 0; i < s->nclasses; i++)
    encoder_class(e, (uint32_t)i + 1, texts + s->classes[i], strlen(texts + s->classes[i]));
  for (i = 0; i < s->npaths; i++)
    encoder_path(e, i + 1, s->paths[i].parent, texts + s->paths[i].text);
}

/* Writes the paths of references to the first n survivors. */
static void emitholders (const PastState *s, Encoder *e, size_t n) {
  uint32_t words[3] = {1, 0, 0};
  size_t i;
  for (i = 0; i < n; i++) {
    words[1]++;
    if (i + 1 < n && s->list[i + 1].path == s->list[i].path)
      continue;
    words[2] = s->list[i].path;
    encoder_holders(e, words, 3);
    words[0] = words[1] = 0;
    batch(e);
  }
}

/* Writes the deaths since the last collection. The next EVENT_DEATHS may continue them, so the last
   run of live samples is written too. */
static void emitdeaths (const PastState *s, Encoder *e) {
  uint32_t runs[2] = {0, 0};  /* live and dead samples since the last event */
  size_t i, end = s->deathat < s->followed ? s->deathat : s->followed;
  for (i = 0; i < end; i++) {
    runs[s->list[i].dead]++;
    if (i + 1 < end && (!s->list[i].dead || s->list[i + 1].dead))
      continue;
    encoder_deaths(e, runs, 2);
    runs[0] = runs[1] = 0;
    batch(e);
  }
}

/* Writes that all followed samples have survived, and the class of each. */
static void past_emitfates (Past *p, const PastState *s, Encoder *e) {
  uint32_t *classes = spare_malloc((s->followed + 1) * sizeof(*classes));
  unsigned char *survived = spare_malloc(s->followed + 1);
  size_t i;
  if (classes == NULL || survived == NULL)
    p->failed = 1;
  else {
    memset(survived, 1, s->followed);
    for (i = 0; i < s->followed; i++)
      classes[i] = s->list[i].class;
    encoder_fates(e, survived, classes, s->followed);
  }
  free(classes);
  free(survived);
}

static void emitsamples (const Past *p, const PastState *s, Encoder *e, PastTotals *totals) {
  uint64_t period = p->period;
  size_t i;
  for (i = 0; i < s->n; i++) {
    const Kept *k = &s->list[i];
    if (k->period != period && k->sample.kind != KIND_NATIVE)
      encoder_period(e, period = k->period);
    emitstack(e, k->stack != NULL ? k->stack->frames : NULL, k->stack != NULL ? k->stack->n : 0);
    encoder_sample(e, &k->sample);
    totals->samples += k->sample.count;
    totals->bytes += k->sample.count * k->period;
    batch(e);
  }
  if (s->period != period)
    encoder_period(e, s->period);
}

void past_emit (Past *p, Encoder *e, PastTotals *totals) {
  const PastState *s;
  memset(totals, 0, sizeof(*totals));
  for (s = p->first; s != NULL; s = s->next) {
    encoder_of(e, s->id, s->thread);
    if (s->started)
      encoder_start(e, s->start);
    if (s->iscalled)
      encoder_called(e, p->texts.text + s->called, strlen(p->texts.text + s->called));
    if (s->istimed)
      encoder_timeperiod(e, s->timeperiod, s->wall);
    emitnames(p, e, s);
    emitsamples(p, s, e, totals);
    if (s->followed > 0)
      past_emitfates(p, s, e);
    if (s->iscollected)
      encoder_collection(e, &s->last);
    if (s->npaths > 0) {
      emitholders(s, e, s->followed);
      /* the next EVENT_HOLDERS may continue a series that has ended here */
      if (s->holderat < s->followed)
        emitholders(s, e, s->holderat);
    }
    emitdeaths(s, e);
    emitstack(e, s->stack, s->depth);
    if (s->ended)
      encoder_end(e, s->end, 0, s->n);
    batch(e);
  }
}
