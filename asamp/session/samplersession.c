/* SPDX-License-Identifier: MIT */
/* Opens and closes the session (sampler.h) of a state that has its own profile. */
#define _GNU_SOURCE
#include "samplershared.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "binding.h"
#include "clock.h"
#include "complain.h"
#include "descriptor.h"
#include "dying.h"
#include "labels.h"
#include "mallocs.h"
#include "native.h"
#include "trackholders.h"
#include "uncancelled.h"

/* {== callbacks of the tracker ========================================== */

static void onfunction (void *ud, uint64_t id, const char *name, int linedefined,
                        const char *source) {
  Sampler *s = ud;
  /* The functions of a stack are reported innermost first, so 'script' keeps the outermost. */
  if (s->shared != NULL && !s->named) {
    free(s->script);
    s->script = strdup(source);
  }
  profile_function(&s->state, id, name, linedefined, source);
}

/* Gives a state of a shared profile its name, once: the script of the state's first sample. Sets
   s->name to the number of this name (seen.h). Call it on the state's thread. */
static void givename (Sampler *s) {
  if (s->shared == NULL || s->name != SEEN_UNNAMED) return;
  samplerlist_lock();
  s->name = seen_name(s->script);
  samplerlist_unlock();
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
  if (s->shared != NULL) samplerlist_publish(s);
  else {  /* for an exit on another thread: copies the two numbers that allocation samples change.
             samplerlist_publish copies all numbers at the next collection or safepoint. */
    seen_put(&s->seen, SEEN_SAMPLES, s->tracker.samples);
    seen_put(&s->seen, SEEN_BYTES, tracker_bytes(&s->tracker, s->tracker.L));
  }
}

static void ontimesample (void *ud, const ProfileTime *in, size_t shared,
                          const ProfileFrame *frames, size_t n) {
  profile_time(&((Sampler *)ud)->state, in, shared, frames, n);
}

static int onroom (void *ud, uint64_t count) {
  Sampler *s = ud;
  if (s->shared != NULL) {
    int now = samplershared_current(s);
    if (now <= 0) return now;
    samplershared_follow(s);
  }
  return profile_offer(s->state.profile, count);
}

/* Emits a collection, except in two cases: the shared profile has ended, or writing is stalled
   (profile_room) and the collection has neither decided a sample nor found a death. In these cases
   adds the collection to 'leftout', which the next emitted collection includes. */
static void oncollection (void *ud, const ProfileCollection *c,
                          const PendingFates *f, const FollowedDeaths *d) {
  Sampler *s = ud;
  ProfileCollection all = *c, *out = &s->leftout;
  int hasended = __atomic_load_n(&s->ended, __ATOMIC_ACQUIRE);
  if (s->state.profile == NULL) return;  /* a forked child that has reported nothing yet */
  all.minors += out->minors;
  all.majors += out->majors;
  all.left += out->left;
  all.slices += out->slices;
  all.mutator += out->mutator;
  all.tenured += out->tenured;
  all.planned += out->planned;
  all.charged += out->charged;
  if (hasended || (f->n == 0 && d->n == 0 && !profile_room(s->state.profile))) {
    out->minors = all.minors + (c->major == 0);
    out->majors = all.majors + (c->major != 0);
    out->left = all.left + c->duration;
    out->slices = all.slices;
    out->mutator = all.mutator;
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
  if (!heldpaths_emit(&s->heldpaths, &s->state, h)) return;
  profile_holders(&s->state, h->ids, h->n);
  profile_walk(&s->state, h->start, h->nanoseconds);
}

static void onclosing (void *ud, lua_State *L) {
  Sampler *s = ud;
  if (s->shared != NULL) samplershared_leave(s, L);
  else sampler_close(s, L);
}

/* Returns 1 if a sample of native memory may be reported now. Returns 0 in a forked child, where
   s->state.profile may still be the parent's. */
static int onready (void *ud) {
  const Sampler *s = ud;
  return s->state.profile != NULL && s->pid == getpid() && profile_ready(s->state.profile);
}

#define STARVED_NS	1000000000	/* shortest time between reports that memory ran out, ns */
/* STARVED_NS for a flight recorder, ns. Longer, because each report writes a file. */
#define RINGSTARVED_NS	60000000000

/* Reports a failed allocation by a mark with two numbers: how many allocations have failed, and the
   bytes in use. Then flushes the file or dumps the flight recorder, because the Lua error may end
   the program. Reports at most once in STARVED_NS (a flight recorder: RINGSTARVED_NS). */
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
    complain("memory ran out; the flight recorder was written to '%s'", path);
}

static void onpoint (void *ud, lua_State *L) {
  Sampler *s = ud;
  if (s->shared != NULL) {
    samplershared_follow(s);
    if (s->forked && timing_pending(&s->timing)) (void)samplershared_current(s);
  }
  samplerlist_point(s, L);
}

/* Publishes the bytes that the state has allocated. The Lua core calls this function after each
   protected call by the host program (SE4). For speed, publishes no other number: only the bytes
   change without samples. */
static void onreturned (void *ud) {
  Sampler *s = ud;
  seen_put(&s->seen, SEEN_BYTES, tracker_bytes(&s->tracker, s->tracker.L));
}

static const TrackerClient client = {
  onfunction, onclass, onroom, onsample, ontimesample, oncollection, onpoint, onclosing, 1,
  onready, onholders, samplershared_safe, onstarved, onreturned
};

/* }===================================================================== */

/* {== the sampler of a state ============================================ */

int sampler_attach (lua_State *L, const SamplerShared *with) {
  return samplershared_attach(L, with, &client);
}

static int collectsampler (lua_State *L) {
  Sampler **box = lua_touserdata(L, 1);
  Sampler *s = *box;
  if (s == NULL) return 0;
  *box = NULL;
  sampler_close(s, L);
  samplerlist_lock();
  samplerlist_delist(s);
  samplerlist_unlock();
  timing_close(&s->timing);
  tracker_close(&s->tracker);
  heldpaths_free(&s->heldpaths);
  free(s->path);
  free(s);
  return 0;
}

static Sampler *newsampler (lua_State *L) {
  Sampler *s = calloc(1, sizeof(*s));
  if (s == NULL) return NULL;
  if (!tracker_open(&s->tracker, L, 0)) {
    free(s);
    return NULL;
  }
  samplerlist_watch();
  samplerlist_lock();
  samplerlist_enlist(s);
  samplerlist_unlock();
  return s;
}

Sampler *sampler_of (lua_State *L) {
  static const char key;  /* the address of this variable is the sampler's key in the registry */
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

Sampler *sampler_tostart (lua_State *L) {
  return luaN_isclosing(L) ? NULL : sampler_of(L);
}

/* }===================================================================== */

/* {== sessions ========================================================= */

static void samplersession_nomemory (const char *path, char *err, size_t errsize) {
  snprintf(err, errsize, "cannot write profile '%s': %s", path, strerror(ENOMEM));
  errno = ENOMEM;
}

/* Prints that the file cannot be written, for example because the disk is full, or can be written
   again. Runs on the writer thread. */
static void onstalled (const char *path, int error, uint64_t lost) {
  if (error == 0)
    complain("%s: there is space again, and writing continues; %llu samples were lost (mark "
             "'samples lost'). To write less, give a larger alloc=, a smaller time=, or max= with "
             "keep=", path, (unsigned long long)lost);
  else complain("%s: %s; samples are lost until the file can be written "
                "again", path, strerror(error));
}

/* Returns 1 if a session of this process already writes the file, so that no other session may
   write it (SS2). Lock held. */
static int inuse (const struct stat *file) {
  const Sampler *s;
  struct stat shareds;
  Profile *p = (samplers.shared != NULL) ? samplers.shared->profile(0) : NULL;
  if (p != NULL) {
    profile_file(p, &shareds);
    if (shareds.st_dev == file->st_dev && shareds.st_ino == file->st_ino) return 1;
  }
  for (s = samplers.all; s != NULL; s = s->next)
    if (s->state.profile != NULL && s->shared == NULL && s->file.st_dev == file->st_dev &&
        s->file.st_ino == file->st_ino)
      return 1;
  return 0;
}

/* Opens the file of a session. If the path of the opened file is not the requested path, prints
   the path and why the requested one was not used. Returns NULL with the reason in 'err' on
   failure. */
static Profile *samplersession_openfile (Sampler *s, const ProfileConfig *c, char *err,
                                         size_t errsize) {
  Profile *p;
  char *path;
  samplerlist_lock();
  p = profile_open(c, err, errsize);
  path = (p != NULL) ? strdup(profile_path(p)) : NULL;
  if (path != NULL) {
    profile_file(p, &s->file);
    free(s->path);
    s->path = path;
    s->reported = 0;
    s->state.profile = p;
    s->state.id = (uint32_t)s->tracker.number;
    s->state.depth = 0;
    if (!c->made && profile_elsewhere(p) != NULL)
      complain("'%s' %s; this profile is written to '%s'", c->path, profile_elsewhere(p), path);
  }
  else if (p != NULL) {
    profile_close(p, NULL);
    samplersession_nomemory(c->path, err, errsize);
  }
  samplerlist_unlock();
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
  dying_watch(DYING_THEN, samplerlist_exiting);
  samplerlist_lock();
  p = profile_open(&c, err, errsize);
  samplerlist_unlock();
  return p;
}

/* Does the work of sampler_open, which delays fatal signals (dying_hold) until opensession
   returns. */
static int opensession (Sampler *s, const SamplerOptions *o, uint64_t period, char *err,
                        size_t errsize) {
  ProfileConfig c;
  if (s->shared != NULL) {
    if (s->state.profile == NULL)
      snprintf(err, errsize, "cannot write profile '%s': this process profiles all its Lua states "
                             "on request (ASAMP=listen); start the process without ASAMP", o->out);
    else
      snprintf(err, errsize, "cannot write profile '%s': ASAMP already profiles all Lua states of "
                             "this process, in '%s'; read that profile, or start the process "
                             "without ASAMP", o->out, profile_path(s->state.profile));
    errno = EBUSY;
    return 0;
  }
  if (s->tracker.client != NULL) {
    snprintf(err, errsize, "cannot write profile '%s': the program that runs this Lua state "
                           "already samples that state (asamp.h); stop one of the two", o->out);
    errno = EBUSY;
    return 0;
  }
  if (o->mallocs > 0 && !mallocs_there(err, errsize)) {
    errno = ENOTSUP;
    return 0;
  }
  configure(&c, o, period);
  dying_watch(DYING_THEN, samplerlist_exiting);
  memset(&s->seen, 0, sizeof(s->seen));
  if (samplersession_openfile(s, &c, err, errsize) == NULL) return 0;
  s->starved = 0;
  s->ratetime = s->resident.policy.started = clock_now();
  s->ratecpu = clock_read(CLOCK_PROCESS_CPUTIME_ID);
  s->ratesamples = s->ratedue = 0;
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
  s->forks = __atomic_load_n(&samplers.forks, __ATOMIC_RELAXED);
  tracker_start(&s->tracker, &client, s, period, o->native);
  trackholders_every(&s->tracker, o->holdersevery);
  if (o->holders) trackholders_growing(&s->tracker);
  tracker_copies(&s->tracker, o->copies);
  if (o->mallocs > 0 && !tracker_mallocs(&s->tracker, o->mallocs, o->seeded ? o->seed : 0)) {
    samplersession_nomemory(o->out, err, errsize);
    sampler_close(s, s->tracker.L);
    errno = ENOMEM;
    return 0;
  }
  return 1;
}

int sampler_open (Sampler *s, const SamplerOptions *o, uint64_t period,
                  char *err, size_t errsize) {
  UNCANCELLED;
  sigset_t before;
  int ok, error;
  dying_hold(&before);
  ok = opensession(s, o, period, err, errsize);
  error = errno;
  dying_release(&before);
  errno = error;
  return ok;
}

Tracker *sampler_tracker (Sampler *s) {
  return &s->tracker;
}

void sampler_on (Sampler *s, lua_State *L, uint64_t period, int random) {
  if (s->tracker.interval.period != period) profile_period(&s->state, period);
  s->period = period;
  tracker_on(&s->tracker, L, period, random,
             s->options.seeded ? s->options.seed : sampler_seed());
}

int sampler_off (Sampler *s, lua_State *L) {
  return (s->state.profile != NULL) ? tracker_off(&s->tracker, L) : 0;
}

int sampler_timeon (Sampler *s, lua_State *L, uint64_t ns, TimerClock clock,
                    char *err, size_t errsize) {
  UNCANCELLED;
  int ok, wall = (clock == TIMER_WALL);
  descriptor_hold();  /* the timer, libunwind and the C library must not open descriptors 0 to 2 */
  ok = timing_start(&s->timing, s->tracker.L, ns, clock, s->options.native,
                    MOMENTS_WORDS, err, errsize);
  descriptor_release();
  if (!ok) {
    samplerlist_untimed(s, err);
    return 0;
  }
  tracker_points(&s->tracker, L, 1);
  if (ns != s->timeperiod || wall != s->wall)
    profile_timeperiod(&s->state, ns, wall);
  s->timeperiod = ns;
  s->wall = wall;
  return 1;
}

int sampler_timeoff (Sampler *s, lua_State *L) {
  UNCANCELLED;
  if (s->timing.timer == NULL) return 0;
  timing_stop(&s->timing);
  samplerlist_point(s, L);
  tracker_lose(&s->tracker, timing_drop(&s->timing));
  profile_timeperiod(&s->state, 0, s->wall);
  s->timeperiod = 0;
  tracker_points(&s->tracker, L, 0);
  return 1;
}

void sampler_period (Sampler *s, lua_State *L, uint64_t period) {
  s->period = period;
  tracker_period(&s->tracker, L, period);
  profile_period(&s->state, period);
}

int sampler_mark (Sampler *s, const char *name, size_t namelen,
                  const char *value, size_t valuelen) {
  UNCANCELLED;
  /* if profile_mark fails because the shared profile has ended, tries the profile that has replaced
     it */
  while (s->shared == NULL ? s->state.profile != NULL : samplershared_current(s) > 0) {
    Profile *p = s->state.profile;
    if (profile_mark(&s->state, clock_now(), name, namelen, value, valuelen)) return 1;
    if (s->shared == NULL || p == s->shared->profile(0)) break;
  }
  return 0;
}

static int samplersession_finish (Sampler *s) {
  ProfileTotals t;
  Profile *p;
  int e;
  samplerlist_publish(s);
  samplerlist_lock();
  samplerlist_emittotals(s, &s->state, tracker_lost(&s->tracker));
  p = s->state.profile;
  /* Clears the field first: a child that is forked during profile_close would free the profile,
     too. */
  s->state.profile = NULL;
  profile_close(p, &t);
  e = samplerlist_report(s, &t);
  samplerlist_unlock();
  tracker_lose(&s->tracker, t.lost);
  return e;
}

int sampler_dump (Sampler *s, const char *to, char *path, size_t pathsize, char *err,
                  size_t errsize) {
  Profile *p = s->state.profile;
  if (p == NULL)
    snprintf(err, errsize, "no profile is open; call profiler.enable{ring = \"5m\"} first");
  else if (to != NULL && !profile_isring(p))
    snprintf(err, errsize, "this profile is written to the file '%s', and only a flight recorder "
                           "(option ring) can be written to another file; call dump without a "
                           "path", profile_path(p));
  else return profile_dump(p, to, 0, path, pathsize, err, errsize);
  return 0;
}

int sampler_close (Sampler *s, lua_State *L) {
  UNCANCELLED;
  if (s->state.profile == NULL && s->tracker.client != NULL) return 0;
  tracker_stop(&s->tracker);
  sampler_timeoff(s, L);
  if (s->state.profile != NULL) {
    tracker_off(&s->tracker, L);  /* decides whether the last samples have survived */
    samplerlist_measure(s, L, 1);
    if (s->options.holders) sampler_holders(s, L);
    if (s->options.ending != NULL) s->options.ending(s, L);
  }
  resident_leave(&s->resident);
  tracker_end(&s->tracker, L);
  return (s->state.profile != NULL) ? samplersession_finish(s) : 0;
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
  stats->lost = tracker_lost(t) + totals.lost + s->timing.moments.lost +
                s->timing.away;
  stats->unfollowed = t->unfollowed;
  stats->timing = (s->timing.timer != NULL);
  stats->timesamples = s->timing.samples;
  stats->minors = m.minors;
  stats->majors = m.majors;
  stats->nanoseconds = t->nanoseconds + s->timing.inticks + s->timing.inpoints;
  stats->file = s->path;
  stats->error = totals.error;
  if (s->shared != NULL)
    stats->file = (s->state.profile != NULL) ? profile_path(s->state.profile) : NULL;
}

uint64_t sampler_distance (const Sampler *s, lua_State *L) {
  return s->tracker.on ? luaN_distance(L) : UINT64_MAX;
}

/* }===================================================================== */
