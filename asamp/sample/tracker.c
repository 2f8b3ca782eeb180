/* SPDX-License-Identifier: MIT */
/* Opens, starts, stops and closes a tracker (tracker.h). */
#include "tracker.h"
#include "binding.h"
#include "mallocs.h"
#include "trackcopies.h"
#include "trackholders.h"
#include "tracknative.h"
#include "trackoutcomes.h"
#include "tracksample.h"
#include "trackwatch.h"
#include "uncancelled.h"

#include <stdlib.h>
#include <string.h>

/* Unregisters the callbacks from the Lua core if no sampling and no live sample needs them any
   more. */
static void tracker_unregister (Tracker *t, lua_State *L) {
  if (!t->on && !t->points && !t->mallocs && t->pending.n == 0 && t->followed.n == 0 &&
      luaN_getsampler(L) == &t->seam)
    luaN_setsampler(L, NULL, 0);
}

/* {== callbacks of the Lua core ======================================== */

static void decided (Tracker *t, lua_State *L) {
  t->busy++;
  trackoutcomes_report(t, L, 1);
  t->busy--;
  t->nanoseconds += clock_since(t->collection.time);
  if (t->search.child != 0) trackholders_answered(t);
  else if (!t->ending) trackholders_often(t, L);
  /* if sampling is off and this collection decided the last samples, no callback is needed any
     more */
  tracker_unregister(t, L);
}

/* Called by the Lua core after a collection. Reports the collection if it has a record, and calls
   the client's callback 'safe'. The CPU time of the report and of 'safe', which may measure
   resident memory, does not count as the program's. */
static void collected (void *ud, lua_State *L) {
  UNCANCELLED;
  Tracker *t = ud;
  int deciding = t->deciding;
  if (t->client == NULL) return;
  if (deciding) decided(t, L);
  if (t->client != NULL && t->client->safe != NULL && !t->ending) {
    t->busy++;
    t->client->safe(t->ud, L);
    t->busy--;
  }
  if (deciding) trackoutcomes_resume(t);
  else if (!t->idle) trackoutcomes_leave(t, L);
}

static void point (void *ud, lua_State *L) {
  UNCANCELLED;
  Tracker *t = ud;
  t->busy++;
  if (t->client != NULL && t->points) t->client->point(t->ud, L);
  t->busy--;
}

static void closing (void *ud, lua_State *L) {
  UNCANCELLED;
  Tracker *t = ud;
  if (t->client != NULL) t->client->closing(t->ud, L);
}

static void starved (void *ud, lua_State *L) {
  UNCANCELLED;
  Tracker *t = ud;
  if (t->client == NULL || t->client->starved == NULL || t->idle) return;
  t->busy++;
  t->client->starved(t->ud, L);
  t->busy--;
}

static void returned (void *ud, lua_State *L) {
  const Tracker *t = ud;
  (void)L;
  if (t->client != NULL && t->client->returned != NULL) t->client->returned(t->ud);
}

/* }===================================================================== */

static void set (Tracker *t, lua_State *L) {
  t->L = luaN_main(L);
  t->watchlog = TRACKWATCH_FEWLOG;
  t->seam.ud = t;
  t->seam.sample = tracksample_take;
  t->seam.decide = trackoutcomes_decide;
  t->seam.collected = collected;
  t->seam.freed = trackwatch_freed;
  t->seam.resized = trackwatch_resized;
  t->seam.point = point;
  t->seam.closing = closing;
  t->seam.copied = trackcopies_grown;
  t->seam.starved = starved;
  t->seam.returned = returned;
}

int tracker_open (Tracker *t, lua_State *L, int lazy) {
  memset(t, 0, sizeof(*t));
  set(t, L);
  if (lazy) return 1;
  if (trackwatch_ready(t) && stack_ready(&t->stack)) return 1;
  tracker_close(t);
  return 0;
}

void tracker_reopen (Tracker *t, lua_State *L) {
  Stack stack = t->stack;
  uint64_t *watching = t->watching;
  holderssearch_end(&t->search);
  trackwatch_reset(t);
  classes_close(&t->classes);
  births_free(&t->functions);
  account_close(&t->account);
  memset(t, 0, sizeof(*t));
  t->stack = stack;
  t->watching = watching;
  set(t, L);
}

void tracker_idle (Tracker *t, lua_State *L) {
  tracknative_stop(t);
  holderssearch_end(&t->search);
  account_off(&t->account, L);
  t->on = t->points = 0;
  t->idle = 1;
  t->deciding = 0;
  pending_close(&t->pending);
  followed_close(&t->followed);
  if (luaN_getsampler(L) != &t->seam) luaN_setsampler(L, &t->seam, INTERVAL_MAX);
  else luaN_setdistance(L, INTERVAL_MAX);
  luaN_setcopies(L, UINT64_MAX);
}

void tracker_wake (Tracker *t, lua_State *L, uint64_t period, int random, uint64_t seed,
                   int alloc, uint64_t rest) {
  luaN_Memory m;
  tracknative_stop(t);
  holderssearch_end(&t->search);
  pending_close(&t->pending);
  followed_close(&t->followed);
  t->interval.period = period;
  t->interval.random = random;
  tracker_again(t, seed, 0);
  account_reset(&t->account, L, alloc ? rest : 0);
  if (alloc) account_on(&t->account, L);
  else account_off(&t->account, L);
  luaN_memory(L, &m);
  /* The next record of a collection includes the collections and pauses since the previous record.
     This call excludes the collections and pauses of the idle time, in which the state was not
     sampled. */
  if (t->idle) trackoutcomes_skip(t, &m);
  t->measured = 0;
  t->idle = 0;
  t->seeded = 1;
  t->on = alloc;
  t->points = !alloc;
  if (alloc) luaN_setdistance(L, interval_first(&t->interval));
  if (alloc) trackcopies_start(t, L);
}

void tracker_forked (Tracker *t) {
  if (t->mallocs) mallocs_forked();
  t->mallocs = t->busy = 0;
  holderssearch_end(&t->search);
  pending_forget(&t->pending);
  followed_forget(&t->followed);
  t->deciding = 0;
  account_reset(&t->account, t->L, 0);
}

static void tracker_function (void *ud, uint64_t id, const char *name, int line,
                              const char *source);

void tracker_again (Tracker *t, uint64_t seed, int isforked) {
  interval_open(&t->interval, t->interval.period, t->interval.random, seed);
  interval_open(&t->copyinterval, t->interval.period, t->interval.random, ~seed);
  if (isforked) {
    stack_forget(&t->stack);
    births_forget(&t->functions);
    classes_forgetall(&t->classes);
  }
  else {
    births_free(&t->functions);
    stack_start(&t->stack, tracker_function, t);
    classes_start(&t->classes, t->client->class, t->ud);
  }
  t->samples = t->natives = 0;
  __atomic_store_n(&t->unfollowed, 0, __ATOMIC_RELAXED);
  tracker_setlost(t, 0);
}

void tracker_close (Tracker *t) {
  holderssearch_end(&t->search);
  pending_close(&t->pending);
  followed_close(&t->followed);
  stack_close(&t->stack);
  births_free(&t->functions);
  classes_close(&t->classes);
  account_close(&t->account);
  free(t->watching);
}

/* Reports a function to the client and stores it for heap snapshots. */
static void tracker_function (void *ud, uint64_t id, const char *name, int line,
                              const char *source) {
  Tracker *t = ud;
  births_function(&t->functions, id, name, line, source);
  t->client->function(t->ud, id, name, line, source);
}

void tracker_start (Tracker *t, const TrackerClient *client, void *ud,
                    uint64_t period, int native) {
  t->client = client;
  t->ud = ud;
  t->native = native;
  t->interval.period = period;
  t->seeded = 0;
  t->samples = t->natives = t->nanoseconds = 0;
  t->stopped = 0;
  account_reset(&t->account, t->L, 0);
  tracker_setlost(t, 0);
  __atomic_store_n(&t->unfollowed, 0, __ATOMIC_RELAXED);
  t->copying = 0;
  t->holdersevery = 0;
  t->holdersgrown = SIZE_MAX;
  holderssearch_end(&t->search);
  births_free(&t->functions);
  stack_start(&t->stack, tracker_function, t);
  classes_start(&t->classes, client->class, ud);
}

void tracker_abandon (Tracker *t) {
  if (t->mallocs) mallocs_forked();
  t->mallocs = t->busy = 0;
  account_off(&t->account, t->L);
  t->client = NULL;
  t->on = t->points = t->deciding = 0;
  holderssearch_end(&t->search);
  pending_forget(&t->pending);
  followed_forget(&t->followed);
}

/* Runs a last minor collection, which decides the survival of all undecided samples. */
static void last (Tracker *t, lua_State *L) {
  t->measured = 0;  /* so that the collection is reported even if it decides no sample, and its
                       record has newly read resident bytes */
  t->classes.final = t->ending = 1;
  luaN_collect(L);
  t->classes.final = t->ending = 0;
}

/* Stops the sampling of native memory and reports the last samples. */
static void endnative (Tracker *t, lua_State *L) {
  if (!t->mallocs) return;
  tracknative_drain(t);
  t->mallocs = 0;
  mallocs_end(t);
  tracker_lose(t, mallocs_lost());
  last(t, L);
}

void tracker_finish (Tracker *t, lua_State *L) {
  int off = !tracker_off(t, L);
  endnative(t, L);
  if (off && t->followed.nfreed > 0) last(t, L);
}

void tracker_leave (Tracker *t, lua_State *L) {
  if (luaN_getsampler(L) == &t->seam) luaN_setsampler(L, NULL, 0);
  tracknative_forget(t);
  pending_close(&t->pending);
  followed_close(&t->followed);
  tracker_abandon(t);
}

void tracker_end (Tracker *t, lua_State *L) {
  tracker_finish(t, L);
  tracker_leave(t, L);
}

/* Sets the number of allocated bytes until the next sample to 'distance'. Registers the tracker's
   callbacks with the state if needed; the next collection is then reported even if it decides no
   sample. */
static void tracker_enter (Tracker *t, lua_State *L, uint64_t distance) {
  if (luaN_getsampler(L) != &t->seam) {
    luaN_Memory m;
    luaN_memory(L, &m);
    trackoutcomes_skip(t, &m);
    t->measured = 0;
    t->deciding = 0;
    classes_forget(&t->classes);
  }
  luaN_setsampler(L, &t->seam, distance);
  if (t->nwatching > 0) luaN_watch(L, t->watching, t->watchlog);
}

void tracker_on (Tracker *t, lua_State *L, uint64_t period, int random,
                 uint64_t seed) {
  if (t->seeded) {
    t->interval.period = period;
    t->interval.random = random;
  }
  else {
    interval_open(&t->interval, period, random, seed);
    interval_open(&t->copyinterval, period, random, ~seed);
  }
  t->seeded = 1;
  t->on = 1;
  account_on(&t->account, L);
  tracker_enter(t, L, interval_first(&t->interval));
  trackcopies_start(t, L);
}

void tracker_stop (Tracker *t) {
  t->stopped = luaN_processor(clock_now());
}

int tracker_off (Tracker *t, lua_State *L) {
  luaN_Memory m;
  if (!t->on) return 0;
  luaN_setdistance(L, INTERVAL_MAX);  /* no more allocation samples */
  luaN_setcopies(L, UINT64_MAX);
  account_off(&t->account, L);
  t->on = 0;
  luaN_memory(L, &m);
  if (t->pending.n > 0 || t->followed.nfreed > 0 || m.minors != t->minors ||
      m.majors != t->majors || t->measured != 0)  /* not 0: a collection was recorded, and
                                                     the program's CPU time since then must be
                                                     reported */
    last(t, L);
  tracker_unregister(t, L);
  return 1;
}

void tracker_points (Tracker *t, lua_State *L, int on) {
  t->points = on;
  if (!on) tracker_unregister(t, L);
  else if (luaN_getsampler(L) != &t->seam) tracker_enter(t, L, INTERVAL_MAX);
}

void tracker_period (Tracker *t, lua_State *L, uint64_t period) {
  if (t->on)
    luaN_setdistance(L, interval_change(&t->interval, period, luaN_distance(L)));
  else t->interval.period = period;
  if (t->on) trackcopies_start(t, L);
}

int tracker_mallocs (Tracker *t, uint64_t period, uint64_t seed) {
  if (!mallocs_start(period, seed, tracknative_take, t)) return 0;
  t->mallocs = period;
  t->reaping = TRACKNATIVE_MINREAPED;
  t->deaths = mallocs_deaths();
  if (luaN_getsampler(t->L) != &t->seam) tracker_enter(t, t->L, INTERVAL_MAX);
  return 1;
}

uint64_t tracker_bytes (const Tracker *t, lua_State *L) {
  return account_bytes(&t->account, L);
}
