/* SPDX-License-Identifier: MIT */
/*
** The sampler of one state (sampler.h).
*/
#define _GNU_SOURCE
#include "sampler.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "binding.h"
#include "clock.h"
#include "complain.h"
#include "descriptor.h"
#include "dying.h"
#include "heldpaths.h"
#include "labels.h"
#include "mallocs.h"
#include "native.h"
#include "resident.h"
#include "timing.h"
#include "tracker.h"

struct Sampler {
  Tracker tracker;		/* its client is the profile */
  Sampler *next, *before;	/* all samplers of the process */
  ProfileState state;		/* its profile: the session's, or NULL */
  const SamplerShared *shared;	/* ... which is not its own (SS4); NULL: it is */
  uint64_t since;		/* shared: when it began */
  uint64_t ratetime, ratesamples;  /* the last look at how many it takes, and how many it
				   had taken then (restrain) */
  char *script;			/* of the outermost function of its first sample, ... */
  int named;			/* ... which was told as the state's name */
  unsigned name;		/* the number of that (seen.h) */
  Seen seen;			/* shared: what other threads may know */
  int forked;			/* this is the child of a fork, and nothing was told */
  SamplerAsked *asked;		/* shared: by another thread, to be done by its own; atomic */
  SamplerOptions options;
  char *path;			/* of the session or the last one */
  struct stat file;		/* ... whose device and inode these are */
  pid_t pid;			/* of the process whose session it is */
  int told;			/* how the session ended is told */
  Timing timing;
  HeldPaths heldpaths;		/* that the profile knows */
  Resident resident;		/* where the memory of the state is */
  uint64_t starved, starvings;	/* memory ran out: when that was told last; how often */
  uint64_t timeperiod;		/* ns, of the session; 0: time is not sampled */
  int wall;			/* that period is of wall time */
  ProfileCollection leftout;	/* since the last that was told: counts, bytes */
};

/* The samplers of all states, for exit and fork (SS1). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* This OS thread has it, or waits for it. */
static __thread volatile int locking __attribute__((tls_model("initial-exec")));
static Sampler *all;
static uint64_t lastnumber;
static const SamplerShared *shared;	/* of all that are, or NULL */
static Sampler *spare;		/* of states that are closed, for others (shared) */
static unsigned nspare;
static SharedTotals past;	/* of states that are closed */
static ResidentPolicy pictures;	/* of the shared profile */


/* {== the profile as a client ========================================== */

/* What the state's own thread lets others know (SE1). */
static void publish (Sampler *s) {
  const Tracker *t = &s->tracker;
  Seen *to = &s->seen;
  luaN_Memory m;
  luaN_memory(t->L, &m);
  __atomic_store_n(&to->thread, (const void *)&locking, __ATOMIC_RELAXED);
  seen_put(to, SEEN_SAMPLES, t->samples);
  seen_put(to, SEEN_TIMESAMPLES, s->timing.samples);
  seen_put(to, SEEN_NATIVES, t->natives);
  seen_put(to, SEEN_BYTES, tracker_bytes(t, t->L));
  seen_put(to, SEEN_LOST, t->lost);
  seen_put(to, SEEN_INUSE, m.inuse);
  seen_put(to, SEEN_HELD, m.held);
  seen_put(to, SEEN_TENURED, m.tenured);
  seen_put(to, SEEN_MINORS, m.minors);
  seen_put(to, SEEN_MAJORS, m.majors);
  seen_put(to, SEEN_PAUSES, m.pauses);
  seen_put(to, SEEN_LONGEST, m.longest);
  seen_put(to, SEEN_CHUNKS, t->stack.functions.lumpedchunks);
  seen_put(to, SEEN_FUNCTIONS, t->stack.functions.lumped);
  seen_put(to, SEEN_CLASSES, t->classes.lumped);
  seen_put(to, SEEN_PATHS, s->heldpaths.left);
  seen_put(to, SEEN_STEPS, s->heldpaths.cut);
}


static void onfunction (void *ud, uint64_t id, const char *name, int linedefined,
                        const char *source) {
  Sampler *s = ud;
  if (s->shared != NULL && !s->named) {  /* the last one is the outermost */
    free(s->script);
    s->script = strdup(source);
  }
  profile_function(&s->state, id, name, linedefined, source);
}


static void dolock (void);
static void unlock (void);

/* On its own thread. */
static void givename (Sampler *s) {
  if (s->shared == NULL || s->name != SEEN_UNNAMED) return;
  dolock();
  s->name = seen_name(s->script);
  unlock();
}


static void onclass (void *ud, uint32_t id, const char *name) {
  if (((Sampler *)ud)->state.profile != NULL)
    profile_class(&((Sampler *)ud)->state, id, name);
}


static void onsample (void *ud, const ProfileSample *in, size_t shared,
                      const ProfileFrame *frames, size_t n) {
  Sampler *s = ud;
  if (s->script != NULL && !s->named) {
    s->named = 1;
    givename(s);
    profile_called(&s->state, s->script);
  }
  profile_sample(&s->state, in, shared, frames, n);
  if (s->shared != NULL) publish(s);
}


static void ontimesample (void *ud, const ProfileTime *in, size_t shared,
                          const ProfileFrame *frames, size_t n) {
  profile_time(&((Sampler *)ud)->state, in, shared, frames, n);
}


static uint64_t seedof (const Sampler *s);
static int current (Sampler *s);
static void onsafe (void *ud, lua_State *L);
static void follow (Sampler *s);

static int onroom (void *ud, uint64_t count) {
  Sampler *s = ud;
  if (s->shared != NULL) {
    int now = current(s);
    if (now <= 0) return now;
    follow(s);
  }
  return profile_offer(s->state.profile, count);
}


/* While there is no room, collections that decide nothing are left out. */
static void oncollection (void *ud, const ProfileCollection *c,
                          const PendingFates *f, const FollowedDeaths *d) {
  Sampler *s = ud;
  ProfileCollection all = *c, *out = &s->leftout;
  if (s->state.profile == NULL) return;  /* of a child that has told nothing yet */
  all.minors += out->minors;
  all.majors += out->majors;
  all.tenured += out->tenured;
  all.planned += out->planned;
  all.charged += out->charged;
  if (f->n == 0 && d->n == 0 && !profile_room(s->state.profile)) {
    out->minors = all.minors + (c->major == 0);
    out->majors = all.majors + (c->major != 0);
    out->tenured = all.tenured;
    out->planned = all.planned;
    out->charged = all.charged;
    return;
  }
  memset(out, 0, sizeof(*out));
  profile_collection(&s->state, &all, f->survived, f->classes, f->n, d->runs, d->n);
}


static void onholders (void *ud, Holders *h) {
  Sampler *s = ud;
  if (s->state.profile == NULL) return;
  if (!heldpaths_tell(&s->heldpaths, &s->state, h)) return;
  profile_holders(&s->state, h->ids, h->n);
  profile_walk(&s->state, h->began, h->nanoseconds);
}


static void onpoint (void *ud, lua_State *L) {
  Sampler *s = ud;
  if (s->state.profile == NULL) return;
  timing_point(&s->timing, L, &s->tracker);
  if (s->shared != NULL) publish(s);
}


static void leave (Sampler *s, lua_State *L);

static void onclosing (void *ud, lua_State *L) {
  Sampler *s = ud;
  if (s->shared != NULL) leave(s, L);
  else sampler_close(s, L);
}


/* A fork's child may ask before its handlers have run: the writer is its parent's. */
static int onready (void *ud) {
  const Sampler *s = ud;
  return s->state.profile != NULL && s->pid == getpid() && profile_ready(s->state.profile);
}


#define STARVED_NS	1000000000	/* from one time that it is told to the next, ... */
#define RINGSTARVED_NS	60000000000	/* ... of a flight recorder, which is written then */

/* Memory has run out. The mark tells how often, and the bytes in use. The error that is raised
   next may end the program, so what is known goes to a file first. */
static void onstarved (void *ud, lua_State *L) {
  Sampler *s = ud;
  Profile *p = s->state.profile;
  uint64_t now = clock_now();
  char path[PATH_MAX], err[1024], value[96];
  luaN_Memory m;
  if (p == NULL || s->pid != getpid() || !profile_room(p)) return;
  s->starvings++;
  if (s->starved > 0 && now - s->starved < (profile_isring(p) ? RINGSTARVED_NS : STARVED_NS))
    return;
  s->starved = now;
  luaN_memory(L, &m);
  snprintf(value, sizeof(value), "%llu, %llu", (unsigned long long)s->starvings,
           (unsigned long long)m.inuse);
  profile_mark(&s->state, now, "memory ran out", 14, value, strlen(value));
  if (!profile_dump(p, NULL, 1, path, sizeof(path), err, sizeof(err))) complain("%s", err);
  else if (profile_isring(p) && s->options.summary)
    complain("memory ran out; profile: %s", path);
}


static const TrackerClient client = {
  onfunction, onclass, onroom, onsample, ontimesample, oncollection, onpoint, onclosing, 1,
  onready, onholders, onsafe, onstarved
};

/* }===================================================================== */


/* {== one sampler a state, all samplers of the process ================= */

/* In the child of a fork: the parent's files are not the child's. */
static void forked (void) {
  Sampler *s;
  pthread_mutex_init(&lock, NULL);
  for (s = all; s != NULL; s = s->next) {
    if (s->state.profile == NULL) continue;
    timing_forked(&s->timing);
    if (s->shared == NULL) {
      tracker_abandon(&s->tracker);
      profile_abandon(s->state.profile);
    }
    else tracker_forked(&s->tracker);
    s->forked = 1;
    s->state.profile = NULL;  /* a shared one goes on in another (again) */
  }
  for (s = all; s != NULL; s = s->next) resident_forget(&s->resident);
  resident_forked();
  memset(&pictures, 0, sizeof(pictures));
  if (shared != NULL) shared->forked();
  seen_forked();
  memset(&past, 0, sizeof(past));
}


static uint64_t ending (const Sampler *s, ProfileLeft *left);
static int nextlast (void *ud, ProfileLast *last);
static int report (Sampler *s, const ProfileTotals *t);
static void addup (SharedTotals *t, int isexit);

#define LOCK_MS		500	/* at exit, for the lock: longer than a session takes */
#define OTHER_MS	10000	/* ... and than one takes to end on another thread */

/* At exit. A handler that has interrupted this thread may never get the lock; the list
   can be read at any moment. */
static int trylock (void) {
  const struct timespec nap = {0, 1000000};
  int i, n = locking ? LOCK_MS : OTHER_MS;
  for (i = 0; i < n; i++) {
    if (pthread_mutex_trylock(&lock) == 0) return 1;
    nanosleep(&nap, NULL);
  }
  return 0;
}


/*
** exit() without lua_close, or quick_exit(): no Lua may run here any more, but other OS
** threads may still run Lua, and sample. So all files are finished, and nothing is freed
** (SS3). Time of this thread that no sample tells yet is counted as lost. This may run in a
** signal handler that has interrupted anything, the code of this file included.
*/
static void exiting (void) {
  Sampler *s, *from;
  ProfileTotals t;
  Profile *p;
  int locked;
  if (!dying_begin()) return;
  locked = trylock();
  for (s = all; s != NULL; s = s->next) {
    p = s->state.profile;
    if (p == NULL) continue;
    if (s->timing.timer != NULL && timer_mine(s->timing.timer))
      s->tracker.lost += timing_leave(&s->timing);
    if (s->shared != NULL) continue;
    from = s;
    profile_exit(p, nextlast, &from, &t);
    report(s, &t);
  }
  if (shared != NULL && (p = shared->profile(0)) != NULL) {
    SharedTotals sum;
    from = NULL;
    addup(&sum, 1);
    profile_exit(p, nextlast, &from, &t);
    shared->ended(&t, &sum);
  }
  if (locked) pthread_mutex_unlock(&lock);
  dying_done();
}


static void dolock (void) {
  locking = 1;
  pthread_mutex_lock(&lock);
}


static void unlock (void) {
  pthread_mutex_unlock(&lock);
  locking = 0;
}


static void once (void) {
  pthread_atfork(NULL, NULL, forked);
  atexit(exiting);
  at_quick_exit(exiting);
}


/* Into the list of all (lock held). */
static void enlist (Sampler *s) {
  s->tracker.number = lastnumber++;
  s->before = NULL;
  s->next = all;
  if (all != NULL) all->before = s;
  all = s;
}


static void delist (Sampler *s) {
  if (s->before != NULL) s->before->next = s->next;
  else all = s->next;
  if (s->next != NULL) s->next->before = s->before;
}


static int collectsampler (lua_State *L) {
  Sampler **box = lua_touserdata(L, 1);
  Sampler *s = *box;
  if (s == NULL) return 0;
  *box = NULL;
  sampler_close(s, L);
  dolock();
  delist(s);
  unlock();
  timing_close(&s->timing);
  tracker_close(&s->tracker);
  heldpaths_free(&s->heldpaths);
  free(s->path);
  free(s);
  return 0;
}


static Sampler *newsampler (lua_State *L) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  Sampler *s = calloc(1, sizeof(*s));
  if (s == NULL) return NULL;
  if (!tracker_open(&s->tracker, L, 0)) {
    free(s);
    return NULL;
  }
  pthread_once(&control, once);
  dolock();
  enlist(s);
  unlock();
  return s;
}


Sampler *sampler_of (lua_State *L) {
  static const char key;  /* its address is the key in the registry */
  Sampler **box, *s = sampler_attached(L);
  int known;
  if (s != NULL) return s;
  known = (lua_rawgetp(L, LUA_REGISTRYINDEX, &key) == LUA_TUSERDATA);
  if (!known) {
    lua_pop(L, 1);
    box = lua_newuserdatauv(L, sizeof(*box), 0);
    *box = NULL;
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, collectsampler);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
  }
  box = lua_touserdata(L, -1);
  if (*box == NULL && !luaN_isclosing(L)) *box = newsampler(L);
  s = *box;
  lua_pop(L, 1);
  return s;
}

/* }===================================================================== */


/* {== sessions ========================================================= */

static void nomemory (const char *path, char *err, size_t errsize) {
  snprintf(err, errsize, "cannot write profile '%s': %s", path, strerror(ENOMEM));
  errno = ENOMEM;
}


/* On a writer's thread: tells at once that the disk is full; at the session's end it would be
   too late to make room. */
static void onstalled (const char *path, int error, uint64_t lost) {
  if (error == 0)
    complain("%s: there is room again, and it goes on; %llu samples were lost, see its mark "
             "'samples lost'. A larger alloc= or less time= writes less, and so does max= with "
             "keep=", path, (unsigned long long)lost);
  else complain("%s: %s; samples are lost until there is room again", path, strerror(error));
}


/* Does any state of the process write its profile there? (SS1, SS2) */
static int inuse (const struct stat *file) {
  const Sampler *s;
  struct stat shareds;
  Profile *p = (shared != NULL) ? shared->profile(0) : NULL;
  if (p != NULL) {
    profile_file(p, &shareds);
    if (shareds.st_dev == file->st_dev && shareds.st_ino == file->st_ino) return 1;
  }
  for (s = all; s != NULL; s = s->next)
    if (s->state.profile != NULL && s->shared == NULL && s->file.st_dev == file->st_dev &&
        s->file.st_ino == file->st_ino)
      return 1;
  return 0;
}


/*
** Opens the file of a session, and notes where it is. NULL: 'err' says why. A name
** that was asked for and is not the file's is told at once.
*/
static Profile *openfile (Sampler *s, const ProfileConfig *c, char *err,
                          size_t errsize) {
  Profile *p;
  char *path;
  dolock();
  p = profile_open(c, err, errsize);
  path = (p != NULL) ? strdup(profile_path(p)) : NULL;
  if (path != NULL) {
    profile_file(p, &s->file);
    free(s->path);
    s->path = path;
    s->told = 0;
    s->state.profile = p;
    s->state.id = (uint32_t)s->tracker.number;
    s->state.depth = 0;
    if (!c->made && profile_elsewhere(p) != NULL)
      complain("'%s' %s; this profile is '%s'", c->path, profile_elsewhere(p), path);
  }
  else if (p != NULL) {
    profile_close(p, NULL);
    nomemory(c->path, err, errsize);
  }
  unlock();
  return s->state.profile;
}


static void configure (ProfileConfig *c, const SamplerOptions *o, uint64_t period) {
  memset(c, 0, sizeof(*c));
  c->path = o->out;
  c->number = o->number;
  c->made = o->made;
  c->replace = o->replace;
  c->taken = inuse;
  c->stalled = onstalled;
  c->ring = o->ring;
  c->round = (o->mallocs > 0) ? mallocs_learn : NULL;
  c->log.format = o->format;
  c->compress = o->compress;
  c->log.period = period;
  c->log.random = o->random;
  c->log.timeperiod = o->timeperiod;
  c->log.wall = o->wall;
  c->log.native = o->native;
  c->log.mallocs = o->mallocs;
  c->log.copies = o->copies;
  c->log.followed = FOLLOWED_MOST;
  c->log.command = o->command;
  c->log.resolve = native_name;
  c->log.labels = labels_of;
  c->log.labelsleft = labels_left;
}


Profile *sampler_openshared (const SamplerOptions *o, uint64_t period, char *err,
                             size_t errsize) {
  ProfileConfig c;
  Profile *p;
  configure(&c, o, period);
  c.folder = o->folder;
  c.log.states = 1;
  dolock();
  p = profile_open(&c, err, errsize);
  unlock();
  if (p != NULL) dying_watch(exiting);
  return p;
}


int sampler_open (Sampler *s, const SamplerOptions *o, uint64_t period,
                  char *err, size_t errsize) {
  ProfileConfig c;
  if (s->shared != NULL) {
    snprintf(err, errsize, "cannot write profile '%s': this process has one of all its "
             "states, '%s' (ASAMP)", o->out, s->path != NULL ? s->path : "");
    errno = EBUSY;
    return 0;
  }
  if (s->tracker.client != NULL) {
    snprintf(err, errsize, "cannot write profile '%s': the program that runs this "
             "Lua state samples it by itself (asamp.h)", o->out);
    errno = EBUSY;
    return 0;
  }
  if (o->mallocs > 0 && !mallocs_there(err, errsize)) {
    errno = ENOTSUP;
    return 0;
  }
  configure(&c, o, period);
  if (openfile(s, &c, err, errsize) == NULL) return 0;
  dying_watch(exiting);
  s->starved = 0;
  s->options = *o;
  s->options.out = s->path;
  s->options.command = NULL;
  memset(&s->leftout, 0, sizeof(s->leftout));
  heldpaths_free(&s->heldpaths);
  s->timeperiod = o->timeperiod;
  s->wall = o->wall;
  s->timing.samples = s->timing.inticks = s->timing.inpoints = 0;
  s->timing.cramped = 0;
  s->pid = getpid();
  tracker_begin(&s->tracker, &client, s, period, o->native);
  tracker_holdersevery(&s->tracker, o->holdersevery);
  tracker_copies(&s->tracker, o->copies);
  if (o->mallocs > 0 && !tracker_mallocs(&s->tracker, o->mallocs, o->seeded ? o->seed : 0)) {
    nomemory(o->out, err, errsize);
    sampler_close(s, s->tracker.L);
    errno = ENOMEM;
    return 0;
  }
  return 1;
}


Tracker *sampler_tracker (Sampler *s) {
  return &s->tracker;
}


uint64_t sampler_seed (void) {
  uint64_t seed;
  if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
    seed = clock_now();
  return seed;
}


void sampler_on (Sampler *s, lua_State *L, uint64_t period, int random) {
  if (s->tracker.interval.period != period) profile_period(&s->state, period);
  tracker_on(&s->tracker, L, period, random,
             s->options.seeded ? s->options.seed : sampler_seed());
}


int sampler_off (Sampler *s, lua_State *L) {
  return (s->state.profile != NULL) ? tracker_off(&s->tracker, L) : 0;
}


int sampler_timeon (Sampler *s, lua_State *L, uint64_t ns, TimerClock clock,
                    char *err, size_t errsize) {
  int ok, wall = (clock == TIMER_WALL);
  descriptor_hold();  /* for the timer's, libunwind's and the C library's */
  ok = timing_start(&s->timing, s->tracker.L, ns, clock, s->options.native,
                    MOMENTS_WORDS, err, errsize);
  descriptor_release();
  if (!ok) return 0;
  tracker_points(&s->tracker, L, 1);
  if (ns != s->timeperiod || wall != s->wall)
    profile_timeperiod(&s->state, ns, wall);
  s->timeperiod = ns;
  s->wall = wall;
  return 1;
}


int sampler_timeoff (Sampler *s, lua_State *L) {
  if (s->timing.timer == NULL) return 0;
  timing_stop(&s->timing);
  onpoint(s, L);
  s->tracker.lost += timing_drop(&s->timing);
  profile_timeperiod(&s->state, 0, s->wall);
  s->timeperiod = 0;
  tracker_points(&s->tracker, L, 0);
  return 1;
}


void sampler_period (Sampler *s, lua_State *L, uint64_t period) {
  tracker_period(&s->tracker, L, period);
  profile_period(&s->state, period);
}


int sampler_mark (Sampler *s, const char *name, size_t namelen,
                  const char *value, size_t valuelen) {
  if (s->state.profile == NULL) return 0;
  profile_mark(&s->state, clock_now(), name, namelen, value, valuelen);
  return 1;
}


/* Bytes for people, as asamp report writes them: "56 bytes", "1.5 MiB". */
static const char *amount (char text[24], uint64_t bytes) {
  static const char units[] = "KMGTPE";
  double n = (double)bytes;
  int unit = -1;
  while (n >= 1024 * 0.99995 && units[unit + 1] != '\0') {
    n /= 1024;
    unit++;
  }
  if (unit < 0) snprintf(text, 24, "%d byte%s", (int)n, n == 1 ? "" : "s");
  else snprintf(text, 24, n == (double)(int)n ? "%.0f %ciB" : "%.1f %ciB", n, units[unit]);
  return text;
}


/* Is it this OS thread that runs the state, as far as the state has told? */
static int ismine (const Sampler *s) {
  return __atomic_load_n(&s->seen.thread, __ATOMIC_RELAXED) == (const void *)&locking;
}


/* Before a profile ends: what was allocated, which samples only estimate; and what
   limits have left out. Of a state of another thread, as it has told. */
static uint64_t ending (const Sampler *s, ProfileLeft *left) {
  if (s->shared != NULL && !ismine(s)) {
    seen_left(&s->seen, left);
    return seen_get(&s->seen, SEEN_BYTES);
  }
  memset(left, 0, sizeof(*left));
  left->chunks = s->tracker.stack.functions.lumpedchunks;
  left->functions = s->tracker.stack.functions.lumped;
  left->classes = s->tracker.classes.lumped;
  left->paths = s->heldpaths.left;
  left->steps = s->heldpaths.cut;
  return tracker_bytes(&s->tracker, s->tracker.L);
}


/* What a profile's end is told of the next of its states (profile_exit). 'ud': where the
   sampler is that is next; its own one alone, or, NULL, all that are shared. */
static int nextlast (void *ud, ProfileLast *last) {
  Sampler **at = ud, *s = *at;
  static Sampler done;
  if (s == &done) return 0;
  if (s == NULL || s->shared != NULL) {
    for (s = (s == NULL) ? all : s->next; s != NULL; s = s->next)
      if (s->shared != NULL && s->state.profile != NULL) break;
    if (s == NULL) return 0;
  }
  last->state = &s->state;
  last->bytes = ending(s, &last->left);
  last->lost = s->tracker.lost;
  *at = (s->shared != NULL) ? s : &done;
  return 1;
}


static void allocated (Sampler *s) {
  ProfileLeft left;
  uint64_t bytes = ending(s, &left);
  if (bytes > 0) profile_allocated(&s->state, bytes);
  profile_left(&s->state, &left);
  profile_lost(s->state.profile, s->tracker.lost);
}


void sampler_summary (const SharedTotals *t, uint64_t period, int random, const char *path) {
  char all[24], each[24], text[160] = "", times[64] = "", states[40] = "", natives[64] = "";
  if (t->bytes > 0)  /* allocations were sampled */
    snprintf(text, sizeof(text), "%llu samples, one every %s%s, of %s allocated; ",
             (unsigned long long)t->samples, amount(each, period),
             random ? " on average" : "", amount(all, t->bytes));
  if (t->natives > 0)
    snprintf(natives, sizeof(natives), "%llu samples of native memory; ",
             (unsigned long long)t->natives);
  if (t->timesamples > 0 || (t->bytes == 0 && t->natives == 0))
    snprintf(times, sizeof(times), "%llu samples of time; ",
             (unsigned long long)t->timesamples);
  if (t->states > 1)
    snprintf(states, sizeof(states), "%llu Lua states; ", (unsigned long long)t->states);
  complain("%s%s%s%sprofile: %s", text, natives, times, states, path);
}


void sampler_loss (int error, uint64_t lost, int summary, const char *path) {
  if (error != 0)
    complain("%s: %s; %llu samples are lost", path, profile_message(error),
             (unsigned long long)lost);
  else if (lost > 0 && summary)
    complain("%s: %llu samples are lost", path, (unsigned long long)lost);
}


/*
** The file is whole: says so when the session was to end with a summary, and what was
** lost. Once a session.
*/
static int report (Sampler *s, const ProfileTotals *t) {
  uint64_t lost = s->tracker.lost + t->lost;
  if (s->told) return t->error;
  s->told = 1;
  if (s->options.summary) {
    SharedTotals sum = {1, s->tracker.samples, s->timing.samples,
                        tracker_bytes(&s->tracker, s->tracker.L), 0,
                        s->tracker.natives};
    sampler_summary(&sum, s->tracker.interval.period, s->tracker.interval.random, s->path);
  }
  if (s->timing.cramped > 0)
    complain("%s: %llu samples of time have no C stack, for this thread's alternate signal "
             "stack has no room for the walk; give it more (sigaltstack), or none", s->path,
             (unsigned long long)s->timing.cramped);
  sampler_loss(t->error, lost, s->options.summary, s->path);
  return t->error;
}


/* Ends the session of a state that its own thread closes. */
static int finish (Sampler *s) {
  ProfileTotals t;
  Profile *p;
  int e;
  dolock();
  allocated(s);
  p = s->state.profile;
  s->state.profile = NULL;  /* first: a child of a fork frees what it finds here */
  profile_close(p, &t);
  e = report(s, &t);
  unlock();
  s->tracker.lost += t.lost;
  return e;
}


int sampler_dump (Sampler *s, const char *to, char *path, size_t pathsize, char *err,
                  size_t errsize) {
  Profile *p = s->state.profile;
  if (p == NULL) snprintf(err, errsize, "nothing is written");
  else if (to != NULL && !profile_isring(p))
    snprintf(err, errsize, "the profile has a file, '%s'; another one is for what is kept with "
             "ring", profile_path(p));
  else return profile_dump(p, to, 0, path, pathsize, err, errsize);
  return 0;
}


size_t sampler_holders (Sampler *s, lua_State *L) {
  return (s->state.profile != NULL) ? tracker_holders(&s->tracker, L) : 0;
}


/* Where memory is, where that is due. */
static void look (Sampler *s, lua_State *L, int last) {
  resident_look(&s->resident, L, &s->tracker, s->state.profile != NULL ? &s->state : NULL,
                s->shared != NULL ? &pictures : &s->resident.policy, last);
}


int sampler_close (Sampler *s, lua_State *L) {
  if (s->state.profile == NULL && s->tracker.client != NULL) return 0;
  sampler_timeoff(s, L);
  if (s->state.profile != NULL) {
    tracker_off(&s->tracker, L);  /* which decides the last fates */
    look(s, L, 1);
    if (s->options.holders) sampler_holders(s, L);
  }
  resident_leave(&s->resident);
  tracker_end(&s->tracker, L);
  return (s->state.profile != NULL) ? finish(s) : 0;
}


void sampler_stats (Sampler *s, lua_State *L, SamplerStats *stats) {
  const Tracker *t = &s->tracker;
  ProfileTotals totals = {0};
  luaN_Memory m;
  luaN_memory(L, &m);
  if (s->state.profile != NULL) profile_totals(s->state.profile, &totals);
  stats->open = (s->state.profile != NULL);
  stats->on = (s->state.profile != NULL && t->on);
  stats->period = t->interval.period;
  stats->samples = t->samples;
  stats->natives = t->natives;
  stats->bytes = tracker_bytes(t, L);
  stats->lost = t->lost + totals.lost + s->timing.moments.lost +
                s->timing.away;
  stats->unfollowed = t->unfollowed;
  stats->timing = (s->timing.timer != NULL);
  stats->timesamples = s->timing.samples;
  stats->minors = m.minors;
  stats->majors = m.majors;
  stats->nanoseconds = t->nanoseconds + s->timing.inticks + s->timing.inpoints;
  stats->file = s->path;
  stats->error = totals.error;
  if (s->shared != NULL) stats->file = s->shared->path();
}


uint64_t sampler_distance (const Sampler *s, lua_State *L) {
  return s->tracker.on ? luaN_distance(L) : UINT64_MAX;
}

/* }===================================================================== */


/* {== states that share a profile (SS4) ================================= */

#define SPARES		16	/* samplers that are kept for states to come */
#define OLD_NS		1000000000	/* a state that lived so long has holders told */

static void starttime (Sampler *s);


/* Of native memory, where the library is there (process.c asks). */
static void startmallocs (Sampler *s) {
  if (s->options.mallocs > 0)
    (void)tracker_mallocs(&s->tracker, s->options.mallocs,
                          s->options.seeded ? s->options.seed : 0);
}


Sampler *sampler_attached (lua_State *L) {
  const luaN_Sampler *seam = luaN_getsampler(L);
  Sampler *s;
  if (__atomic_load_n(&shared, __ATOMIC_RELAXED) == NULL || seam == NULL || !tracker_is(seam)) return NULL;
  s = (Sampler *)seam->ud;  /* its tracker is its first field */
  return (s->shared != NULL) ? s : NULL;
}


/* The profile takes the state, which tells it all from here on. */
static void begin (Sampler *s, Profile *p) {
  s->state.profile = p;
  s->state.id = (uint32_t)s->tracker.number;
  s->state.depth = 0;
  s->pid = getpid();
  heldpaths_free(&s->heldpaths);
  s->named = 0;
  s->since = s->ratetime = clock_now();
  s->ratesamples = 0;
  memset(&s->leftout, 0, sizeof(s->leftout));
  profile_begin(&s->state);
}


static Sampler *take (lua_State *L) {
  Sampler *s;
  dolock();
  s = spare;
  if (s != NULL) {
    spare = s->next;
    nspare--;
  }
  unlock();
  if (s != NULL) tracker_reopen(&s->tracker, L);
  else {
    s = calloc(1, sizeof(*s));
    if (s != NULL) tracker_open(&s->tracker, L, 1);
  }
  return s;
}


static uint64_t seedof (const Sampler *s) {
  return s->options.seeded ? s->options.seed + s->tracker.number : sampler_seed();
}


/* What is to be sampled now: another thread may change it. */
static SamplerRate rateof (const SamplerShared *with) {
  SamplerRate r;
  r.alloc = __atomic_load_n(&with->rates.alloc, __ATOMIC_RELAXED);
  r.period = __atomic_load_n(&with->rates.period, __ATOMIC_RELAXED);
  r.timens = __atomic_load_n(&with->rates.timens, __ATOMIC_RELAXED);
  return r;
}


int sampler_attach (lua_State *L, const SamplerShared *with) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  Profile *p = with->profile(1);
  const SamplerRate rate = rateof(with);
  Sampler *s;
  if ((p == NULL && !with->isidle()) || luaN_getsampler(L) != NULL || (s = take(L)) == NULL)
    return 0;
  pthread_once(&control, once);
  s->shared = with;
  __atomic_store_n(&shared, with, __ATOMIC_RELAXED);
  s->options = with->options;
  memset(&s->seen, 0, sizeof(s->seen));  /* it may have been another state's */
  dolock();
  enlist(s);
  if (p != NULL) {
    past.states++;
    begin(s, p);
  }
  unlock();
  tracker_begin(&s->tracker, &client, s, rate.period, with->options.native);
  tracker_holdersevery(&s->tracker, with->options.holdersevery);
  tracker_copies(&s->tracker, with->options.copies);
  if (p == NULL) {
    tracker_idle(&s->tracker, L);
    publish(s);
    return 1;
  }
  if (rate.alloc)
    tracker_on(&s->tracker, L, rate.period, with->options.random,
               seedof(s));
  else tracker_points(&s->tracker, L, 1);  /* for its end, and collections */
  startmallocs(s);
  s->tracker.from = 0;  /* what it was born with is its own, too */
  starttime(s);
  publish(s);
  return 1;
}


/* Of time: on the OS thread that runs the state, which is the calling one. */
static void starttime (Sampler *s) {
  char err[256];
  static int told;
  const uint64_t timens = rateof(s->shared).timens;
  if (timens == 0) return;
  descriptor_hold();
  if (timing_start(&s->timing, s->tracker.L, timens, s->shared->clock,
                   s->options.native, MOMENTS_FEW, err, sizeof(err)))
    tracker_points(&s->tracker, s->tracker.L, 1);
  else if (!__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED)) complain("%s", err);
  descriptor_release();
}


/* A state that another OS thread runs now takes its timer along. */
static void follow (Sampler *s) {
  if (s->timing.timer == NULL || timer_mine(s->timing.timer)) return;
  timing_stop(&s->timing);
  s->tracker.lost += timing_drop(&s->timing);
  starttime(s);
}


/* The state leaves its profile: what it has told there goes to the sums of the past. */
static void settle (Sampler *s) {
  publish(s);
  dolock();
  if (s->state.profile != NULL) {
    seen_past(s->name, &s->seen, 1, 0);
    past.samples += s->tracker.samples;
    past.timesamples += s->timing.samples;
    past.bytes += tracker_bytes(&s->tracker, s->tracker.L);
    past.lost += s->tracker.lost;
    past.natives += s->tracker.natives;
  }
  s->state.profile = NULL;
  s->timing.samples = 0;
  unlock();
}


/* The state moves to the profile that the process has now, after a fork or a switch, and
   tells that everything anew. */
static void move (Sampler *s, Profile *p, int isforked) {
  const SamplerShared *with = s->shared;
  const SamplerRate rate = rateof(with);
  timing_stop(&s->timing);
  (void)timing_drop(&s->timing);  /* they would have been the other's */
  settle(s);
  heldpaths_free(&s->heldpaths);
  if (isforked) tracker_again(&s->tracker, seedof(s), 1);
  else tracker_wake(&s->tracker, s->tracker.L, rate.period, with->options.random,
                    seedof(s), rate.alloc);
  publish(s);  /* none of it is of the profile that was */
  dolock();
  past.states++;
  begin(s, p);
  unlock();
  starttime(s);
  startmallocs(s);
  publish(s);
}


/* Moves the state to the profile that the process has now. 0: it has none at present; below 0:
   it is to have none. */
static int current (Sampler *s) {
  Profile *p = s->shared->profile(1);
  if (p == NULL) return s->shared->isidle() ? -1 : 0;
  if (p != s->state.profile) move(s, p, s->forked);
  s->forked = 0;
  return 1;
}


#define RATE_NS		500000000	/* from look to look */

/* Makes the period of a state longer if it takes more samples than it should, shorter if it
   takes far fewer: a power of 2 times that of the process. Samples say what they stand for. */
static void restrain (Sampler *s, lua_State *L) {
  uint64_t now, taken = s->tracker.samples - s->ratesamples, period = s->tracker.interval.period;
  double a_second;
  if (s->shared->rate == 0 || !s->tracker.on) return;
  now = clock_now();
  if (now - s->ratetime < RATE_NS && taken < s->shared->rate) return;
  a_second = (double)taken * 1e9 / (double)(now - s->ratetime + 1);
  s->ratetime = now;
  s->ratesamples = s->tracker.samples;
  if (a_second > (double)s->shared->rate)
    while (a_second > (double)s->shared->rate && period < INTERVAL_MAX / 2) {
      period *= 2;
      a_second /= 2;
    }
  else if (4 * a_second < (double)s->shared->rate && period > rateof(s->shared).period) period /= 2;
  if (period == s->tracker.interval.period) return;
  tracker_period(&s->tracker, L, period);
  profile_period(&s->state, period);
}


static uint64_t pausebins[SAMPLER_PAUSES];

static void countpause (lua_State *L) {
  luaN_Memory m;
  int k = 0;
  luaN_memory(L, &m);
  while (k < SAMPLER_PAUSES - 1 && m.pause >= (UINT64_C(16000) << k)) k++;
  __atomic_fetch_add(&pausebins[k], 1, __ATOMIC_RELAXED);
}


/* A collection is over. */
static void onsafe (void *ud, lua_State *L) {
  Sampler *s = ud;
  SamplerAsked *asked;
  look(s, L, 0);
  if (s->shared == NULL) return;
  countpause(L);
  publish(s);
  if (s->shared->profile(0) != s->state.profile && !s->forked && current(s) < 0) {
    timing_stop(&s->timing);
    (void)timing_drop(&s->timing);
    settle(s);
    tracker_idle(&s->tracker, L);
  }
  if (s->state.profile != NULL) restrain(s, L);
  asked = __atomic_exchange_n(&s->asked, NULL, __ATOMIC_ACQ_REL);
  if (asked != NULL) asked->f(asked, L);
}


int sampler_ask (uint64_t id, SamplerAsked *asked) {
  Sampler *s, *oldest = NULL;
  SamplerAsked *none = NULL;
  int result = 0;
  dolock();
  for (s = all; s != NULL; s = s->next)  /* the newest is the first */
    if (s->shared != NULL && (id == UINT64_MAX || s->tracker.number == id)) oldest = s;
  if (oldest != NULL)
    result = __atomic_compare_exchange_n(&oldest->asked, &none, asked, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE) ? 1 : -1;
  unlock();
  return result;
}


int sampler_markshared (Profile *p, const char *name, const char *value) {
  const Sampler *s;
  ProfileState state = {p, 0, 0, 1};
  int found = 0;
  dolock();
  for (s = all; s != NULL; s = s->next) {
    if (s->shared == NULL || s->state.profile != p) continue;
    state.id = s->state.id;
    found = 1;
  }
  unlock();
  if (found) profile_mark(&state, clock_now(), name, strlen(name), value, strlen(value));
  return found;
}


void sampler_endshared (Profile *p) {
  const Sampler *s;
  dolock();
  for (s = all; s != NULL; s = s->next) {
    ProfileState state = {p, 0, 0, 1};  /* its depth is its own thread's */
    ProfileLeft left;
    uint64_t bytes;
    if (s->shared == NULL || s->state.profile != p) continue;
    state.id = s->state.id;
    bytes = ending(s, &left);
    if (bytes > 0) profile_allocated(&state, bytes);
    profile_left(&state, &left);
    profile_lost(p, seen_get(&s->seen, SEEN_LOST));
  }
  unlock();
  profile_end(p, NULL);
}


int sampler_usesshared (const Profile *p) {
  const Sampler *s;
  int yes = 0;
  dolock();
  for (s = all; s != NULL && !yes; s = s->next) yes = (s->state.profile == p);
  unlock();
  return yes;
}


/* The state is being closed. */
static void leave (Sampler *s, lua_State *L) {
  ProfileLeft left;
  SamplerAsked *asked;
  timing_stop(&s->timing);
  if (s->state.profile != NULL) {
    if (s->timing.moments.buffer[0] != NULL) {
      onpoint(s, L);
      s->tracker.lost += timing_drop(&s->timing);
    }
    if (s->options.holders && s->tracker.followed.n > 0 &&
        clock_now() - s->since >= OLD_NS) {
      tracker_off(&s->tracker, L);
      sampler_holders(s, L);
    }
    look(s, L, 1);
  }
  resident_leave(&s->resident);
  s->tracker.points = 0;
  tracker_end(&s->tracker, L);
  luaN_setsampler(L, NULL, 0);
  if (s->state.profile != NULL)
    profile_leave(&s->state, ending(s, &left), &left, s->tracker.lost);
  settle(s);
  dolock();
  seen_past(s->name, &s->seen, 0, 1);
  s->name = SEEN_UNNAMED;
  delist(s);
  s->forked = 0;
  free(s->script);
  s->script = NULL;
  heldpaths_free(&s->heldpaths);
  asked = __atomic_exchange_n(&s->asked, NULL, __ATOMIC_ACQ_REL);
  s->timing.samples = s->timing.inticks = s->timing.inpoints = s->timing.cramped = 0;
  if (nspare < SPARES) {
    s->next = spare;
    spare = s;
    nspare++;
    s = NULL;
  }
  unlock();
  if (asked != NULL) asked->f(asked, NULL);
  if (s == NULL) return;
  timing_close(&s->timing);
  tracker_close(&s->tracker);
  free(s);
}


/* Sums over the states that the process has and had. With the lock, unless another thread
   keeps it at exit. At exit the states of this OS thread have already told all. */
static void addup (SharedTotals *t, int isexit) {
  Sampler *s;
  *t = past;
  for (s = all; s != NULL; s = s->next) {
    if (s->shared == NULL || s->state.profile == NULL) continue;
    if (isexit && ismine(s)) publish(s);
    t->samples += seen_get(&s->seen, SEEN_SAMPLES);
    t->timesamples += seen_get(&s->seen, SEEN_TIMESAMPLES);
    t->bytes += seen_get(&s->seen, SEEN_BYTES);
    t->lost += seen_get(&s->seen, SEEN_LOST);
    t->natives += seen_get(&s->seen, SEEN_NATIVES);
  }
}


void sampler_shared (SharedTotals *t, SharedHeaps *h) {
  const Sampler *s;
  int k;
  memset(h, 0, sizeof(*h));
  dolock();
  addup(t, 0);
  for (s = all; s != NULL; s = s->next) {
    uint64_t longest = seen_get(&s->seen, SEEN_LONGEST);
    if (s->shared == NULL) continue;
    h->open++;
    h->inuse += seen_get(&s->seen, SEEN_INUSE);
    h->held += seen_get(&s->seen, SEEN_HELD);
    h->tenured += seen_get(&s->seen, SEEN_TENURED);
    h->minors += seen_get(&s->seen, SEEN_MINORS);
    h->majors += seen_get(&s->seen, SEEN_MAJORS);
    h->pauses += seen_get(&s->seen, SEEN_PAUSES);
    if (longest > h->longest) h->longest = longest;
  }
  unlock();
  for (k = 0; k < SAMPLER_PAUSES; k++)
    h->bins[k] = __atomic_load_n(&pausebins[k], __ATOMIC_RELAXED);
}


unsigned sampler_named (SeenNamed rows[SEEN_NAMES]) {
  const Sampler *s;
  unsigned n;
  dolock();
  n = seen_named(rows);
  for (s = all; s != NULL; s = s->next)
    if (s->shared != NULL) seen_add(&rows[s->name], &s->seen, s->state.profile != NULL);
  unlock();
  return n;
}

/* }===================================================================== */
