/* SPDX-License-Identifier: MIT */
/*
** Sampling distances: how many bytes lie between two sample points. Knows no
** Lua and no profile.
**
** Fixed gaps: every 'period' bytes, the first point anywhere in the first
** period. n points have been passed after T bytes with |n * period - T| <
** period, for every T.
** Random gaps: exponential with mean 'period', a Poisson process over bytes,
** from which no pattern of allocations can hide (as in tcmalloc, Go and
** OCaml's memprof). Points passed after T bytes: T / period on average, with
** that variance.
*/
#ifndef asamp_gap_h
#define asamp_gap_h

#include <stdint.h>

#define GAP_MIN	UINT64_C(64)
#define GAP_MAX	(UINT64_C(1) << 62)

typedef struct Gap {
  uint64_t period;	/* bytes, GAP_MIN to GAP_MAX */
  int random;		/* 1: exponential */
  uint64_t state;	/* of the generator (splitmix64) */
} Gap;

void gap_open (Gap *g, uint64_t period, int random, uint64_t seed);

/* Distance from here to the first point, 1 to 'period' or exponential. */
uint64_t gap_first (Gap *g);

/*
** An allocation passed the point by 'over' bytes. Returns how many points it
** passed in all (at least 1) and sets '*distance' from its end to the next.
*/
uint64_t gap_pass (Gap *g, uint64_t over, uint64_t *distance);

/* Any of the numbers below n, which is not 0, each as likely as the others. */
uint64_t gap_draw (Gap *g, uint64_t n);

/*
** Changes the period where 'distance' bytes were left to the next point.
** Returns the new distance: the same part of a period is left (fixed), or a
** new draw (random; an exponential has no memory). So the sum over all periods
** of bytes / period stays within one of the number of points passed.
*/
uint64_t gap_change (Gap *g, uint64_t period, uint64_t distance);

#endif
