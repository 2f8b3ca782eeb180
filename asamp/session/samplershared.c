/* SPDX-License-Identifier: MIT */
/* Attaches, moves and detaches states of a shared profile (samplershared.h). */
#define _GNU_SOURCE
#include "samplershared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "binding.h"
#include "clock.h"
#include "complain.h"
#include "descriptor.h"
#include "orphans.h"
#include "owner.h"
#include "trackholders.h"
#include "tracksample.h"
#include "uncancelled.h"

#define SPARES		16	/* largest number of samplers kept for later states */
/* When a state is closed, the option 'holders' records the references that keep sampled objects
   alive, unless the state joined its profile less than this time (ns) earlier. */
#define OLD_NS		1000000000

static Sampler *spare;		/* Samplers of closed states, for reuse. */
static unsigned nspare;

/* Starts samples of native memory if requested. If out of memory, the state has no such samples. */
static void startmallocs (Sampler *s) {
  if (s->options.mallocs > 0)
    (void)tracker_mallocs(&s->tracker, s->options.mallocs,
                          s->options.seeded ? s->options.seed : 0);
}

Sampler *sampler_attached (lua_State *L) {
  Sampler *s;
  if (__atomic_load_n(&samplers.shared, __ATOMIC_RELAXED) == NULL) return NULL;
  s = (Sampler *)tracksample_of(L);  /* the tracker is the sampler's first field */
  return (s != NULL && s->shared != NULL) ? s : NULL;
}

/* Adds the state to the current profile. Returns 0 if there is none. Call it with the lock of the
   list of samplers held: otherwise sampler_endshared, which ends the profile, could miss the
   state. */
static int samplershared_start (Sampler *s) {
  Profile *p = s->shared->profile(0);
  if (p == NULL) return 0;
  s->state.profile = p;
  s->state.id = (uint32_t)s->tracker.number;
  s->state.depth = 0;
  s->pid = getpid();
  heldpaths_free(&s->heldpaths);
  s->named = 0;
  s->since = s->ratetime = clock_now();
  s->ratecpu = clock_read(CLOCK_PROCESS_CPUTIME_ID);
  s->ratesamples = s->ratedue = 0;
  __atomic_store_n(&s->ended, 0, __ATOMIC_RELAXED);
  samplers.past.states += (uint64_t)!s->counted;
  s->counted = 1;
  profile_start(&s->state);
  return 1;
}

static Sampler *samplershared_take (lua_State *L) {
  Sampler *s;
  samplerlist_lock();
  s = spare;
  if (s != NULL) {
    spare = s->next;
    nspare--;
  }
  samplerlist_unlock();
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

/* Returns a copy of the rates, which another thread may change. */
static SamplerRate rateof (const SamplerShared *with) {
  SamplerRate r;
  r.alloc = __atomic_load_n(&with->rates.alloc, __ATOMIC_RELAXED);
  r.period = __atomic_load_n(&with->rates.period, __ATOMIC_RELAXED);
  r.timens = __atomic_load_n(&with->rates.timens, __ATOMIC_RELAXED);
  r.most = __atomic_load_n(&with->rates.most, __ATOMIC_RELAXED);
  return r;
}

/* Starts time samples on the calling thread, which runs the state. */
static void starttime (Sampler *s) {
  char err[256];
  static int reported;
  const uint64_t timens = rateof(s->shared).timens;
  if (timens == 0) return;
  timer_keep();
  descriptor_hold();
  if (timing_start(&s->timing, s->tracker.L, timens, s->shared->clock,
                   s->options.native, MOMENTS_FEW, err, sizeof(err)))
    tracker_points(&s->tracker, s->tracker.L, 1);
  else {
    samplerlist_untimed(s, err);
    if (!__atomic_exchange_n(&reported, 1, __ATOMIC_RELAXED)) complain("%s", err);
  }
  descriptor_release();
}

int samplershared_attach (lua_State *L, const SamplerShared *with, const TrackerClient *client) {
  const SamplerRate rate = rateof(with);
  Profile *p;
  Sampler *s;
  /* Registers the exit handler first, because the handler must finish the profile made below. */
  samplerlist_watch();
  owner_prime();  /* finds the bounds of this thread's stack, which samplerlist_exiting uses */
  __atomic_store_n(&samplers.shared, with, __ATOMIC_RELAXED);
  p = with->profile(1);
  if ((p == NULL && !with->isidle()) || luaN_getsampler(L) != NULL ||
      (s = samplershared_take(L)) == NULL)
    return 0;
  s->shared = with;
  s->options = with->options;
  /* Clears the numbers of an earlier state that used this sampler. */
  memset(&s->seen, 0, sizeof(s->seen));
  memset(&s->leftout, 0, sizeof(s->leftout));
  resident_join(&s->resident);
  /* precedes samplerlist_enlist, after which other threads may read the numbers of the tracker */
  tracker_start(&s->tracker, client, s, rate.period, with->options.native);
  trackholders_every(&s->tracker, with->options.holdersevery);
  tracker_copies(&s->tracker, with->options.copies);
  samplerlist_lock();
  samplerlist_enlist(s);
  s->counted = 0;
  if (p != NULL && !samplershared_start(s)) p = NULL;
  samplerlist_unlock();
  if (p == NULL) {
    tracker_idle(&s->tracker, L);
    samplerlist_publish(s);
    return 1;
  }
  if (rate.alloc)
    tracker_on(&s->tracker, L, rate.period, with->options.random,
               seedof(s));
  /* without allocation samples, the tracker still reports collections and the end of the state */
  else tracker_points(&s->tracker, L, 1);
  startmallocs(s);
  starttime(s);
  samplerlist_publish(s);
  return 1;
}

void samplershared_follow (Sampler *s) {
  if (s->timing.timer == NULL && s->forked) starttime(s);
  if (s->timing.timer == NULL || timer_mine(s->timing.timer)) return;
  UNCANCELLED;
  timing_stop(&s->timing);
  tracker_lose(&s->tracker, timing_drop(&s->timing));
  starttime(s);
}

/* Bytes that a state allocated, and samples that it lost, after its profile had ended. */
typedef struct Unreported {
  uint64_t bytes, lost;
} Unreported;

/* Emits the totals of a state that leaves its profile and, if 'isclosed' is 1, the state's end.
   Returns an Unreported whose fields are 0. But if the profile has ended already (s->ended), emits
   nothing, and returns the state's bytes and lost samples since the end of the profile. Lock
   held. */
static Unreported emitend (Sampler *s, int isclosed) {
  ProfileLeft left;
  Unreported since = {0, 0};
  uint64_t bytes = seen_get(&s->seen, SEEN_BYTES), lost = tracker_lost(&s->tracker);
  seen_left(&s->seen, &left);
  if (s->ended) {
    if (bytes > s->reportedbytes) since.bytes = bytes - s->reportedbytes;
    if (lost > s->reportedlost) since.lost = lost - s->reportedlost;
    return since;
  }
  if (isclosed) {
    bytes = samplerlist_emitsets(s, &s->state, bytes);
    if (orphans_aredue(s->state.profile, clock_now())) orphans_emit(s->state.profile);
    profile_leave(&s->state, bytes, &left, lost,
                  orphans_adopt(&s->state, &s->tracker));
  }
  else samplerlist_emittotals(s, &s->state, lost);
  return since;
}

/* Removes the state from its profile and adds the state's numbers to samplers.past, the totals of
   the process. If the profile ended before this call, returns the bytes allocated and the samples
   lost since the end of the profile, which no profile contains. */
static Unreported samplershared_settle (Sampler *s, int isclosed) {
  Unreported unreported = {0, 0};
  samplerlist_publish(s);
  samplerlist_lock();
  if (s->state.profile != NULL) {
    unreported = emitend(s, isclosed);
    seen_past(s->name, &s->seen, SEEN_SAMPLES, SEEN_BYTES);
    samplers.past.samples += s->tracker.samples;
    samplers.past.timesamples += s->timing.samples;
    samplers.past.bytes += tracker_bytes(&s->tracker, s->tracker.L);
    samplerlist_pastsets(s, ACCOUNT_WHOLE, tracker_bytes(&s->tracker, s->tracker.L));
    samplers.past.lost += tracker_lost(&s->tracker) - unreported.lost;
    samplers.past.natives += s->tracker.natives;
    samplers.past.unfollowed += tracker_unfollowed(&s->tracker);
  }
  s->state.profile = NULL;
  s->timing.samples = 0;
  samplerlist_unlock();
  return unreported;
}

/* Moves the state to the current profile of the process, in a forked child ('isforked' 1) or after
   process_switch. The state's functions, classes and paths of references are emitted again. Returns
   0 if there is no profile. */
static int move (Sampler *s, int isforked) {
  UNCANCELLED;
  const SamplerShared *with = s->shared;
  const SamplerRate rate = rateof(with);
  Unreported unreported;
  uint64_t lost;
  int isthere;
  /* After a fork, does not stop the timer: it may be the child's own timer, not the parent's. */
  if (!isforked) timing_stop(&s->timing);
  lost = isforked ? 0 : timing_drop(&s->timing);
  unreported = samplershared_settle(s, 0);
  heldpaths_free(&s->heldpaths);
  if (isforked) tracker_again(&s->tracker, seedof(s), 1);
  else {  /* the new profile receives the bytes and lost samples since the end of the old one */
    samplerlist_lock();
    samplers.past.bytes -= rate.alloc ? unreported.bytes : 0;
    if (rate.alloc) samplerlist_pastsets(s, ACCOUNT_REST, unreported.bytes);
    samplerlist_unlock();
    tracker_wake(&s->tracker, s->tracker.L, rate.period, with->options.random,
                 seedof(s), rate.alloc, unreported.bytes);
    tracker_setlost(&s->tracker, unreported.lost + lost);
  }
  samplerlist_publish(s);  /* replaces the published numbers, which are for the old profile */
  samplerlist_lock();
  isthere = samplershared_start(s);
  samplerlist_unlock();
  if (!isthere) return 0;
  if (s->timing.timer == NULL) starttime(s);
  startmallocs(s);
  samplerlist_publish(s);
  return 1;
}

int samplershared_current (Sampler *s) {
  Profile *p = s->shared->profile(1);
  if (p == NULL || (p != s->state.profile && !move(s, s->forked)))
    return s->shared->isidle() ? -1 : 0;
  /* In a forked child, starts the control thread at the first sample. The next collection would
     also start it, but may never come. */
  if (s->forked) s->shared->runs();
  s->forked = 0;
  return 1;
}

/* Reports the deaths of orphans, samples of closed states (orphans.h), to the profile of the open
   state 's', if a report is due. */
static void emitorphans (const Sampler *s) {
  Profile *p = s->state.profile;
  if (!orphans_aredue(p, clock_now())) return;
  samplerlist_lock();
  if (!s->ended) orphans_emit(p);
  samplerlist_unlock();
}

static void countpause (lua_State *L) {
  uint64_t longest = 0;  /* a failed exchange below stores the longest pause here */
  luaN_Memory m;
  int k = 0;
  luaN_memory(L, &m);
  while (k < SAMPLER_PAUSES - 1 && m.pause >= (UINT64_C(16000) << k)) k++;
  __atomic_fetch_add(&samplers.pauses.bins[k], 1, __ATOMIC_RELAXED);
  while (m.pause > longest &&
         !__atomic_compare_exchange_n(&samplers.pauses.longest, &longest, m.pause, 1,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) ;
}

void samplershared_safe (void *ud, lua_State *L) {
  Sampler *s = ud;
  SamplerRequest *request;
  SamplerRate rate;
  samplerlist_measure(s, L, 0);
  samplerlist_publish(s);
  if (s->shared == NULL) {
    samplerlist_restrain(s, L);
    return;
  }
  countpause(L);
  s->shared->runs();
  if ((s->forked ? s->shared->isidle() : s->shared->profile(0) != s->state.profile) &&
      samplershared_current(s) < 0) {
    s->forked = 0;
    timing_stop(&s->timing);
    (void)timing_drop(&s->timing);
    (void)samplershared_settle(s, 0);
    tracker_idle(&s->tracker, L);
  }
  if (s->state.profile != NULL) {
    samplershared_follow(s);
    rate = rateof(s->shared);
    s->period = rate.period;
    s->options.rate = rate.most;
    samplerlist_restrain(s, L);
    emitorphans(s);
  }
  request = __atomic_exchange_n(&s->request, NULL, __ATOMIC_ACQ_REL);
  if (request != NULL) request->f(request, L);
  if (__atomic_load_n(&samplers.request, __ATOMIC_RELAXED) == NULL) return;
  request = __atomic_exchange_n(&samplers.request, NULL, __ATOMIC_ACQ_REL);
  if (request != NULL) request->f(request, L);
}

int sampler_request (uint64_t id, SamplerRequest *request) {
  Sampler *s;
  SamplerRequest *none = NULL, **to = (id == UINT64_MAX) ? &samplers.request : NULL;
  int result = 0;
  samplerlist_lock();
  for (s = samplers.all; s != NULL && to == NULL; s = s->next)
    if (s->shared != NULL && s->tracker.number == id) to = &s->request;
  if (to != NULL)
    result = __atomic_compare_exchange_n(to, &none, request, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE) ? 1 : -1;
  samplerlist_unlock();
  return result;
}

/* Replaces 'request' at *from by NULL. Returns 0 if *from is another request or NULL. */
static int withdraw (SamplerRequest **from, SamplerRequest *request) {
  return __atomic_compare_exchange_n(from, &request, NULL, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

int sampler_withdraw (SamplerRequest *request) {
  Sampler *s;
  int found;
  samplerlist_lock();
  found = withdraw(&samplers.request, request);
  for (s = samplers.all; s != NULL && !found; s = s->next) found = withdraw(&s->request, request);
  samplerlist_unlock();
  return found;
}

unsigned sampler_states (SamplerRow *rows, unsigned most) {
  const Sampler *s;
  unsigned n = 0, i;
  samplerlist_lock();
  for (s = samplers.all; s != NULL; s = s->next) {
    const SamplerRow row = {s->tracker.number, seen_get(&s->seen, SEEN_INUSE),
      seen_get(&s->seen, SEEN_MINORS) + seen_get(&s->seen, SEEN_MAJORS), seen_text(s->name)};
    if (s->shared == NULL) continue;
    for (i = n; i > 0 && rows[i - 1].collections < row.collections; i--)
      if (i < most) rows[i] = rows[i - 1];
    if (i < most) rows[i] = row;
    if (n < most) n++;
  }
  samplerlist_unlock();
  return n;
}

/* Adds the mark to the oldest state that reports to profile 'p'. If no state does, adds the mark to
   the oldest attached state. */
int sampler_markshared (Profile *p, const char *name, const char *value) {
  const Sampler *s;
  ProfileState state = {p, 0, 0, 1};
  int found = 0, started = 0;
  samplerlist_lock();
  for (s = samplers.all; s != NULL; s = s->next) {
    int isthere = s->shared != NULL && s->state.profile == p;
    if (s->shared == NULL || (started && !isthere)) continue;
    state.id = (uint32_t)s->tracker.number;
    found = 1;
    started = isthere;
  }
  samplerlist_unlock();
  if (found) profile_mark(&state, clock_now(), name, strlen(name), value, strlen(value));
  return found;
}

int sampler_endshared (Profile *p) {
  Sampler *s;
  ProfileTotals t;
  samplerlist_lock();
  for (s = samplers.all; s != NULL; s = s->next) {
    /* a copy, because only the state's own thread may change s->state.depth */
    ProfileState state = {p, 0, 0, 1};
    if (s->shared == NULL || s->state.profile != p) continue;
    state.id = s->state.id;
    s->reportedlost = tracker_lost(&s->tracker);
    s->reportedbytes = samplerlist_emittotals(s, &state, s->reportedlost);
    __atomic_store_n(&s->ended, 1, __ATOMIC_RELEASE);
  }
  orphans_emit(p);
  orphans_forget(p);
  samplerlist_unlock();
  profile_end(p, &t);
  samplerlist_lock();
  samplers.past.lost += t.lost;
  event_add(&samplers.past.missing, &t.missing);
  samplerlist_unlock();
  if (t.error != 0) sampler_loss(t.error, t.all, 0, 0, profile_path(p));
  return t.error;
}

int sampler_usesshared (const Profile *p) {
  const Sampler *s;
  int yes = 0;
  samplerlist_lock();
  for (s = samplers.all; s != NULL && !yes; s = s->next) yes = (s->state.profile == p);
  samplerlist_unlock();
  return yes;
}

/* Called for a state that is being closed. If the state's profile has ended, moves the state to the
   current profile, which receives the bytes allocated since the end of the old profile. */
static void follow (Sampler *s) {
  const Profile *p = s->shared->profile(0);
  if (!s->forked && s->state.profile != NULL && p != NULL && p != s->state.profile)
    (void)move(s, 0);
}

void samplershared_leave (Sampler *s, lua_State *L) {
  SamplerRequest *request;
  tracker_stop(&s->tracker);
  follow(s);
  timing_stop(&s->timing);
  if (s->state.profile != NULL) {
    if (s->timing.moments.buffer[0] != NULL) {
      samplerlist_point(s, L);
      tracker_lose(&s->tracker, timing_drop(&s->timing));
    }
    if (s->options.holders && clock_since(s->since) >= OLD_NS) {
      /* Decides which of the last samples have survived, so that sampler_holders includes these
         survivors. */
      tracker_off(&s->tracker, L);
      sampler_holders(s, L);
    }
    samplerlist_measure(s, L, 1);
  }
  resident_leave(&s->resident);
  s->tracker.points = 0;
  tracker_finish(&s->tracker, L);
  (void)samplershared_settle(s, 1);
  tracker_leave(&s->tracker, L);
  luaN_setsampler(L, NULL, 0);
  samplerlist_lock();
  seen_past(s->name, &s->seen, SEEN_TENURED, SEEN_PAUSES);
  s->name = SEEN_UNNAMED;
  samplerlist_delist(s);
  s->forked = 0;
  free(s->script);
  s->script = NULL;
  heldpaths_free(&s->heldpaths);
  request = __atomic_exchange_n(&s->request, NULL, __ATOMIC_ACQ_REL);
  s->timing.samples = s->timing.inticks = s->timing.inpoints = s->timing.cramped = 0;
  if (nspare < SPARES) {
    s->next = spare;
    spare = s;
    nspare++;
    s = NULL;
  }
  samplerlist_unlock();
  if (request != NULL) request->f(request, NULL);
  if (s == NULL) return;
  timing_close(&s->timing);
  tracker_close(&s->tracker);
  free(s);
}

void sampler_shared (SharedTotals *t, SharedHeaps *h) {
  SeenNamed rows[SEEN_NAMES];
  unsigned i, k, n = sampler_named(rows);
  *h = (SharedHeaps){.longest = __atomic_load_n(&samplers.pauses.longest, __ATOMIC_RELAXED)};
  for (k = 0; k < n; k++) {
    h->open += rows[k].open;
    for (i = 0; i < SEENS; i++) h->sums[i] += rows[k].sums[i];
  }
  samplerlist_lock();
  samplerlist_addup(t);
  samplerlist_unlock();
  for (k = 0; k < SAMPLER_PAUSES; k++)
    h->bins[k] = __atomic_load_n(&samplers.pauses.bins[k], __ATOMIC_RELAXED);
}

unsigned sampler_named (SeenNamed rows[SEEN_NAMES]) {
  const Sampler *s;
  unsigned n;
  samplerlist_lock();
  n = seen_named(rows);
  for (s = samplers.all; s != NULL; s = s->next)
    if (s->shared != NULL) seen_add(&rows[s->name], &s->seen, s->state.profile != NULL);
  samplerlist_unlock();
  return n;
}
