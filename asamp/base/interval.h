/* SPDX-License-Identifier: MIT */
/*
** Sampling intervals: the distances in bytes between sample points. Independent of Lua and of
** profiles.
**
** Fixed intervals: a point every 'period' bytes, the first one uniformly within the first
** period. n points are passed after T bytes with |n * period - T| < period, for every T.
**
** Random intervals: exponentially distributed with mean 'period', a Poisson process over bytes,
** from which no pattern of allocations can escape (as in tcmalloc, Go and OCaml's memprof).
** Points passed after T bytes: T / period on average, with the same variance.
*/
#ifndef asamp_interval_h
#define asamp_interval_h

#include <stdint.h>

#define INTERVAL_MIN	UINT64_C(64)	/* shortest period in bytes */
#define INTERVAL_MAX	(UINT64_C(1) << 62)	/* longest period; as a distance: no sample */

/* A sequence of sample points. */
typedef struct Interval {
  uint64_t period;	/* bytes, INTERVAL_MIN to INTERVAL_MAX */
  int random;		/* 1: exponential */
  uint64_t state;	/* state of the generator (splitmix64) */
} Interval;

void interval_open (Interval *v, uint64_t period, int random, uint64_t seed);

/* Returns the distance to the first point: 1 to 'period', or exponential. */
uint64_t interval_first (Interval *v);

/*
** Called when an allocation passed the point by 'over' bytes. Returns the number of points
** passed (at least 1) and sets *distance to the distance from its end to the next point.
*/
uint64_t interval_pass (Interval *v, uint64_t over, uint64_t *distance);

/* Returns a random number below n, n > 0, uniformly distributed. */
uint64_t interval_draw (Interval *v, uint64_t n);

/*
** Changes the period when 'distance' bytes are left to the next point. Returns the new
** distance: the same fraction of a period (fixed), or a new draw (random; the exponential
** distribution has no memory). So the sum of bytes / period over all periods differs by less
** than one from the number of points passed.
*/
uint64_t interval_change (Interval *v, uint64_t period, uint64_t distance);

#endif
