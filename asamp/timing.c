/* SPDX-License-Identifier: MIT */
/*
** Time samples of one state (timing.h).
*/
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY
#include "timing.h"

#include <errno.h>
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

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

static int in (const luaN_Range *r, const char *ip) {
  return r->from <= ip && ip < r->to;
}


/*
** The native stack of what was interrupted at ip, as return addresses. What the
** core has called to run a Lua function is told by the Lua frames, so of the
** core only what stands for some is there.
*/
static uint32_t backtrace_ (Timing *t, const char *ip) {
  void **a = t->stack;
  uint32_t n = 0;
  int i, all = unw_backtrace(a, TIMING_NATIVE);
  for (i = 0; i < all && a[i] != (const void *)ip; i++) { }  /* the handler's */
  if (i == all) {  /* it has lost its way */
    a[0] = (void *)(ip + 1);
    return 1;
  }
  a[i] = (void *)(ip + 1);  /* an address that will be returned to */
  for (; i < all; i++) {
    const char *c = (const char *)a[i] - 1;
    if (!in(&t->code.core, c) || in(&t->code.execute, c) ||
        in(&t->code.resume, c))
      a[n++] = a[i];
  }
  return n;
}


static void tick (void *ud, uint64_t count, void *context) {
  Timing *t = ud;
  ucontext_t *u = context;
  luaN_Registers r = {IP(u), REGISTERS(u)};
  luaN_Moment m;
  Moment e;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  luaN_interrupt(t->L, &r, &m);
  e.time = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
  e.count = count;
  e.L = m.L;
  e.ci = m.ci;
  e.collecting = (uint32_t)m.collecting;
  e.n = 0;
  if (t->native) {
    if (stack_unwinding) t->stack[e.n++] = (char *)(uintptr_t)stack_walk + 1;
    else e.n = backtrace_(t, r.ip);
  }
  moments_add(&t->moments, &e, t->stack);
}

/* }===================================================================== */


int timing_start (Timing *t, lua_State *L, uint64_t ns, int wall, int native,
                  char *err, size_t errsize) {
  luaN_code(&t->code);
  t->L = L;
  t->native = native;
  if (t->stack == NULL) {
    t->stack = malloc(TIMING_NATIVE * sizeof(*t->stack));
    if (t->stack == NULL || !moments_open(&t->moments)) {
      free(t->stack);
      t->stack = NULL;
      errno = ENOMEM;
      snprintf(err, errsize, "cannot sample time: not enough memory");
      return 0;
    }
  }
  /* what libunwind allocates for this thread is allocated here */
  if (native) stack_prime();
  t->timer = timer_start(ns, wall, tick, t, err, errsize);
  return t->timer != NULL;
}


void timing_stop (Timing *t) {
  if (t->timer != NULL) timer_stop(t->timer);
  t->timer = NULL;
}


typedef struct Point {
  Timing *t;
  lua_State *L;
  Stack *s;
  Profile *p;
  uint64_t thread;
} Point;


static void complete (void *ud, const Moment *e) {
  const Point *at = ud;
  ProfileTime time;
  time.time = e->time;
  time.count = e->count;
  time.thread = at->thread;
  stack_complete(at->s, at->L, e, at->t->native);
  profile_time(at->p, &time, 0, at->s->frames, at->s->n);
  at->t->samples += e->count;
}


void timing_point (Timing *t, lua_State *L, Stack *s, Profile *p,
                   uint64_t thread) {
  Point at = {t, L, s, p, thread};
  if (t->stack != NULL) moments_take(&t->moments, complete, &at);
}


static void dropone (void *ud, const Moment *e) {
  *(uint64_t *)ud += e->count;
}


uint64_t timing_drop (Timing *t) {
  uint64_t n = t->moments.lost;
  t->moments.lost = 0;
  if (t->stack != NULL) moments_take(&t->moments, dropone, &n);
  return n;
}


void timing_close (Timing *t) {
  timing_stop(t);
  if (t->stack != NULL) moments_close(&t->moments);
  free(t->stack);
  t->stack = NULL;
}


void timing_forked (Timing *t) {
  if (t->timer != NULL) timer_forked(t->timer);
  t->timer = NULL;
  if (t->stack != NULL) t->moments.used[0] = t->moments.used[1] = 0;
}
