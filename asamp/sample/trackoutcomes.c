/* SPDX-License-Identifier: MIT */
/* Determines outcomes of samples and records of collections (trackoutcomes.h). */
#include "trackoutcomes.h"
#include "binding.h"
#include "clock.h"
#include "mallocs.h"
#include "mappings.h"
#include "tracknative.h"
#include "trackwatch.h"
#include "uncancelled.h"

#include <string.h>

/* ns. A collection that decides no sample and finds no death has a record only if this time has
   passed since the last measurement of resident memory. */
#define RECORD_NS	10000000
#define RESIDENT_NS	100000000	/* ns; time for which a reading of the process's resident
                                           bytes is reused, because a reading takes as long as ten
                                           small collections */
#define RESIDENT_PART	16	/* if the heap's reserved bytes have changed by more than 1/16
                                   since the last reading, it is reused only for RECORD_NS */
#define DEATHS_NS	100000000	/* ns; shortest time between two searches for freed blocks
                                           if there are FOLLOWED_MOST live samples. With fewer
                                           samples, the time is proportionally shorter. */

/* Returns an address that differs from thread to thread. */
static const void *thisthread (void) {
  static __thread char own;
  return &own;
}

void trackoutcomes_resume (Tracker *t) {
  t->reported = luaN_processor(clock_now());
  t->reportedon = thisthread();
}

void trackoutcomes_leave (Tracker *t, lua_State *L) {
  luaN_Memory m;
  luaN_memory(L, &m);
  t->since = m.began;
  t->sinceprocessor = m.processor;
  t->reported += clock_between(m.processor, luaN_processor(clock_now()));
}

void trackoutcomes_report (Tracker *t, lua_State *L, int over) {
  ProfileCollection *c = &t->collection;
  luaN_Memory m;
  int k;
  t->deciding = 0;
  luaN_memory(L, &m);
  c->time = over ? m.began + m.pause : clock_now();
  c->duration = clock_between(t->since, c->time);
  t->reportedpauses += c->duration;
  c->mutator = (t->reportedon == thisthread())
                 ? clock_between(t->reported, (t->ending && t->stopped != 0) ? t->stopped
                                              : t->sinceprocessor) : 0;
  c->processor = clock_between(t->sinceprocessor, luaN_processor(c->time));
  t->sinceprocessor += c->processor;
  t->reported = t->sinceprocessor;
  for (k = 0; k < LOOKED_COUNT; k++) {
    c->looked[k] = m.looked[k] - t->sincelooked[k];
    t->sincelooked[k] = m.looked[k];
  }
  c->inuse = m.inuse;
  c->held = m.held;
  c->rss = t->rss;
  c->tenured = m.tenured - t->tenured;
  c->state = (int)m.phase;
  c->label = luaN_label(luaN_running(L));
  if (!c->major) c->slices += m.slices - t->slices;
  t->slices = m.slices;
  t->tenured = m.tenured;
  t->since = c->time;
  t->client->collection(t->ud, c, &t->fates, &t->dead);
}

void trackoutcomes_skip (Tracker *t, const luaN_Memory *m) {
  t->minors = m->minors;
  t->majors = m->majors;
  t->tenured = m->tenured;
  t->planned = m->planned;
  t->charged = m->charged;
  t->pauses = m->pauses;
  t->slices = m->slices;
  t->reportedpauses = 0;
  trackoutcomes_resume(t);
}

/* Returns the total length in ns of the collector's pauses since the last call, except those in
   records of collections. */
static uint64_t leftpauses (Tracker *t, const luaN_Memory *m) {
  uint64_t all = m->pauses - t->pauses, reported = t->reportedpauses;
  t->pauses = m->pauses;
  t->reportedpauses = 0;
  return (all > reported) ? all - reported : 0;
}

static int isdead (void *ud, const void *owner) {
  return mallocs_isowner(owner) ? mallocs_isdead(owner)
                                : luaN_isdead(((Tracker *)ud)->L, owner);
}

/* Returns 1 if the owner is the slot of a native block that was freed. Used in minor collections,
   which do not find out which old Lua objects are dead. */
static int isdeadnative (void *ud, const void *owner) {
  (void)ud;
  return mallocs_isowner(owner) && mallocs_isdead(owner);
}

static uint32_t classof (void *ud, const void *owner) {
  Tracker *t = ud;
  return mallocs_isowner(owner) ? 0 : classes_of(&t->classes, t->L, owner);
}

/* Decides which samples in t->pending survive, and returns the outcomes. Adds the survivors to
   t->followed if the client wants to know when they die. */
static PendingFates decidefates (Tracker *t, const PendingJudge *judge) {
  PendingFates f = pending_fates(&t->pending, judge);
  size_t i;
  for (i = 0; i < f.n && t->client->follows; i++) {
    const PendingSample *s = &f.samples[i];
    if (!f.survived[i]) continue;
    if (followed_add(&t->followed, s->owner, s->block))
      t->followed.samples[t->followed.n - 1].birth = s->birth;
    else {
      if (mallocs_isowner(s->owner)) mallocs_forget(s->owner);
      f.survived[i] = 2;
      __atomic_store_n(&t->unfollowed, t->unfollowed + 1, __ATOMIC_RELAXED);
    }
  }
  return f;
}

/* Removes the dead samples from t->followed, and returns which they were. In a major collection,
   checks all samples. In a minor one, finds only samples whose block was freed explicitly. Searches
   in minor collections are rare (DEATHS_NS), and take at most a hundredth of the program's time. */
static FollowedDeaths decidedeaths (Tracker *t, int major, uint64_t time,
                                    const PendingJudge *judge) {
  FollowedDeaths none = {NULL, 0};
  const PendingJudge native = {t, isdeadnative, NULL};
  int freed = (t->followed.nfreed > 0 ||
               ((t->mallocs || t->ending) && mallocs_deaths() != t->deaths)) &&
              (t->ending || time - t->checked >=
                            (uint64_t)t->followed.n * DEATHS_NS / FOLLOWED_MOST);
  if (!major && !freed) return none;
  t->deaths = mallocs_deaths();
  t->checked = time;
  return followed_deaths(&t->followed, major ? judge : &native);
}

/* Sets t->rss to the resident bytes of the process. Reuses a previous reading that is at most
   RESIDENT_NS old. The limit is RECORD_NS in each of these cases: t->measured is 0; the collection
   is major; the heap's reserved bytes have changed by more than 1 / RESIDENT_PART. 'time': present
   time, ns. */
static void measureresident (Tracker *t, const luaN_Memory *m, int major, uint64_t time) {
  uint64_t changed = (m->held > t->heldthen) ? m->held - t->heldthen : t->heldthen - m->held;
  if (t->measured == 0 || major || changed > t->heldthen / RESIDENT_PART) {
    t->rss = mappings_recentrss(time, RECORD_NS);
    if (mappings_rsstime() >= time) t->heldthen = m->held;
  }
  else t->rss = mappings_recentrss(time, RESIDENT_NS);
}

/* Decides which samples survive a collection ('major' 1: a major or full one), and prepares the
   record of the collection for the client. 'time': present time, ns. A collection that decides no
   sample, finds no death and follows no recorded collection in the same pause has no record in two
   cases:
   - the client wants neither samples nor calls at safepoints, and sampling is not being switched
     off
   - less than RECORD_NS have passed since the last measurement of resident memory */
static void decideat (Tracker *t, lua_State *L, int major, uint64_t time) {
  PendingJudge judge = {t, isdead, classof};
  luaN_Memory m;
  /* 1: a minor collection in the same pause has a record, which is not reported yet */
  const int second = t->deciding;
  int quiet;
  luaN_memory(L, &m);
  if (second) {  /* reports the minor collection, before its record is overwritten */
    trackoutcomes_report(t, L, 0);
    /* this collection, a major one, has a record even if it decides no sample, because the minor
       collection in the same pause has one */
    t->deciding = 1;
  }
  else {
    t->since = m.began;
    t->sinceprocessor = m.processor;
    memset(t->sincelooked, 0, sizeof(t->sincelooked));
  }
  if (major) classes_forgetdead(&t->classes, L);
  tracknative_drain(t);
  t->reaping = TRACKNATIVE_MINREAPED;
  t->fates = decidefates(t, &judge);
  t->dead = decidedeaths(t, major, time, &judge);
  trackwatch_clean(t, L);
  quiet = (t->fates.n == 0 && t->dead.n == 0 && !t->deciding);
  if (quiet && !t->on && !t->points && !t->ending) {
    trackoutcomes_skip(t, &m);
    return;
  }
  if (time - t->measured >= RECORD_NS) {
    measureresident(t, &m, major, time);
    t->measured = time;
  }
  else if (quiet) return;
  t->deciding = 1;
  t->collection.major = major;
  t->collection.planned = m.planned - t->planned;
  t->collection.charged = m.charged - t->charged;
  t->planned = m.planned;
  t->charged = m.charged;
  t->collection.left = second ? 0 : leftpauses(t, &m);
  t->collection.slices = second ? 0 : m.slices - t->slices;  /* CPU time of the steps of major
                                                                collections since the last record */
  if (!second) t->slices = m.slices;
  t->collection.minors = m.minors - t->minors - !major;
  t->collection.majors = m.majors - t->majors - major;
  t->minors = m.minors;
  t->majors = m.majors;
}

/* Returns 1 if this minor collection needs no decision and no record: the client wants samples or
   calls at safepoints, sampling is not being switched off, no sample is undecided, and less than
   RECORD_NS have passed since the last measurement of resident memory. A later collection then
   finds the survivors that were freed. */
static int isquiet (const Tracker *t, lua_State *L) {
  luaN_Memory m;
  if (t->pending.n > 0 || t->deciding || t->ending || !(t->on || t->points))
    return 0;
  if (t->mallocs && mallocs_waiting(t)) return 0;
  luaN_memory(L, &m);
  return m.began - t->measured < RECORD_NS;
}

void trackoutcomes_decide (void *ud, lua_State *L, int major) {
  UNCANCELLED;
  Tracker *t = ud;
  uint64_t time;
  if (t->client == NULL || t->idle || (!major && isquiet(t, L))) return;
  time = clock_now();
  t->busy++;
  decideat(t, L, major, time);
  t->busy--;
  t->nanoseconds += clock_since(time);
}
