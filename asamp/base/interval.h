/* SPDX-License-Identifier: MIT */
/*
** Sampling intervals: the distances in bytes between sample points. Independent of Lua and of
** profiles.
**
** Fixed intervals: a point every 'period' bytes, the first one at a uniformly distributed distance
** of 1 to 'period'. For the number n of points passed after T bytes, |n * period - T| < period.
**
** Random intervals: exponentially distributed with mean 'period'. The points are a Poisson process
** over the bytes, from which no pattern of allocations can escape (as in tcmalloc, Go and OCaml's
** memprof). The number of points passed after T bytes has mean and variance T / period.
*/
#ifndef asamp_interval_h
#define asamp_interval_h

#include <stdint.h>

#define INTERVAL_MIN	UINT64_C(64)	/* shortest period in bytes */
#define INTERVAL_MAX	(UINT64_C(1) << 62)	/* longest period in bytes; as a distance it
						   means that no sample is due */

/* A sequence of sample points. */
typedef struct Interval {
  uint64_t period;	/* mean distance of sample points in bytes, INTERVAL_MIN to INTERVAL_MAX */
  int random;		/* 1: random distances between sample points; 0: all distances are equal */
  uint64_t state;	/* state of the generator (splitmix64) */
} Interval;

/* Initializes *v; 'seed' is the first state of its generator. */
void interval_open (Interval *v, uint64_t period, int random, uint64_t seed);

/* Returns the distance in bytes to the first sample point. */
uint64_t interval_first (Interval *v);

/*
** To be called when an allocation has reached a sample point: it ends 'over' bytes after the point.
** Returns the number of points that the allocation has passed (at least 1). Sets *distance to the
** distance from the end of the allocation to the next point.
*/
uint64_t interval_pass (Interval *v, uint64_t over, uint64_t *distance);

/* Returns a uniformly distributed random number below n; n > 0. */
uint64_t interval_draw (Interval *v, uint64_t n);

/*
** Changes the period when 'distance' bytes are left to the next point. Returns the new distance.
** For random intervals it is drawn again, because the exponential distribution has no memory. For
** fixed intervals it is the same fraction of the new period as before of the old one. So the number
** of points passed differs by less than one from the sum of bytes / period over all periods.
*/
uint64_t interval_change (Interval *v, uint64_t period, uint64_t distance);

#endif
