/* SPDX-License-Identifier: MIT */
/*
** Clocks, in nanoseconds. May be read in a signal handler.
*/
#ifndef asamp_clock_h
#define asamp_clock_h

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns (const struct timespec *t) {
  return (uint64_t)t->tv_sec * UINT64_C(1000000000) + (uint64_t)t->tv_nsec;
}

/* 0: there is no such clock any more (that of a thread which has ended). */
static inline uint64_t clock_read (clockid_t clock) {
  struct timespec t;
  return clock_gettime(clock, &t) == 0 ? clock_ns(&t) : 0;
}

/* What all times of events are of: it never goes back. */
static inline uint64_t clock_now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return clock_ns(&t);
}

/* Processor time of the thread that asks. */
static inline uint64_t clock_thread (void) {
  return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

#endif
