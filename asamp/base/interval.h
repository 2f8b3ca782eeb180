/* SPDX-License-Identifier: MIT */
/*
** Sampling distances: how many bytes lie between two sample points. Knows no
** Lua and no profile.
**
** Fixed intervals: every 'period' bytes, the first point anywhere in the first
** period. n points have been passed after T bytes with |n * period - T| <
** period, for every T.
** Random intervals: exponential with mean 'period', a Poisson process over bytes,
** from which no pattern of allocations can hide (as in tcmalloc, Go and
** OCaml's memprof). Points passed after T bytes: T / period on average, with
** that variance.
*/
#ifndef asamp_interval_h
#define asamp_interval_h

#include <stdint.h>

#define INTERVAL_MIN	UINT64_C(64)
#define INTERVAL_MAX	(UINT64_C(1) << 62)

typedef struct Interval {
  uint64_t period;	/* bytes, INTERVAL_MIN to INTERVAL_MAX */
  int random;		/* 1: exponential */
  uint64_t state;	/* of the generator (splitmix64) */
} Interval;

void interval_open (Interval *v, uint64_t period, int random, uint64_t seed);

/* Distance from here to the first point, 1 to 'period' or exponential. */
uint64_t interval_first (Interval *v);

/*
** An allocation passed the point by 'over' bytes. Returns how many points it
** passed in all (at least 1) and sets '*distance' from its end to the next.
*/
uint64_t interval_pass (Interval *v, uint64_t over, uint64_t *distance);

/* Any of the numbers below n, which is not 0, each as likely as the others. */
uint64_t interval_draw (Interval *v, uint64_t n);

/*
** Changes the period where 'distance' bytes were left to the next point.
** Returns the new distance: the same part of a period is left (fixed), or a
** new draw (random; an exponential has no memory). So the sum over all periods
** of bytes / period stays within one of the number of points passed.
*/
uint64_t interval_change (Interval *v, uint64_t period, uint64_t distance);

#endif
