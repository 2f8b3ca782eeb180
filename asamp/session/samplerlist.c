/* SPDX-License-Identifier: MIT */
/* The list of samplers, its lock, and handlers of exit and fork (samplerlist.h). */
#define _GNU_SOURCE
#include "samplerlist.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "binding.h"
#include "clock.h"
#include "complain.h"
#include "decimal.h"
#include "dying.h"
#include "bounds.h"
#include "labels.h"
#include "mallocs.h"
#include "orphans.h"
#include "owner.h"
#include "trackholders.h"
#include "uncancelled.h"
#include "workers.h"

struct Samplers samplers;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Nonzero while this OS thread holds the lock or waits for the lock. */
static __thread volatile int locking __attribute__((tls_model("initial-exec")));
static uint64_t lastnumber;
/* Decides when the shared profile receives a snapshot of resident memory. */
static ResidentPolicy pictures;

void samplerlist_lock (void) {
  locking = 1;
  pthread_mutex_lock(&lock);
}

void samplerlist_unlock (void) {
  pthread_mutex_unlock(&lock);
  locking = 0;
}

void samplerlist_publish (Sampler *s) {
  const Tracker *t = &s->tracker;
  Seen *to = &s->seen;
  luaN_Memory m;
  luaN_memory(t->L, &m);
  seen_put(to, SEEN_SAMPLES, t->samples);
  seen_put(to, SEEN_TIMESAMPLES, s->timing.samples);
  seen_put(to, SEEN_NATIVES, t->natives);
  seen_put(to, SEEN_BYTES, tracker_bytes(t, t->L));
  seen_put(to, SEEN_INUSE, m.inuse);
  seen_put(to, SEEN_HELD, m.held);
  resident_held(&s->resident, m.held);
  seen_put(to, SEEN_TENURED, m.tenured - to->parents[SEEN_TENURED]);
  seen_put(to, SEEN_MINORS, m.minors - to->parents[SEEN_MINORS]);
  seen_put(to, SEEN_MAJORS, m.majors - to->parents[SEEN_MAJORS]);
  seen_put(to, SEEN_PAUSES, m.pauses - to->parents[SEEN_PAUSES]);
  seen_put(to, SEEN_CHUNKS, t->stack.functions.lumpedchunks);
  seen_put(to, SEEN_FUNCTIONS, t->stack.functions.lumped);
  seen_put(to, SEEN_CLASSES, t->classes.lumped);
  seen_put(to, SEEN_PATHS, s->heldpaths.left);
  seen_put(to, SEEN_STEPS, s->heldpaths.cut);
}

/* Number of marks that report a thread whose time is not sampled. Lock held. */
static uint64_t nuntimed;
/* Reason given in the first mark that reports a thread whose time is not sampled. Lock held. */
static char untimedwhy[256];

void samplerlist_untimed (Sampler *s, const char *why) {
  static __thread const Profile *marked __attribute__((tls_model("initial-exec")));
  char value[320];
  if (s->state.profile == NULL || (s->shared != NULL && s->state.profile == marked)) return;
  if (s->shared != NULL) marked = s->state.profile;
  snprintf(value, sizeof(value), "thread %ld: %s", (long)syscall(SYS_gettid), why);
  profile_mark(&s->state, clock_now(), "time is not sampled", 19, value, strlen(value));
  samplerlist_lock();
  if (nuntimed++ == 0) snprintf(untimedwhy, sizeof(untimedwhy), "%s", why);
  samplerlist_unlock();
}

uint64_t sampler_untimed (char why[256]) {
  uint64_t n;
  samplerlist_lock();
  n = nuntimed;
  memcpy(why, untimedwhy, sizeof(untimedwhy));
  samplerlist_unlock();
  return n;
}

void samplerlist_point (void *ud, lua_State *L) {
  Sampler *s = ud;
  if (s->state.profile == NULL) return;
  timing_point(&s->timing, L, &s->tracker);
  samplerlist_publish(s);
}

#define RATE_NS		500000000	/* ns of CPU time between two checks of the sampling rate */
/* The rate is also checked after RATE_IDLE * RATE_NS of wall time, because a process may use little
   CPU time. */
#define RATE_IDLE	10
/* Smallest number of samples that makes a check of the rate due before RATE_NS have passed. With 32
   samples, the error of the rate is about a fifth. */
#define RATE_STAGE	32

/*
** Adapts the sampling period so that a state takes at most s->options.rate allocation samples per
** second of the process's CPU time, or of wall time if that is less. If the state has taken more
** since the last check, doubles the period, once or several times. If the state has taken less than
** a quarter of this limit, halves the period, but not below s->period.
**
** A check is due after RATE_NS of CPU time, RATE_IDLE * RATE_NS of wall time, or 'stage' samples.
** 'stage' is half the number of samples allowed per second, but at least RATE_STAGE.
*/
void samplerlist_restrain (Sampler *s, lua_State *L) {
  const uint64_t rate = s->options.rate, stage = rate / 2 > RATE_STAGE ? rate / 2 : RATE_STAGE;
  uint64_t now, wall, cpu, n, period = s->tracker.interval.period;
  const uint64_t taken = s->tracker.samples - s->ratesamples;
  double most;
  if (rate == 0 || !s->tracker.on || s->state.profile == NULL) return;
  now = clock_now();
  if (taken < stage && now < s->ratedue) return;
  wall = clock_between(s->ratetime, now);
  cpu = clock_between(s->ratecpu, clock_read(CLOCK_PROCESS_CPUTIME_ID));
  s->ratedue = now + RATE_NS - (cpu < RATE_NS ? cpu : 0);
  if (taken < stage && cpu < RATE_NS && wall < RATE_IDLE * (uint64_t)RATE_NS) return;
  most = (double)rate * (double)(cpu < wall ? cpu : wall) / 1e9;
  s->ratetime = now;
  s->ratecpu += cpu;
  s->ratesamples = s->tracker.samples;
  for (n = taken; n >= stage && (double)n > most && period < INTERVAL_MAX / 2; n /= 2) period *= 2;
  if (4 * (double)taken < most && period > s->period) period /= 2;
  if (period == s->tracker.interval.period) return;
  tracker_period(&s->tracker, L, period);
  profile_period(&s->state, period);
}

void samplerlist_measure (Sampler *s, lua_State *L, int last) {
  resident_measure(&s->resident, L, &s->tracker, s->state.profile != NULL ? &s->state : NULL,
                s->shared != NULL ? &pictures : &s->resident.policy,
                !last ? 0 : s->shared != NULL ? RESIDENT_STATE : RESIDENT_PROFILE);
}

size_t sampler_holders (Sampler *s, lua_State *L) {
  UNCANCELLED;
  return (s->state.profile != NULL) ? trackholders_now(&s->tracker, L) : 0;
}

uint64_t sampler_seed (void) {
  uint64_t seed;
  if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
    seed = clock_now();
  return seed;
}

void samplerlist_enlist (Sampler *s) {
  s->tracker.number = lastnumber++;
  s->before = NULL;
  s->next = samplers.all;
  __atomic_store_n(&samplers.all, s, __ATOMIC_RELEASE);
  if (s->next != NULL) s->next->before = s;
}

void samplerlist_delist (Sampler *s) {
  if (s->before != NULL) s->before->next = s->next;
  else samplers.all = s->next;
  if (s->next != NULL) s->next->before = s->before;
}

/* {== end of the process, fork =========================================== */

/* Writes a number of bytes to 'text' as "56 bytes" or "1.5 MiB". Returns 'text'. */
static const char *amount (char text[24], uint64_t bytes) {
  static const char units[] = "KMGTPE";
  char number[16];
  double n = (double)bytes;
  int unit = -1;
  while (n >= 1024 * 0.99995 && units[unit + 1] != '\0') {
    n /= 1024;
    unit++;
  }
  if (unit < 0) snprintf(text, 24, "%d byte%s", (int)n, n == 1 ? "" : "s");
  else {
    decimal_print(number, sizeof(number), n == (double)(int)n ? "%.0f" : "%.1f", n);
    snprintf(text, 24, "%s %ciB", number, units[unit]);
  }
  return text;
}

static void emitset (void *ud, uint32_t set, uint64_t bytes) {
  if (set != 0) profile_labelled(ud, set, bytes);
}

uint64_t samplerlist_emitsets (Sampler *s, ProfileState *state, uint64_t all) {
  return account_each(&s->tracker.account, ACCOUNT_REPORT, all, emitset, state);
}

uint64_t samplerlist_emittotals (Sampler *s, ProfileState *state, uint64_t lost) {
  ProfileLeft left;
  uint64_t bytes = samplerlist_emitsets(s, state, seen_get(&s->seen, SEEN_BYTES));
  seen_left(&s->seen, &left);
  if (bytes > 0) profile_allocated(state, bytes);
  profile_left(state, &left);
  profile_lost(state->profile, lost);
  return bytes;
}

/* {== bytes by label ===================================================== */

/* Bytes of the states that have left the shared profile, by label set. */
static uint64_t pastsets[LABELS_MOST];
static uint32_t npastsets;	/* number of used elements of 'pastsets'; the others are 0 */

static void addset (void *ud, uint32_t set, uint64_t bytes) {
  ((uint64_t *)ud)[set < LABELS_MOST ? set : 0] += bytes;
}

static void takeset (void *ud, uint32_t set, uint64_t bytes) {
  ((uint64_t *)ud)[set < LABELS_MOST ? set : 0] -= bytes;
}

static void addpast (void *ud, uint32_t set, uint64_t bytes) {
  if (set < LABELS_MOST && set >= npastsets) npastsets = set + 1;
  addset(ud, set, bytes);
}

void samplerlist_pastsets (Sampler *s, AccountPart part, uint64_t all) {
  account_each(&s->tracker.account, part, all, part == ACCOUNT_WHOLE ? addpast : takeset, pastsets);
}

uint32_t sampler_sharedsets (SamplerSet *rows, uint32_t most) {
  static uint64_t sums[LABELS_MOST];
  Sampler *s;
  uint32_t set, n = 0;
  samplerlist_lock();
  memcpy(sums, pastsets, sizeof(sums));
  for (s = samplers.all; s != NULL; s = s->next)
    if (s->shared != NULL && s->state.profile != NULL)
      account_each(&s->tracker.account, ACCOUNT_WHOLE, seen_get(&s->seen, SEEN_BYTES), addset,
                   sums);
  for (set = 0; set < LABELS_MOST && n < most; set++)
    if (sums[set] > 0) {
      rows[n].set = set;
      rows[n++].bytes = sums[set];
    }
  samplerlist_unlock();
  return n;
}

uint32_t sampler_setcount (const Sampler *s) {
  return s->tracker.account.n + 1;
}

typedef struct Rows {
  SamplerSet *rows;
  uint32_t n;
} Rows;

static void addsetrow (void *ud, uint32_t set, uint64_t bytes) {
  Rows *r = ud;
  r->rows[r->n].set = set;
  r->rows[r->n++].bytes = bytes;
}

uint64_t sampler_sets (Sampler *s, lua_State *L, SamplerSet *rows, uint32_t *n) {
  Rows r = {rows, 0};
  uint64_t all = account_each(&s->tracker.account, ACCOUNT_WHOLE, tracker_bytes(&s->tracker, L),
                              addsetrow, &r);
  *n = r.n;
  return all;
}

/* }===================================================================== */

static uint64_t lastsets (const ProfileLast *last,
                          void (*f) (void *ud, uint32_t set, uint64_t bytes),
                          void *ud) {
  return account_each(last->setsud, ACCOUNT_REST, last->bytes, f, ud);
}

/* Stores in *last the final data of the next state, for profile_exit. Returns 0 if there is no next
   state. 'ud' points to a Sampler *, which this function advances. Before the first call, that
   Sampler * must be the sampler of a session with its own profile, or NULL for all states of the
   shared profile. */
static int nextlast (void *ud, ProfileLast *last) {
  Sampler **at = ud, *s = *at;
  static Sampler done;
  if (s == &done) return 0;
  if (s == NULL || s->shared != NULL) {
    for (s = (s == NULL) ? samplers.all : s->next; s != NULL; s = s->next)
      if (s->shared != NULL && s->state.profile != NULL) break;
    if (s == NULL) return 0;
  }
  last->nruns = 0;
  last->state = &s->state;
  last->bytes = seen_get(&s->seen, SEEN_BYTES);
  seen_left(&s->seen, &last->left);
  last->sets = lastsets;
  last->setsud = &s->tracker.account;
  last->lost = tracker_lost(&s->tracker);
  *at = (s->shared != NULL) ? s : &done;
  return 1;
}

/* Argument 'ud' of nextshared. That function stores first the final data of the states that share a
   profile, then the deaths of orphans (samples whose state was closed, orphans.h). 'locked' 0: the
   lock could not be taken, so the list of orphans may be inconsistent, and no deaths are stored. */
typedef struct Exiting {
  Sampler *at;
  Profile *p;
  int locked, started;
} Exiting;

static int nextshared (void *ud, ProfileLast *last) {
  Exiting *e = ud;
  return nextlast(&e->at, last) || (e->locked && orphans_last(e->p, &e->started, last));
}

void samplerlist_addup (SharedTotals *t) {
  Sampler *s;
  *t = samplers.past;
  for (s = samplers.all; s != NULL; s = s->next) {
    if (s->shared == NULL || s->state.profile == NULL) continue;
    t->samples += seen_get(&s->seen, SEEN_SAMPLES);
    t->timesamples += seen_get(&s->seen, SEEN_TIMESAMPLES);
    t->bytes += seen_get(&s->seen, SEEN_BYTES);
    t->lost += tracker_lost(&s->tracker);
    t->natives += seen_get(&s->seen, SEEN_NATIVES);
    t->unfollowed += tracker_unfollowed(&s->tracker);
  }
}

/* Returns a - b, or 0 if the difference is negative. It can be negative because a running thread
   reports a sample to the profile before it publishes the new number of samples. */
static uint64_t less (uint64_t a, uint64_t b) {
  return a > b ? a - b : 0;
}

void sampler_summary (const SharedTotals *t, uint64_t period, int random, int timed,
                      int skips, const char *path) {
  char all[24], each[24], every[64] = "", text[160] = "", times[64] = "", states[40] = "";
  char natives[64] = "";
  const EventTally *m = &t->missing;
  const uint64_t nsamples = less(t->samples, m->samples - m->natives);
  const uint64_t nnatives = less(t->natives, m->natives);
  const uint64_t ntimes = less(t->timesamples, m->timesamples);
  if (skips && nsamples + nnatives + ntimes == 0) return;
  if (period > 0)
    snprintf(every, sizeof(every), ", one every %s%s,", amount(each, period),
             random ? " on average" : "");
  if (t->bytes > 0)  /* allocations were sampled */
    snprintf(text, sizeof(text), "%llu sample%s%s of %s allocated; ", (unsigned long long)nsamples,
             nsamples == 1 ? "" : "s", every, amount(all, t->bytes));
  if (t->natives > 0)
    snprintf(natives, sizeof(natives), "%llu sample%s of native memory; ",
             (unsigned long long)nnatives, nnatives == 1 ? "" : "s");
  if (t->timesamples == 0 && t->bytes == 0 && t->natives == 0 && !timed)
    snprintf(times, sizeof(times), "0 samples; ");
  else if (t->timesamples > 0 || (t->bytes == 0 && t->natives == 0))
    snprintf(times, sizeof(times), "%llu time sample%s; ", (unsigned long long)ntimes,
             ntimes == 1 ? "" : "s");
  if (t->states > 1)
    snprintf(states, sizeof(states), "%llu Lua states; ", (unsigned long long)t->states);
  complain("%s%s%s%sprofile: %s", text, natives, times, states, path);
}

void sampler_loss (int error, uint64_t lost, int summary, int timed, const char *path) {
  const char *verb = lost == 1 ? " is" : "s are";
  char why[256];
  profile_reason(error, why, sizeof(why));
  if (error != 0) complain("%s: %s; %llu sample%s lost", path, why, (unsigned long long)lost, verb);
  else if (lost > 0 && summary)
    complain("%s: %llu sample%s lost: %s", path, (unsigned long long)lost, verb, timed
             ? "C code ran for long or blocked a signal, or memory was short; use a smaller time="
             : "memory was short or a queue full; raise ulimit -v, or increase alloc= or malloc=");
}

int samplerlist_report (Sampler *s, const ProfileTotals *t) {
  uint64_t lost = tracker_lost(&s->tracker) + t->lost;
  if (s->reported) return t->error;
  s->reported = 1;
  if (s->options.summary) {
    const Seen *n = &s->seen;
    SharedTotals sum = {1, seen_get(n, SEEN_SAMPLES), seen_get(n, SEEN_TIMESAMPLES),
                        seen_get(n, SEEN_BYTES), 0, seen_get(n, SEEN_NATIVES),
                        tracker_unfollowed(&s->tracker), t->missing};
    sampler_summary(&sum, s->options.rate > 0 ? 0 : s->tracker.interval.period,
                    s->tracker.interval.random,
                    s->options.timeperiod > 0, t->error != 0 || s->options.summary == 2, s->path);
    if (__atomic_load_n(&samplers.forks, __ATOMIC_RELAXED) != s->forks)
      complain("the program forked; its child processes are not profiled; to profile them, too, "
               "set the variable ASAMP");
  }
  if (s->timing.cramped > 0)
    complain("%s: %llu time samples have no C stack, because the thread's alternate signal stack "
             "is too small; make that stack larger, or remove it (sigaltstack)", s->path,
             (unsigned long long)s->timing.cramped);
  sampler_loss(t->error, lost, s->options.summary, s->options.timeperiod > 0, s->path);
  return t->error;
}

/* Counts a fork, in the parent. */
static void samplerlist_forks (void) {
  __atomic_fetch_add(&samplers.forks, 1, __ATOMIC_RELAXED);
}

/* Detaches all states from the parent's profiles, in a forked child. */
static void samplerlist_forked (void) {
  Sampler *s, *before = NULL;
  unsigned threads = 0;
  int isshared = 0;
  pthread_mutex_init(&lock, NULL);
  luaN_processor(0);  /* reads the child's CPU clock, which has started at 0 */
  for (s = samplers.all; s != NULL; before = s, s = s->next) {
    s->before = before;  /* repairs the link, which another thread may have been changing */
    resident_forget(&s->resident);
    seen_restart(&s->seen);
    s->counted = 0;
    s->request = NULL;  /* the requesting thread does not exist in the child */
    isshared |= (s->shared != NULL);
    if (s->state.profile == NULL && !s->forked) continue;
    if (s->shared != NULL) tracker_forked(&s->tracker);
    if (s->state.profile == NULL) continue;
    timing_forked(&s->timing);
    if (s->shared == NULL) {
      tracker_abandon(&s->tracker);
      profile_abandon(s->state.profile);
    }
    s->forked = 1;
    /* Detaches the state from the parent's profile. If that was the shared profile (one file for
       all states of the process), the state joins the child's shared profile later
       (samplershared_current). Otherwise its session has ended. */
    s->state.profile = NULL;
  }
  orphans_forked();
  dying_forked();
  resident_forked();
  memset(&pictures, 0, sizeof(pictures));
  if (samplers.shared != NULL) threads = samplers.shared->forked();
  /* Makes each state reach a safepoint, where its time sampling starts. */
  for (s = samplers.all; s != NULL; s = s->next)
    if (s->shared != NULL && s->forked && samplers.shared->rates.timens > 0)
      luaN_request(s->tracker.L);
  seen_forked();
  memset(&samplers.pauses, 0, sizeof(samplers.pauses));
  nuntimed = 0;
  memset(&samplers.past, 0, sizeof(samplers.past));
  memset(pastsets, 0, npastsets * sizeof(*pastsets));
  npastsets = 0;
  samplers.request = NULL;
  workers_park(isshared ? threads : 0);
}

/* Longest wait for the lock at exit if this thread holds it, ms. */
#define LOCK_MS		500
/* Longest wait for the lock at exit if another thread holds it, ms. */
#define OTHER_MS	10000

/* Takes the lock at exit. Returns 0 after LOCK_MS or OTHER_MS, because a signal handler that calls
   exit() may have interrupted the code that holds the lock. The caller then reads the list without
   the lock. */
static int trylock (void) {
  int i, n = locking ? LOCK_MS : OTHER_MS;
  for (i = 0; i < n; i++) {
    if (pthread_mutex_trylock(&lock) == 0) return 1;
    dying_nap();
  }
  return 0;
}

/* Publishes the numbers of the states whose protected calls this OS thread is running. */
static void publishmine (void) {
  const void *mine[16];
  unsigned n = owner_states(__builtin_frame_address(0), mine, 16), i;
  Sampler *s;
  for (s = samplers.all; s != NULL && n > 0; s = s->next)
    for (i = 0; i < n; i++)
      if (s->tracker.L == mine[i] && s->state.profile != NULL) samplerlist_publish(s);
}

/* Emits the final data of all states and ends all profiles. May run in a signal handler that
   interrupted any code, so it runs no Lua code and frees nothing: other threads may still take
   samples. */
void samplerlist_exiting (void) {
  Sampler *s, *from;
  ProfileTotals t;
  Profile *p;
  sigset_t ticks, before;
  int locked;
  if (!dying_start()) return;
  /* blocks the signals of the sampling timer: they may arrive every 20 us, and end each
     nanosleep */
  sigemptyset(&ticks);
  sigaddset(&ticks, SIGURG);
  sigaddset(&ticks, SIGWINCH);
  pthread_sigmask(SIG_BLOCK, &ticks, &before);
  locked = trylock();
  publishmine();
  for (s = samplers.all; s != NULL; s = s->next) {
    p = s->state.profile;
    if (p == NULL) continue;
    if (timer_mine(__atomic_load_n(&s->timing.timer, __ATOMIC_ACQUIRE)))
      tracker_lose(&s->tracker, timing_leave(&s->timing));
    if (s->tracker.mallocs) tracker_lose(&s->tracker, mallocs_left());
    if (s->shared != NULL) continue;
    from = s;
    profile_exit(p, nextlast, &from, &t);
    samplerlist_report(s, &t);
  }
  p = (samplers.shared != NULL) ? samplers.shared->profile(0) : NULL;
  if (p != NULL && !profile_ismine(p))
    complain("no profile of process %d: the process was forked by _Fork or clone, which run no "
             "fork handlers; use fork", (int)getpid());
  else if (p != NULL) {
    SharedTotals sum;
    Exiting e = {NULL, p, locked, 0};
    samplerlist_addup(&sum);
    profile_exit(p, nextshared, &e, &t);
    samplers.shared->ended(&t, &sum);
  }
  if (locked) pthread_mutex_unlock(&lock);
  dying_done();
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void samplerlist_once (void) {
  pthread_atfork(NULL, samplerlist_forks, samplerlist_forked);
  atexit(samplerlist_exiting);
  at_quick_exit(samplerlist_exiting);
}

void samplerlist_watch (void) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  pthread_once(&control, samplerlist_once);
}

/* }===================================================================== */
