/* SPDX-License-Identifier: MIT */
/* Puts events into the queue of a profile (profilequeue.h), including the last events at exit. */
#define _GNU_SOURCE
#include "profilequeue.h"
#include "clock.h"
#include "dying.h"
#include "framename.h"
#include "uncancelled.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Largest number of samples whose survival one event reports. */
#define FATES_CHUNK	65536
/* Largest number of words in an EVENT_HOLDERS: a flag (1: the first event of a call of
   profile_holders), then pairs of a number of samples and the id of their path of references. Odd,
   because of the flag. */
#define HOLDERS_CHUNK	2047
/* Largest number of run lengths in an EVENT_DEATHS. Even, because they are pairs (live, dead). */
#define DEATHS_CHUNK	65536

/* The profile to which this OS thread is reporting an event; NULL: none. */
static OFTHREAD const Profile *volatile emitting;

/* The system's number of this OS thread; 0: not read yet. Cached, because a system call takes
   half as long as a sample. */
static OFTHREAD uint32_t ofthread;

static void profileevents_forked (void) {
  ofthread = 0;
}

static void profileevents_once (void) {
  pthread_atfork(NULL, NULL, profileevents_forked);
}

static uint32_t threadnumber (void) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  if (ofthread == 0) {
    pthread_once(&control, profileevents_once);
    ofthread = (uint32_t)syscall(SYS_gettid);
  }
  return ofthread;
}

int profile_ready (Profile *p) {
  int ready;
  if (emitting != NULL)
    return 0;
  pthread_mutex_lock(&p->lock);
  ready = p->error == 0 && p->stalled == 0 && !p->stop &&
          p->queue[p->active].used < QUEUE_BYTES / 2;
  pthread_mutex_unlock(&p->lock);
  return ready;
}

/* Makes the event that 'reserve' has put into the queue visible to the writer thread. */
static void commit (Profile *p) {
  p->queue[p->active].used += p->reserved;
  p->reserved = 0;
}

/* Takes the lock to report events. profileevents_letgo releases it. */
static void profileevents_hold (Profile *p) {
  emitting = p;
  pthread_mutex_lock(&p->lock);
}

static inline void profileevents_letgo (Profile *p) {
  commit(p);
  memset(&p->inhand, 0, sizeof(p->inhand));
  pthread_mutex_unlock(&p->lock);
  emitting = NULL;
}

/* Returns 1 if the active buffer has space for 'size' bytes. */
static inline int hasroom (const Profile *p, size_t size) {
  return QUEUE_BYTES - p->queue[p->active].used >= size;
}

/* Waits until the active buffer (which receives the events) has space for 'size' bytes. Returns 0
   if the profile has failed or ended, or in a forked child. This rarely called function is not
   inlined, because its code would slow down its caller 'reserve', which runs for each event. */
static __attribute__((noinline)) int waitforroom (Profile *p, size_t size) {
  UNCANCELLED;
  while (!hasroom(p, size)) {
    EventTally inhand = p->inhand;
    if (p->pid != getpid())
      return 0;
    profilequeue_wake(p);
    pthread_cond_wait(&p->room, &p->lock);
    /* The wait releases the lock, so another thread may have changed p->inhand: restores it. */
    p->inhand = inhand;
    if (p->error != 0 || p->stop)
      return 0;
  }
  return 1;
}

/* Completes the previous event in the queue and reserves a new one with n bytes of data. Waits for
   the writer if the queue is full. Returns the data; NULL after a failure or the profile's end.
   Lock held. */
static inline void *reserve (const ProfileState *s, int type, uint64_t number, size_t n) {
  Profile *p = s->profile;
  size_t size = sizeof(Event) + ((n + 7) & ~(size_t)7);
  Queue *q;
  Event *event;
  if (p->reserved > 0)
    commit(p);  /* completes the previous event */
  if (p->error != 0 || p->stop || (!hasroom(p, size) && !waitforroom(p, size)))
    return NULL;
  q = &p->queue[p->active];
  event = (Event *)(q->data + q->used);
  event->type = (uint32_t)type;
  event->size = (uint32_t)size;
  event->n = number;
  event->state = s->id;
  event->thread = s->outside ? 0 : threadnumber();
  if (q->used < WAKE_BYTES && q->used + size >= WAKE_BYTES)
    profilequeue_wake(p);
  p->reserved = size;
  return event + 1;
}

/* Puts an event with a number and n bytes into the queue. */
static void profileevents_emit (const ProfileState *s, int type, uint64_t number, const void *bytes,
                                size_t n) {
  void *body;
  profileevents_hold(s->profile);
  body = reserve(s, type, number, n);
  if (body != NULL && n > 0)
    memcpy(body, bytes, n);
  profileevents_letgo(s->profile);
}

void profile_start (ProfileState *s) {
  profileevents_emit(s, EVENT_START, clock_now(), NULL, 0);
}

void profile_leave (ProfileState *s, uint64_t bytes, const ProfileLeft *left,
                    uint64_t lost, uint64_t orphans) {
  const EndEvent end = {clock_now(), orphans};
  profile_left(s, left);
  profile_lost(s->profile, lost);
  profileevents_emit(s, EVENT_END, bytes, &end, sizeof(end));
}

/* Puts an event with deaths of an ended state's samples of native memory into the queue. Lock
   held. */
static void emitorphans (const ProfileState *s, uint64_t time, const uint32_t *runs, size_t n) {
  OrphansEvent *body = reserve(s, EVENT_ORPHANS, n, sizeof(*body) + n * sizeof(*runs));
  if (body == NULL)
    return;
  body->time = time;
  memcpy(body->runs, runs, n * sizeof(*runs));
}

void profile_orphans (ProfileState *s, uint64_t time, const uint32_t *runs, size_t n) {
  profileevents_hold(s->profile);
  emitorphans(s, time, runs, n);
  profileevents_letgo(s->profile);
}

void profile_function (ProfileState *s, uint64_t id, const char *name,
                       int linedefined, const char *source) {
  char text[FRAMENAME_LIMIT + 1];
  framename_lua(text, name, linedefined, source);
  profileevents_emit(s, EVENT_NAME, id, text, strlen(text) + 1);
}

void profile_period (ProfileState *s, uint64_t period) {
  profileevents_emit(s, EVENT_PERIOD, period, NULL, 0);
}

void profile_timeperiod (ProfileState *s, uint64_t ns, int wall) {
  profileevents_emit(s, wall ? EVENT_WALLPERIOD : EVENT_CPUPERIOD, ns, NULL, 0);
}

void profile_allocated (ProfileState *s, uint64_t bytes) {
  profileevents_emit(s, EVENT_ALLOCATED, bytes, NULL, 0);
}

void profile_labelled (ProfileState *s, uint32_t set, uint64_t bytes) {
  profileevents_emit(s, EVENT_LABELLED, bytes, &set, sizeof(set));
}

void profile_left (ProfileState *s, const ProfileLeft *left) {
  profileevents_emit(s, EVENT_LEFT, __atomic_load_n(&s->profile->cut, __ATOMIC_RELAXED), left,
                     sizeof(*left));
}

/* Returns the length to which a text of n bytes is truncated. If n is at most 'limit', returns n.
   Otherwise returns the largest length up to 'limit' that ends with a complete UTF-8 character, and
   counts the text as truncated (p->cut). */
static size_t cut (Profile *p, const char *text, size_t n, size_t limit) {
  size_t i;
  if (n <= limit)
    return n;
  __atomic_add_fetch(&p->cut, 1, __ATOMIC_RELAXED);
  for (i = 0; i < 3 && ((unsigned char)text[limit] & 0xc0) == 0x80; i++)
    limit--;
  return limit;
}

static void emittext (const ProfileState *s, int type, uint64_t number, const char *name) {
  char text[PROFILE_NAME + 1];
  size_t n = cut(s->profile, name, strlen(name), PROFILE_NAME);
  memcpy(text, name, n);
  text[n] = '\0';
  profileevents_emit(s, type, number, text, n + 1);
}

void profile_called (ProfileState *s, const char *name) {
  emittext(s, EVENT_CALLED, 0, name);
}

void profile_class (ProfileState *s, uint32_t id, const char *name) {
  emittext(s, EVENT_CLASS, id, name);
}

void profile_holderpath (ProfileState *s, uint32_t id, uint32_t parent, const char *step) {
  size_t n = strlen(step) + 1;
  char *body;
  profileevents_hold(s->profile);
  body = reserve(s, EVENT_PATH, id, sizeof(parent) + n);
  if (body != NULL) {
    memcpy(body, &parent, sizeof(parent));
    memcpy(body + sizeof(parent), step, n);
  }
  profileevents_letgo(s->profile);
}

void profile_walk (ProfileState *s, uint64_t start, uint64_t duration) {
  Profile *p = s->profile;
  uint64_t *body;
  profileevents_hold(p);
  body = reserve(s, EVENT_WALK, duration, sizeof(*body));
  if (body != NULL)
    *body = start;
  profileevents_letgo(p);
}

void profile_holders (ProfileState *s, const uint32_t *ids, size_t n) {
  Profile *p = s->profile;
  uint32_t runs[HOLDERS_CHUNK];
  size_t at = 0;
  profileevents_hold(p);
  while (at < n) {
    size_t m = 1;
    uint32_t *body;
    runs[0] = at == 0;
    while (at < n && m + 2 <= HOLDERS_CHUNK) {
      size_t from = at;
      while (at < n && ids[at] == ids[from])
        at++;
      runs[m++] = (uint32_t)(at - from);
      runs[m++] = ids[from];
    }
    body = reserve(s, EVENT_HOLDERS, m, m * sizeof(*body));
    if (body == NULL)
      /* Stops, because an event has the paths of the samples that follow those of the previous
         event. If one event were missing, the paths of later events would be given to the wrong
         samples. */
      break;
    memcpy(body, runs, m * sizeof(*body));
  }
  profileevents_letgo(p);
}

int profile_mark (ProfileState *s, uint64_t time, const char *name,
                  size_t namelen, const char *value, size_t valuelen) {
  Profile *p = s->profile;
  MarkEvent *body;
  namelen = cut(p, name, namelen, PROFILE_NAME);
  valuelen = cut(p, value, valuelen, PROFILE_VALUE);
  profileevents_hold(p);
  body = reserve(s, EVENT_MARK, 0, sizeof(*body) + namelen + valuelen);
  if (body != NULL) {
    body->time = time;
    body->namelength = namelen;
    body->valuelength = valuelen;
    if (namelen > 0)
      memcpy(body->text, name, namelen);
    if (valuelen > 0)
      memcpy(body->text + namelen, value, valuelen);
  }
  profileevents_letgo(p);
  return body != NULL;
}

void profile_resident (ProfileState *s, uint64_t time, const char *what, int64_t bytes,
                       const char *text) {
  Profile *p = s->profile;
  size_t n = strlen(what), m = strlen(text);
  ResidentEvent *body;
  profileevents_hold(p);
  body = reserve(s, EVENT_RESIDENT, (uint64_t)bytes, sizeof(*body) + n + m + 2);
  if (body != NULL) {
    body->time = time;
    memcpy(body->text, what, n + 1);
    memcpy(body->text + n + 1, text, m + 1);
  }
  profileevents_letgo(p);
}

/* Counts as lost the samples of the event that is being reported. */
static void lose (Profile *p) {
  event_add(&p->lost, &p->inhand);
  memset(&p->inhand, 0, sizeof(p->inhand));
}

/* Takes the lock, and stores the depth of the stack being reported: 'shared' frames as in the
   previous stack, and n new ones. Returns 0 without the lock if the profile has ended without a
   failure: events after its end are not counted as lost. */
static inline int enter (ProfileState *s, size_t shared, size_t n) {
  assert(shared <= s->depth && n <= PROFILE_NEWFRAMES);
  profileevents_hold(s->profile);
  s->depth = shared + n;
  if (!s->profile->stop || s->profile->error != 0)
    return 1;
  profileevents_letgo(s->profile);
  return 0;
}

/* Copies n frames, usually one. */
static inline void copyframes (ProfileFrame *to, const ProfileFrame *frames, size_t n) {
  if (n == 1)
    *to = *frames;
  else if (n > 0)
    memcpy(to, frames, n * sizeof(*frames));
}

void profile_sample (ProfileState *s, const ProfileSample *in, size_t shared,
                     const ProfileFrame *frames, size_t n) {
  Profile *p = s->profile;
  SampleEvent *body;
  int copy = profile_iscopy(in->kind);
  assert(in->count >= 1 && in->kind >= 0 && (in->kind < KIND_COUNT || copy));
  if (!enter(s, shared, n))
    return;
  if (!copy) {
    p->inhand.samples = in->count;
    p->inhand.natives = in->kind == KIND_NATIVE ? in->count : 0;
    p->taken.samples += in->count;
    p->taken.natives += p->inhand.natives;
  }
  body = reserve(s, EVENT_SAMPLE, n, sizeof(*body) + n * sizeof(*frames));
  if (body != NULL) {
    body->sample = *in;
    body->shared = shared;
    copyframes(body->frames, frames, n);
  }
  else
    lose(p);
  profileevents_letgo(p);
}

void profile_time (ProfileState *s, const ProfileTime *in, size_t shared,
                   const ProfileFrame *frames, size_t n) {
  Profile *p = s->profile;
  TimeEvent *body;
  assert(in->count >= 1);
  if (!enter(s, shared, n))
    return;
  p->taken.timesamples += in->count;
  if (p->stalled)
    p->lost.timesamples += in->count;
  else
    p->inhand.timesamples = in->count;
  body = reserve(s, p->stalled ? EVENT_STACK : EVENT_TIME, n,
                 sizeof(*body) + n * sizeof(*frames));
  if (body != NULL) {
    body->sample = *in;
    body->shared = shared;
    copyframes(body->frames, frames, n);
  }
  else
    lose(p);
  profileevents_letgo(p);
}

/* Puts an event with the survival of up to FATES_CHUNK samples into the queue. Lock held. */
static void profileevents_emitfates (const ProfileState *s, const unsigned char *survived,
                                     const uint32_t *classes, size_t n) {
  size_t ahead = classes == NULL ? 0 : n * sizeof(*classes);
  unsigned char *body = reserve(s, classes == NULL ? EVENT_FATES
                                                   : EVENT_CLASSFATES,
                                n, ahead + n);
  if (body == NULL)
    return;
  if (classes != NULL)
    memcpy(body, classes, ahead);
  memcpy(body + ahead, survived, n);
}

void profile_collection (ProfileState *s, const ProfileCollection *c,
                         const unsigned char *survived,
                         const uint32_t *classes, size_t n,
                         const uint32_t *deaths, size_t ndeaths) {
  Profile *p = s->profile;
  ProfileCollection *body;
  size_t at = 0;
  profileevents_hold(p);
  while (at < n) {
    size_t m = n - at < FATES_CHUNK ? n - at : FATES_CHUNK;
    profileevents_emitfates(s, survived + at, classes == NULL ? NULL : classes + at, m);
    at += m;
  }
  for (at = 0; at < ndeaths; at += DEATHS_CHUNK) {
    size_t m = ndeaths - at < DEATHS_CHUNK ? ndeaths - at : DEATHS_CHUNK;
    void *runs = reserve(s, EVENT_DEATHS, m, m * sizeof(*deaths));
    if (runs != NULL)
      memcpy(runs, deaths + at, m * sizeof(*deaths));
  }
  body = reserve(s, EVENT_COLLECTION, 0, sizeof(*body));
  if (body != NULL)
    *body = *c;
  profileevents_letgo(p);
}

/* ---------------------------------------------------------------- exit -- */

#define LOCK_MS		500     /* ms; longest wait for the lock */
/* The writer thread counts as stuck if it uses no CPU time for this long (ms). */
#define STUCK_MS	3000

/* Takes the lock. Returns 0, without the lock, after LOCK_MS. */
static int trylock (Profile *p) {
  int i;
  for (i = 0; i < LOCK_MS; i++) {
    if (pthread_mutex_trylock(&p->lock) == 0)
      return 1;
    dying_nap();
  }
  return 0;
}

/* Returns 1 if the writer thread is not stuck: it has used CPU time since the last call, or waits
   for a write to the file. *used: CPU time of the thread at the last call; updated by each call. */
static int works (const Profile *p, uint64_t *used) {
  uint64_t before = *used;
  *used = clock_read(p->clock);
  return *used != before || __atomic_load_n(&p->file.waiting, __ATOMIC_RELAXED);
}

/* Waits until the writer has finished. Returns 0 if the writer is stuck. */
static int awaitwriter (const Profile *p) {
  uint64_t used = 0;
  int idle = 0;
  while (!__atomic_load_n(&p->done, __ATOMIC_ACQUIRE)) {
    idle = works(p, &used) ? 0 : idle + 1;
    if (idle > STUCK_MS)
      return 0;
    dying_nap();
  }
  return 1;
}

/* Waits until the queue has space for a state's last events; releases the lock during the wait.
   Returns 0 if the writer is stuck, or if the lock cannot be taken again. In both cases the lock is
   not held at the return, and *locked is 0. */
static int awaitroom (Profile *p, int *locked) {
  size_t needed = 2 * sizeof(Event) + sizeof(ProfileLeft) + 8 +
                  sizeof(OrphansEvent) + PROFILE_LASTRUNS * sizeof(uint32_t);
  uint64_t used = 0;
  int idle = 0;
  while (p->error == 0 && QUEUE_BYTES - p->queue[p->active].used < needed) {
    pthread_mutex_unlock(&p->lock);
    idle = works(p, &used) ? 0 : idle + 1;
    dying_nap();
    *locked = idle <= STUCK_MS && trylock(p);
    if (!*locked)
      return 0;
  }
  return 1;
}

/* State of emitlast while it reports the bytes by label set of one Lua state: argument 'ud' of
   lastset. */
typedef struct LastSets {
  Profile *p;
  const ProfileState *state;
  int *locked;
  int ok;
} LastSets;

static void lastset (void *ud, uint32_t set, uint64_t bytes) {
  LastSets *l = ud;
  void *body;
  l->ok = l->ok && awaitroom(l->p, l->locked);
  if (!l->ok || set == 0)
    return;
  body = reserve(l->state, EVENT_LABELLED, bytes, sizeof(set));
  if (body != NULL)
    memcpy(body, &set, sizeof(set));
}

/* Reports the last events of all states, unless the writer is stuck, and stops the profile.
   Releases the lock. */
static void emitlast (Profile *p, int (*next) (void *ud, ProfileLast *last), void *ud) {
  ProfileLast last;
  int locked = 1;
  while (next(ud, &last) && awaitroom(p, &locked)) {
    void *body;
    if (last.nruns > 0) {
      emitorphans(last.state, last.time, last.runs, last.nruns);
      continue;
    }
    p->elsewhere += last.lost;
    if (last.sets != NULL) {
      LastSets sets = {p, last.state, &locked, 1};
      last.bytes = last.sets(&last, lastset, &sets);
      if (!sets.ok || !awaitroom(p, &locked))
        break;
    }
    if (last.bytes > 0)
      reserve(last.state, EVENT_ALLOCATED, last.bytes, 0);
    body = reserve(last.state, EVENT_LEFT, __atomic_load_n(&p->cut, __ATOMIC_RELAXED),
                   sizeof(last.left));
    if (body != NULL)
      memcpy(body, &last.left, sizeof(last.left));
  }
  if (!locked) {
    p->stop = 1;
    return;
  }
  commit(p);
  p->stop = 1;
  pthread_mutex_unlock(&p->lock);
}

/* Does not call malloc, because the signal handler that calls exit() may have interrupted
   malloc. */
void profile_exit (Profile *p, int (*next) (void *ud, ProfileLast *last), void *ud,
                   ProfileTotals *t) {
  int iswritten, locked, ours = emitting == p;
  if (p->pid != getpid() || p->ended) {
    profilequeue_totals(p, t);
    return;
  }
  __atomic_store_n(&p->file.leaving, 1, __ATOMIC_RELAXED);
  if (trylock(p) || ours) {
    /* Drops the event whose report was interrupted. */
    if (ours) {
      p->reserved = 0;
      lose(p);
    }
    emitlast(p, next, ud);
  }
  else p->stop = 1;
  profilequeue_wake(p);
  iswritten = awaitwriter(p) || __atomic_load_n(&p->whole, __ATOMIC_ACQUIRE);
  /* Takes the lock, because other threads may still count lost events. */
  locked = !ours && trylock(p);
  if (!iswritten) {
    p->error = EDEADLK;
    p->lost.samples = p->taken.samples - p->written.samples;
    p->lost.timesamples = p->taken.timesamples - p->written.timesamples;
    p->lost.natives = p->taken.natives - p->written.natives;
  }
  else if (p->file.error != p->error) {
    p->lost = p->taken;
    p->error = p->file.error;
  }
  profilequeue_totals(p, t);
  if (locked)
    pthread_mutex_unlock(&p->lock);
}
