/* SPDX-License-Identifier: MIT */
/*
** Clocks, in nanoseconds. May be read in a signal handler.
*/
#ifndef asamp_clock_h
#define asamp_clock_h

#include <stdint.h>
#include <time.h>

/* 0 for a time before 0, which a clock shows that went back by more than it had run. */
static inline uint64_t clock_ns (const struct timespec *t) {
  return (t->tv_sec < 0) ? 0 : (uint64_t)t->tv_sec * UINT64_C(1000000000) + (uint64_t)t->tv_nsec;
}

/* 0: there is no such clock any more (that of a thread which has ended). */
static inline uint64_t clock_read (clockid_t clock) {
  struct timespec t;
  return clock_gettime(clock, &t) == 0 ? clock_ns(&t) : 0;
}

/* All times of events are of this clock, which does not follow changes of the date. */
static inline uint64_t clock_now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return clock_ns(&t);
}

/* Nanoseconds from 'then' to 'now'. Returns 0 if the clock went back in between, as that of a
   virtual machine or of a preloaded library may: an unsigned difference would be centuries. */
static inline uint64_t clock_between (uint64_t then, uint64_t now) {
  return (now > then) ? now - then : 0;
}

/* Nanoseconds since 'then', a value of clock_now. */
static inline uint64_t clock_since (uint64_t then) {
  return clock_between(then, clock_now());
}

/* Processor time of the thread that asks. */
static inline uint64_t clock_thread (void) {
  return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

#endif
