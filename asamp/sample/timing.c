/* SPDX-License-Identifier: MIT */
/* Samples the time of one state (timing.h). */
#define _GNU_SOURCE
#include "timing.h"

#include <ucontext.h>

#include "altstack.h"
#include "binding.h"
#include "clock.h"
#include "owner.h"
#include "scratch.h"

/* ns. A call of timing_point measures its CPU time, with two system calls, only if the previous
   call took at least this time. Otherwise the duration of the call, but at most this time, counts
   as its CPU time: the kernel rarely runs another thread during a short call. */
#define SLOW_NS	1000000

#if defined(__x86_64__)
#define IP(u)		((const char *)(u)->uc_mcontext.gregs[REG_RIP])
#define REGISTERS(u)	((const uintptr_t *)(u)->uc_mcontext.gregs), NGREG
#elif defined(__aarch64__)
#define IP(u)		((const char *)(u)->uc_mcontext.pc)
#define REGISTERS(u)	((const uintptr_t *)(u)->uc_mcontext.regs), 31
#else
#error "time samples: name the program counter and the registers of a ucontext_t here"
#endif

/* {== in the signal handler ============================================ */

/* Stores the return addresses of the interrupted C stack in own->stack. Returns their number.
   Leaves out most frames of the Lua core; keeps bytecode loops and lua_resume, which 'merge' in
   stack.c replaces by Lua frames. */
static uint32_t timing_walk (Timing *t, Scratch *own, const ucontext_t *context) {
  void **a = own->stack;
  int i, all = backtrace_take(&own->backtrace, context, a);
  uint32_t n = 0;
  if (owner_mixed(t->L))
    all = owner_mark(t->L, altstack_sp(context), a, all, all < BACKTRACE_MAX);
  for (i = 0; i < all; i++) {
    const char *c = (const char *)a[i] - 1;
    if (!owner_isin(&t->code.core, c) && !owner_isin(&t->code.protect, c)) a[n++] = a[i];
  }
  return n;
}

/* Returns 1 if the handler's stack has no space for a walk, and counts the periods in
   t->cramped. */
static int iscramped (Timing *t, uint64_t count, const ucontext_t *context) {
  if (altstack_room(context) >= TIMER_STACK) return 0;
  t->cramped += count;
  return 1;
}

static void tick (void *ud, uint64_t count, void *context) {
  Timing *t = ud;
  ucontext_t *u = context;
  luaN_Registers r = {IP(u), REGISTERS(u)};
  luaN_Moment m;
  Moment e;
  Scratch *own = scratch_mine();
  /* the thread is ending: its memory for samples (Scratch) was given up, but its clock still sends
     signals */
  if (own == NULL) {
    __atomic_add_fetch(&t->away, count, __ATOMIC_RELAXED);
    return;
  }
  if (own->pointing != NULL) {
    __atomic_add_fetch(&((Timing *)own->pointing)->own, count, __ATOMIC_RELAXED);
    return;
  }
  e.time = clock_now();
  if (!luaN_interrupt(t->L, &r, &m)) {
    __atomic_add_fetch(&t->away, count, __ATOMIC_RELAXED);
    return;
  }
  e.count = count;
  e.L = m.L;
  e.ci = m.ci;
  e.collecting = (uint16_t)m.collecting;
  e.label = (uint16_t)m.label;
  e.n = (t->native && !iscramped(t, count, u)) ? timing_walk(t, own, u) : 0;
  moments_add(&t->moments, &e, own->stack);
  t->inticks += clock_since(e.time);
}

/* }===================================================================== */

static int hasbuffers (const Timing *t) {
  return t->moments.buffer[0] != NULL;
}

int timing_start (Timing *t, lua_State *L, uint64_t ns, TimerClock clock,
                  int native, size_t words, char *err, size_t errsize) {
  luaN_code(&t->code);
  t->L = L;
  t->native = native;
  if (!hasbuffers(t) && !moments_open(&t->moments, words))
    return timer_nomemory(err, errsize);
  owner_prime();
  if (scratch_open(native) == NULL) return timer_nomemory(err, errsize);
  __atomic_store_n(&t->timer, timer_start(ns, clock, luaN_main(L), tick, t, err, errsize),
                   __ATOMIC_RELEASE);
  return t->timer != NULL;
}

void timing_stop (Timing *t) {
  if (t->timer != NULL)
    __atomic_add_fetch(&t->away, timer_stop(t->timer), __ATOMIC_RELAXED);
  __atomic_store_n(&t->timer, NULL, __ATOMIC_RELEASE);
}

typedef struct Point {
  Timing *t;
  lua_State *L;
  Tracker *k;
} Point;

/* Returns a return address that represents the function that contains 'address': the function's
   start + 2. 'merge' in stack.c subtracts 1, so the frame has the same id as a frame that pushentry
   pushes for the function. Not cached, because another library may later be loaded at the same
   addresses. */
static void *startof (void *address) {
  return (void *)(backtrace_start((uintptr_t)address - 1) + 2);
}

static void complete (void *ud, Moment *e) {
  const Point *at = ud;
  Stack *s = &at->k->stack;
  ProfileTime time;
  if (!stack_ready(s)) {
    at->k->lost += e->count;
    return;
  }
  if (e->n > 0 && owner_marked(moment_native(e)[0]) == NULL)
    moment_native(e)[0] = startof(moment_native(e)[0]);
  time.time = e->time;
  time.count = e->count;
  time.thread = at->k->number;
  time.label = e->label;
  stack_complete(s, at->L, e, at->t->native);
  at->k->client->time(at->k->ud, &time, s->shared, s->frames, s->n);
  at->t->samples += e->count;
  at->t->last = *e;  /* copies *e without its native frames, which are stored after *e */
}

/* Reports one sample for all ticks that arrived while timing_point was running. The sample has the
   Lua stack of the last tick and, if C stacks are sampled, timing_point as the innermost frame. */
static void completeown (Point *at, uint64_t time) {
  struct {
    Moment e;
    void *native;
  } own;
  Timing *t = at->t;
  uint64_t count = __atomic_exchange_n(&t->own, 0, __ATOMIC_RELAXED);
  if (count == 0) return;
  own.e = t->last;
  own.e.time = time;
  own.e.count = count;
  own.e.collecting = 0;
  own.e.n = (t->native != 0);
  own.native = (char *)(uintptr_t)timing_point + 1;
  complete(at, (Moment *)(void *)&own);
}

void timing_point (Timing *t, lua_State *L, Tracker *k) {
  Point at = {t, L, k};
  Scratch *own;
  uint64_t started, used = 0, took;
  if (!hasbuffers(t) || (t->timer != NULL && !timer_mine(t->timer))) return;
  if ((own = scratch_open(t->native)) == NULL) return;
  started = clock_now();
  if (t->slow) used = clock_thread();
  own->pointing = t;
  if (t->native) backtrace_learn(&own->backtrace);
  moments_take(&t->moments, complete, &at);
  completeown(&at, started);
  own->pointing = NULL;
  took = clock_since(started);
  if (t->slow) used = clock_between(used, clock_thread());
  else used = (took < SLOW_NS) ? took : SLOW_NS;
  t->slow = (took >= SLOW_NS);
  t->inpoints += used;
  if (t->timer != NULL) timer_cost(t->timer, used, took);
}

static void dropone (void *ud, Moment *e) {
  *(uint64_t *)ud += e->count;
}

uint64_t timing_drop (Timing *t) {
  uint64_t n = t->moments.lost + t->away;
  t->moments.lost = t->away = 0;
  if (hasbuffers(t)) moments_take(&t->moments, dropone, &n);
  return n;
}

uint64_t timing_leave (Timing *t) {
  uint64_t n = timer_leave(t->timer);
  return n + timing_drop(t);
}

void timing_close (Timing *t) {
  timing_stop(t);
  if (hasbuffers(t)) moments_close(&t->moments);
}

int timing_pending (const Timing *t) {
  return hasbuffers(t) && t->moments.used[0] + t->moments.used[1] > 0;
}

void timing_forked (Timing *t) {
  if (t->timer != NULL) timer_forked(t->timer);
  t->timer = NULL;
  if (hasbuffers(t)) t->moments.used[0] = t->moments.used[1] = 0;
  t->moments.lost = t->away = t->own = 0;
}
