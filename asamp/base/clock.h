/* SPDX-License-Identifier: MIT */
/* Clocks, in nanoseconds. Async-signal-safe. */
#ifndef asamp_clock_h
#define asamp_clock_h

#include <stdint.h>
#include <time.h>

#define CLOCK_SECOND	UINT64_C(1000000000)	/* ns of a second */

/* Converts a time to ns; a negative one to 0. */
static inline uint64_t clock_ns (const struct timespec *t) {
  return (t->tv_sec < 0) ? 0 : (uint64_t)t->tv_sec * CLOCK_SECOND + (uint64_t)t->tv_nsec;
}

/* Returns the time of a clock in ns; 0 if the clock no longer exists, like that of an ended
   thread. */
static inline uint64_t clock_read (clockid_t clock) {
  struct timespec t;
  return clock_gettime(clock, &t) == 0 ? clock_ns(&t) : 0;
}

/* Returns the time of CLOCK_MONOTONIC, the clock of all event times, in ns. */
static inline uint64_t clock_now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return clock_ns(&t);
}

/* Returns the ns from 'then' to 'now', or 0 if the clock has gone back, as in some virtual
   machines. */
static inline uint64_t clock_between (uint64_t then, uint64_t now) {
  return (now > then) ? now - then : 0;
}

/* Returns the ns since 'then', a result of clock_now. */
static inline uint64_t clock_since (uint64_t then) {
  return clock_between(then, clock_now());
}

/* Returns the CPU time of the calling thread in ns. */
static inline uint64_t clock_thread (void) {
  return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

#endif
