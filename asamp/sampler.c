/* SPDX-License-Identifier: MIT */
/*
** The allocation sampler of one state (sampler.h).
*/
#define _GNU_SOURCE
#include "sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "gap.h"
#include "native.h"
#include "pending.h"
#include "seam.h"
#include "stack.h"

struct Sampler {
  luaN_Sampler seam;		/* what the core calls; ud is the Sampler */
  Sampler *next;		/* all samplers of the process */
  lua_State *L;			/* the state's main thread */
  Profile *profile;		/* the session, or NULL */
  SamplerOptions options;
  char *path;			/* of the session or the last one */
  Gap gap;
  int seeded;			/* the gap's generator has its seed */
  int on;
  uint64_t from;		/* luaN_allocated when sampling went on */
  uint64_t samples, bytes, lost, nanoseconds;
  uint64_t number;		/* of the state, for the profile */
  uint64_t minors, majors;	/* collections at the last record of one */
  uint64_t rss, measured;	/* resident bytes, and when they were read */
  Pending pending;
  Stack stack;
};

#define RECORD_NS	10000000

/* The samplers of all states, for exit and fork. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Sampler *all;
static uint64_t lastnumber;


static uint64_t now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}


static uint64_t rss (void) {
  static int fd = -1;
  char text[128];
  unsigned long long size, resident;
  ssize_t n;
  if (fd < 0) fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  n = pread(fd, text, sizeof(text) - 1, 0);
  if (n <= 0) return 0;
  text[n] = '\0';
  if (sscanf(text, "%llu %llu", &size, &resident) != 2) return 0;
  return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}


/* {== what the core calls ============================================== */

static uint64_t sample (void *ud, lua_State *L, const luaN_Sample *in,
                        uint64_t over) {
  Sampler *s = ud;
  ProfileSample out;
  uint64_t distance;
  int watched;
  if (s->profile == NULL) return GAP_MAX;  /* in the child of a fork */
  out.time = now();
  out.size = in->size;
  out.count = gap_pass(&s->gap, over, &distance);
  out.thread = s->number;
  out.kind = (int)in->kind;
  out.outside = in->outside;
  /* what is no object may be freed by hand */
  watched = (in->owner != in->block && in->kind != LUAN_KTHREAD);
  stack_walk(&s->stack, L, s->options.native, s->profile);
  if (pending_add(&s->pending, in->owner, watched ? in->block : NULL)) {
    if (watched) luaN_watch(L, 1);
    profile_sample(s->profile, &out, 0, s->stack.frames, s->stack.n);
    s->samples += out.count;
  }
  else s->lost += out.count;
  s->nanoseconds += now() - out.time;
  return distance;
}


static int isdead (void *ud, const void *owner) {
  return luaN_isdead((lua_State *)ud, owner);
}


/*
** Collections may come every few microseconds: one that decides nothing is
** only counted when the last record, or reading, is younger than RECORD_NS.
*/
static void decide (void *ud, lua_State *L, int major) {
  Sampler *s = ud;
  luaN_Memory m;
  ProfileCollection c;
  const unsigned char *survived;
  size_t n, watched = s->pending.nwatched;
  uint64_t time;
  if (s->profile == NULL) return;
  time = now();
  if (time - s->measured >= RECORD_NS) {
    s->rss = rss();
    s->measured = time;
  }
  else if (s->pending.n == 0) return;
  luaN_memory(L, &m);
  c.time = time;
  c.inuse = m.inuse;
  c.held = m.held;
  c.rss = s->rss;
  c.major = major;
  c.duration = c.tenured = 0;
  c.state = 0;
  c.minors = m.minors - s->minors - !major;
  c.majors = m.majors - s->majors - major;
  s->minors = m.minors;
  s->majors = m.majors;
  survived = pending_fates(&s->pending, &n, isdead, L);
  luaN_watch(L, -(int)watched);
  profile_collection(s->profile, &c, survived, NULL, n);
  s->nanoseconds += now() - c.time;
  if (!s->on) luaN_setsampler(L, NULL, 0);  /* that was what it stayed for */
}


static void freed (void *ud, lua_State *L, const void *block) {
  Sampler *s = ud;
  if (pending_freed(&s->pending, block)) luaN_watch(L, -1);
}


static void closing (void *ud, lua_State *L) {
  Sampler *s = ud;
  sampler_close(s, L);
}

/* }===================================================================== */


/* {== one sampler a state, all samplers of the process ================= */

/* In the child of a fork: the parent's files are not the child's. */
static void forked (void) {
  Sampler *s;
  pthread_mutex_init(&lock, NULL);
  for (s = all; s != NULL; s = s->next) {
    if (s->profile != NULL) profile_abandon(s->profile);
    s->profile = NULL;
    s->on = 0;
    pending_close(&s->pending);
  }
}


static int finish (Sampler *s);

/* exit() without lua_close: no Lua may run any more, files are finished. */
static void exiting (void) {
  Sampler *s;
  for (s = all; s != NULL; s = s->next) {
    if (s->on) s->bytes += luaN_allocated(s->L) - s->from;
    s->on = 0;
    if (s->profile != NULL) finish(s);
  }
}


static void once (void) {
  pthread_atfork(NULL, NULL, forked);
  atexit(exiting);
}


static int collectsampler (lua_State *L) {
  Sampler **box = lua_touserdata(L, 1);
  Sampler *s = *box, **p;
  if (s == NULL) return 0;
  *box = NULL;
  sampler_close(s, L);
  pthread_mutex_lock(&lock);
  for (p = &all; *p != s; p = &(*p)->next) { }
  *p = s->next;
  pthread_mutex_unlock(&lock);
  pending_close(&s->pending);
  stack_close(&s->stack);
  free(s->path);
  free(s);
  return 0;
}


static Sampler *newsampler (lua_State *L) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  Sampler *s = calloc(1, sizeof(*s));
  if (s == NULL) return NULL;
  if (!stack_open(&s->stack)) {
    free(s);
    return NULL;
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  s->L = lua_tothread(L, -1);
  lua_pop(L, 1);
  s->seam.ud = s;
  s->seam.sample = sample;
  s->seam.decide = decide;
  s->seam.freed = freed;
  s->seam.closing = closing;
  pthread_once(&control, once);
  pthread_mutex_lock(&lock);
  s->number = lastnumber++;
  s->next = all;
  all = s;
  pthread_mutex_unlock(&lock);
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
    if (!luaN_isclosing(L)) *box = newsampler(L);
  }
  box = lua_touserdata(L, -1);
  s = *box;
  lua_pop(L, 1);
  return s;
}

/* }===================================================================== */


/* {== sessions ========================================================= */

/* Does any state of the process write a profile of this path? */
static int inuse (const char *path) {
  const Sampler *s;
  int found = 0;
  pthread_mutex_lock(&lock);
  for (s = all; s != NULL; s = s->next)
    if (s->profile != NULL && strcmp(s->path, path) == 0) found = 1;
  pthread_mutex_unlock(&lock);
  return found;
}


int sampler_open (Sampler *s, const SamplerOptions *o, uint64_t period,
                  char *err, size_t errsize) {
  ProfileConfig c;
  char *path = strdup(o->out);
  if (path == NULL) {
    snprintf(err, errsize, "%s: not enough memory for a profile", o->out);
    return 0;
  }
  if (inuse(path)) {
    snprintf(err, errsize, "cannot write profile '%s': another Lua state of "
             "this process writes its own there; give each another path", path);
    errno = EBUSY;
    free(path);
    return 0;
  }
  memset(&c, 0, sizeof(c));
  c.path = o->out;
  c.format = o->format;
  c.compress = o->compress;
  c.period = period;
  c.random = o->random;
  c.native = o->native;
  c.command = o->command;
  c.resolve = native_name;
  if ((s->profile = profile_open(&c, err, errsize)) == NULL) {
    free(path);
    return 0;
  }
  free(s->path);
  s->path = path;
  s->options = *o;
  s->options.out = s->path;
  s->options.command = NULL;
  s->gap.period = period;
  s->samples = s->bytes = s->lost = s->nanoseconds = 0;
  s->seeded = 0;
  stack_forget(&s->stack);
  return 1;
}


static uint64_t seedof (Sampler *s) {
  uint64_t seed;
  if (s->options.seeded) return s->options.seed;
  if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
    seed = now();
  return seed;
}


void sampler_on (Sampler *s, lua_State *L, uint64_t period, int random) {
  luaN_Memory m;
  if (s->gap.period != period) profile_period(s->profile, period);
  if (s->seeded) {
    s->gap.period = period;
    s->gap.random = random;
  }
  else gap_open(&s->gap, period, random, seedof(s));
  luaN_memory(L, &m);
  s->minors = m.minors;
  s->majors = m.majors;
  s->measured = 0;
  s->seeded = 1;
  s->on = 1;
  s->from = luaN_allocated(L);
  luaN_setsampler(L, &s->seam, gap_first(&s->gap));
  luaN_watch(L, (int)s->pending.nwatched);
}


int sampler_off (Sampler *s, lua_State *L) {
  luaN_Memory m;
  if (!s->on) return 0;
  luaN_setdistance(L, GAP_MAX);  /* no samples from here on */
  s->bytes += luaN_allocated(L) - s->from;
  s->on = 0;
  s->measured = 0;  /* the last record leaves none out */
  luaN_memory(L, &m);
  if (s->pending.n > 0 || m.minors != s->minors || m.majors != s->majors)
    luaN_collect(L);
  if (s->pending.n == 0) luaN_setsampler(L, NULL, 0);
  return 1;
}


void sampler_period (Sampler *s, lua_State *L, uint64_t period) {
  if (s->on)
    luaN_setdistance(L, gap_change(&s->gap, period, luaN_distance(L)));
  else s->gap.period = period;
  profile_period(s->profile, period);
}


/* Closes the file, and says so when the session was to be announced. */
static int finish (Sampler *s) {
  ProfileTotals t;
  Profile *p = s->profile;
  s->profile = NULL;
  pending_close(&s->pending);
  profile_close(p, &t);
  s->lost += t.lost;
  if (s->options.announce) {
    fprintf(stderr, "profiler: %llu samples, one every %llu bytes, of %.1f MB "
            "allocated; profile: %s\n", (unsigned long long)s->samples,
            (unsigned long long)s->gap.period, (double)s->bytes / 1e6, s->path);
  }
  if (t.error != 0)
    fprintf(stderr, "profiler: %s: %s; %llu samples are lost\n", s->path,
            strerror(t.error), (unsigned long long)s->lost);
  return t.error;
}


int sampler_close (Sampler *s, lua_State *L) {
  if (s->on) sampler_off(s, L);
  if (luaN_getsampler(L) == &s->seam) luaN_setsampler(L, NULL, 0);
  return (s->profile != NULL) ? finish(s) : 0;
}


void sampler_stats (Sampler *s, lua_State *L, SamplerStats *stats) {
  luaN_Memory m;
  luaN_memory(L, &m);
  stats->open = (s->profile != NULL);
  stats->on = s->on;
  stats->period = s->gap.period;
  stats->samples = s->samples;
  stats->bytes = s->bytes + (s->on ? luaN_allocated(L) - s->from : 0);
  stats->lost = s->lost;
  stats->minors = m.minors;
  stats->majors = m.majors;
  stats->nanoseconds = s->nanoseconds;
  stats->file = s->path;
}


uint64_t sampler_distance (const Sampler *s, lua_State *L) {
  return s->on ? luaN_distance(L) : UINT64_MAX;
}

/* }===================================================================== */
