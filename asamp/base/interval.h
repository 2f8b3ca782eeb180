/* SPDX-License-Identifier: MIT */
/*
** Sampling intervals: distances in bytes between sample points.
**
** Fixed: a point every 'period' bytes, the first at a uniformly distributed distance. Random:
** exponentially distributed with mean 'period'. The points are then a Poisson process over the
** bytes, as in tcmalloc, Go and OCaml's memprof; their number in T bytes has mean and variance T /
** period.
*/
#ifndef asamp_interval_h
#define asamp_interval_h

#include <stdint.h>

#define INTERVAL_MIN	UINT64_C(64)	/* shortest period, bytes */
#define INTERVAL_MAX	(UINT64_C(1) << 62)	/* Longest period, bytes. As a distance,
                                                   it means that there is no sample point. */

/* A sequence of sample points. */
typedef struct Interval {
  uint64_t period;	/* mean distance, bytes */
  int random;		/* 1: random distances between sample points, 0: equal ones */
  uint64_t state;	/* state of the generator (splitmix64) */
} Interval;

/* Initializes *v. */
void interval_open (Interval *v, uint64_t period, int random, uint64_t seed);

/* Returns the bytes to the first sample point. */
uint64_t interval_first (Interval *v);

/* Call it for an allocation that contains a sample point. 'over' is the number of bytes of the
   allocation after its first sample point. Returns the number of sample points in the allocation,
   and sets *distance to the bytes from its end to the next sample point. */
uint64_t interval_pass (Interval *v, uint64_t over, uint64_t *distance);

/* Returns a uniform random number below n > 0. */
uint64_t interval_draw (Interval *v, uint64_t n);

/* Changes the period. 'distance' is the number of bytes to the next sample point. Returns a new
   distance to that point. If distances are random, draws it: exponential distances have no memory.
   If they are fixed, multiplies 'distance' by the new period / the old period. */
uint64_t interval_change (Interval *v, uint64_t period, uint64_t distance);

#endif
