/* SPDX-License-Identifier: MIT */
/*
** The sampler of one state (sampler.h).
*/
#define _GNU_SOURCE
#include "sampler.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "binding.h"
#include "clock.h"
#include "descriptor.h"
#include "heldpaths.h"
#include "native.h"
#include "timing.h"
#include "tracker.h"

struct Sampler {
  Tracker tracker;		/* its client is the profile */
  Sampler *next;		/* all samplers of the process */
  Profile *profile;		/* the session, or NULL */
  SamplerOptions options;
  char *path;			/* of the session or the last one */
  struct stat file;		/* ... whose device and inode these are */
  int told;			/* how the session ended is told */
  Timing timing;
  HeldPaths heldpaths;		/* that the profile knows */
  uint64_t timeperiod;		/* ns, of the session; 0: time is not sampled */
  int wall;			/* that period is of wall time */
  ProfileCollection leftout;	/* since the last that was told: counts, tenured */
};

/* The samplers of all states, for exit and fork (SS1). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* This OS thread has it, or waits for it. */
static __thread volatile int locking __attribute__((tls_model("initial-exec")));
static Sampler *all;
static uint64_t lastnumber;


/* {== the profile as a client ========================================== */

static void onfunction (void *ud, uint64_t id, const char *name, int linedefined,
                        const char *source) {
  profile_function(((Sampler *)ud)->profile, id, name, linedefined, source);
}


static void onclass (void *ud, uint32_t id, const char *name) {
  profile_class(((Sampler *)ud)->profile, id, name);
}


static void onsample (void *ud, const ProfileSample *in, size_t kept,
                      const ProfileFrame *frames, size_t n) {
  profile_sample(((Sampler *)ud)->profile, in, kept, frames, n);
}


static void ontimesample (void *ud, const ProfileTime *in, size_t kept,
                          const ProfileFrame *frames, size_t n) {
  profile_time(((Sampler *)ud)->profile, in, kept, frames, n);
}


static int onroom (void *ud) {
  return profile_room(((Sampler *)ud)->profile);
}


/* While there is no room, collections that decide nothing are left out. */
static void oncollection (void *ud, const ProfileCollection *c,
                          const PendingFates *f, const FollowedDeaths *d) {
  Sampler *s = ud;
  ProfileCollection all = *c, *out = &s->leftout;
  all.minors += out->minors;
  all.majors += out->majors;
  all.tenured += out->tenured;
  if (f->n == 0 && d->n == 0 && !profile_room(s->profile)) {
    out->minors = all.minors + (c->major == 0);
    out->majors = all.majors + (c->major != 0);
    out->tenured = all.tenured;
    return;
  }
  memset(out, 0, sizeof(*out));
  profile_collection(s->profile, &all, f->survived, f->classes, f->n, d->runs, d->n);
}


static void onholders (void *ud, Holders *h) {
  Sampler *s = ud;
  if (!heldpaths_tell(&s->heldpaths, s->profile, h)) return;
  profile_holders(s->profile, h->ids, h->n);
  profile_walk(s->profile, h->began, h->nanoseconds);
}


static void onpoint (void *ud, lua_State *L) {
  Sampler *s = ud;
  timing_point(&s->timing, L, &s->tracker);
}


static void onclosing (void *ud, lua_State *L) {
  sampler_close((Sampler *)ud, L);
}


static const TrackerClient client = {
  onfunction, onclass, onroom, onsample, ontimesample, oncollection, onpoint, onclosing, 1,
  onholders
};

/* }===================================================================== */


/* {== one sampler a state, all samplers of the process ================= */

/* In the child of a fork: the parent's files are not the child's. */
static void forked (void) {
  Sampler *s;
  pthread_mutex_init(&lock, NULL);
  for (s = all; s != NULL; s = s->next) {
    if (s->profile == NULL) continue;
    timing_forked(&s->timing);
    tracker_abandon(&s->tracker);
    profile_abandon(s->profile);
    s->profile = NULL;
  }
}


static uint64_t ending (const Sampler *s, ProfileLeft *left);
static int report (Sampler *s, const ProfileTotals *t);

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
** exit() without lua_close, or quick_exit(): no Lua may run any more here, but other
** OS threads may, and sample. So files are finished, and nothing else is touched (SS3),
** but that this thread's time which is in no sample yet is lost. It may be called in a
** signal handler that has interrupted anything, of this file too.
*/
static void exiting (void) {
  Sampler *s;
  ProfileTotals t;
  ProfileLeft left;
  int locked = trylock();
  for (s = all; s != NULL; s = s->next) {
    Profile *p = s->profile;
    if (p == NULL) continue;
    if (s->timing.timer != NULL && timer_mine(s->timing.timer))
      s->tracker.lost += timing_leave(&s->timing);
    profile_exit(p, ending(s, &left), &left, &t);
    report(s, &t);
  }
  if (locked) pthread_mutex_unlock(&lock);
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


static int collectsampler (lua_State *L) {
  Sampler **box = lua_touserdata(L, 1);
  Sampler *s = *box, **p;
  if (s == NULL) return 0;
  *box = NULL;
  sampler_close(s, L);
  dolock();
  for (p = &all; *p != s; p = &(*p)->next) { }
  *p = s->next;
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
  if (!tracker_open(&s->tracker, L)) {
    free(s);
    return NULL;
  }
  pthread_once(&control, once);
  dolock();
  s->tracker.number = lastnumber++;
  s->next = all;
  all = s;
  unlock();
  return s;
}


Sampler *sampler_of (lua_State *L) {
  static const char key;  /* its address is the key in the registry */
  Sampler **box, *s;
  int known = (lua_rawgetp(L, LUA_REGISTRYINDEX, &key) == LUA_TUSERDATA);
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


/* On a writer's thread: what the end of the session would tell too late. */
static void stalled (const char *path, int error) {
  fprintf(stderr, "profiler: %s: %s; samples are lost until there is room again\n",
          path, strerror(error));
}


/* Does any state of the process write its profile there? (SS1, SS2) */
static int inuse (const struct stat *file) {
  const Sampler *s;
  for (s = all; s != NULL; s = s->next)
    if (s->profile != NULL && s->file.st_dev == file->st_dev &&
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
    s->profile = p;
    if (!c->made && profile_elsewhere(p) != NULL)
      fprintf(stderr, "profiler: '%s' %s; this profile is '%s'\n", c->path,
              profile_elsewhere(p), path);
  }
  else if (p != NULL) {
    profile_close(p, NULL);
    nomemory(c->path, err, errsize);
  }
  unlock();
  return s->profile;
}


int sampler_open (Sampler *s, const SamplerOptions *o, uint64_t period,
                  char *err, size_t errsize) {
  ProfileConfig c;
  if (s->tracker.client != NULL) {
    snprintf(err, errsize, "cannot write profile '%s': the program that runs this "
             "Lua state samples it by itself (asamp.h)", o->out);
    errno = EBUSY;
    return 0;
  }
  memset(&c, 0, sizeof(c));
  c.path = o->out;
  c.number = o->number;
  c.made = o->made;
  c.replace = o->replace;
  c.taken = inuse;
  c.stalled = stalled;
  c.log.format = o->format;
  c.compress = o->compress;
  c.log.period = period;
  c.log.random = o->random;
  c.log.timeperiod = o->timeperiod;
  c.log.wall = o->wall;
  c.log.native = o->native;
  c.log.followed = FOLLOWED_MOST;
  c.log.command = o->command;
  c.log.resolve = native_name;
  if (openfile(s, &c, err, errsize) == NULL) return 0;
  s->options = *o;
  s->options.out = s->path;
  s->options.command = NULL;
  memset(&s->leftout, 0, sizeof(s->leftout));
  heldpaths_free(&s->heldpaths);
  s->timeperiod = o->timeperiod;
  s->wall = o->wall;
  s->timing.samples = s->timing.inticks = s->timing.inpoints = 0;
  s->timing.cramped = 0;
  tracker_begin(&s->tracker, &client, s, period, o->native);
  tracker_holdersevery(&s->tracker, o->holdersevery);
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
  if (s->tracker.gap.period != period) profile_period(s->profile, period);
  tracker_on(&s->tracker, L, period, random,
             s->options.seeded ? s->options.seed : sampler_seed());
}


int sampler_off (Sampler *s, lua_State *L) {
  return (s->profile != NULL) ? tracker_off(&s->tracker, L) : 0;
}


int sampler_timeon (Sampler *s, lua_State *L, uint64_t ns, TimerClock clock,
                    char *err, size_t errsize) {
  int ok, wall = (clock == TIMER_WALL);
  descriptor_hold();  /* for the timer's, libunwind's and the C library's */
  ok = timing_start(&s->timing, s->tracker.L, ns, clock, s->options.native, err,
                    errsize);
  descriptor_release();
  if (!ok) return 0;
  tracker_points(&s->tracker, L, 1);
  if (ns != s->timeperiod || wall != s->wall)
    profile_timeperiod(s->profile, ns, wall);
  s->timeperiod = ns;
  s->wall = wall;
  return 1;
}


int sampler_timeoff (Sampler *s, lua_State *L) {
  if (s->timing.timer == NULL) return 0;
  timing_stop(&s->timing);
  onpoint(s, L);
  s->tracker.lost += timing_drop(&s->timing);
  profile_timeperiod(s->profile, 0, s->wall);
  s->timeperiod = 0;
  tracker_points(&s->tracker, L, 0);
  return 1;
}


void sampler_period (Sampler *s, lua_State *L, uint64_t period) {
  tracker_period(&s->tracker, L, period);
  profile_period(s->profile, period);
}


int sampler_mark (Sampler *s, const char *name, size_t namelen,
                  const char *value, size_t valuelen) {
  if (s->profile == NULL) return 0;
  profile_mark(s->profile, clock_now(), name, namelen, value, valuelen);
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


/* Before a profile ends: what was allocated, which samples only estimate; and what
   limits have left out. */
static uint64_t ending (const Sampler *s, ProfileLeft *left) {
  left->chunks = s->tracker.stack.functions.lumpedchunks;
  left->functions = s->tracker.stack.functions.lumped;
  left->classes = s->tracker.classes.lumped;
  left->paths = s->heldpaths.left;
  left->steps = s->heldpaths.cut;
  return tracker_bytes(&s->tracker, s->tracker.L);
}


static void allocated (const Sampler *s, Profile *p) {
  ProfileLeft left;
  uint64_t bytes = ending(s, &left);
  if (bytes > 0) profile_allocated(p, bytes);
  profile_left(p, &left);
  profile_lost(p, s->tracker.lost);
}


/*
** The file is whole: says so when the session was to be announced, and what was
** lost. Once a session.
*/
static int report (Sampler *s, const ProfileTotals *t) {
  unsigned long long lost = s->tracker.lost + t->lost;
  if (s->told) return t->error;
  s->told = 1;
  if (s->options.announce) {
    uint64_t bytes = tracker_bytes(&s->tracker, s->tracker.L);
    char all[24], each[24];
    fprintf(stderr, "profiler: ");
    if (bytes > 0)  /* allocations were sampled */
      fprintf(stderr, "%llu samples, one every %s%s, of %s allocated; ",
              (unsigned long long)s->tracker.samples,
              amount(each, s->tracker.gap.period),
              s->tracker.gap.random ? " on average" : "", amount(all, bytes));
    if (s->timing.samples > 0 || bytes == 0)
      fprintf(stderr, "%llu samples of time; ",
              (unsigned long long)s->timing.samples);
    fprintf(stderr, "profile: %s\n", s->path);
  }
  if (s->timing.cramped > 0)
    fprintf(stderr, "profiler: %s: %llu samples of time have no C stack, for this "
            "thread's alternate signal stack has no room for the walk; give it more "
            "(sigaltstack), or none\n", s->path,
            (unsigned long long)s->timing.cramped);
  if (t->error != 0)
    fprintf(stderr, "profiler: %s: %s; %llu samples are lost\n", s->path,
            profile_message(t->error), lost);
  else if (lost > 0 && s->options.announce)
    fprintf(stderr, "profiler: %s: %llu samples are lost\n", s->path, lost);
  return t->error;
}


/* Ends the session of a state that its own thread closes. */
static int finish (Sampler *s) {
  ProfileTotals t;
  Profile *p;
  int e;
  dolock();
  p = s->profile;
  s->profile = NULL;  /* first: a child of a fork frees what it finds here */
  allocated(s, p);
  profile_close(p, &t);
  e = report(s, &t);
  unlock();
  s->tracker.lost += t.lost;
  return e;
}


size_t sampler_holders (Sampler *s, lua_State *L) {
  return (s->profile != NULL) ? tracker_holders(&s->tracker, L) : 0;
}


int sampler_close (Sampler *s, lua_State *L) {
  if (s->profile == NULL && s->tracker.client != NULL) return 0;
  sampler_timeoff(s, L);
  if (s->profile != NULL && s->options.holders) {
    tracker_off(&s->tracker, L);  /* which decides the last fates */
    sampler_holders(s, L);
  }
  tracker_end(&s->tracker, L);
  return (s->profile != NULL) ? finish(s) : 0;
}


void sampler_stats (Sampler *s, lua_State *L, SamplerStats *stats) {
  const Tracker *t = &s->tracker;
  ProfileTotals totals = {0};
  luaN_Memory m;
  luaN_memory(L, &m);
  if (s->profile != NULL) profile_totals(s->profile, &totals);
  stats->open = (s->profile != NULL);
  stats->on = (s->profile != NULL && t->on);
  stats->period = t->gap.period;
  stats->samples = t->samples;
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
}


uint64_t sampler_distance (const Sampler *s, lua_State *L) {
  return s->tracker.on ? luaN_distance(L) : UINT64_MAX;
}

/* }===================================================================== */
