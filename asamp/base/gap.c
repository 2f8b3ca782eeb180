/* SPDX-License-Identifier: MIT */
/*
** Sampling distances (gap.h).
*/
#include "gap.h"

#include <math.h>

/* More points than this in one block are counted by a normal draw. */
#define MANY	4096


/* Next 64 random bits: splitmix64, Steele, Lea and Flood (OOPSLA 2014). */
static uint64_t bits (Gap *g) {
  uint64_t z = (g->state += UINT64_C(0x9E3779B97F4A7C15));
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}


/* Uniform in (0, 1]. */
static double unit (Gap *g) {
  return (double)((bits(g) >> 11) + 1) * 0x1.0p-53;
}


/*
** Exponential, rounded up: at least 1, at most GAP_MAX. Rounding adds half a byte
** on average, so the mean is 'period' (within 1 in 49,000).
*/
static uint64_t exponential (Gap *g) {
  double d = ceil(-log(unit(g)) * ((double)g->period - 0.5));
  return (d < 1) ? 1 : (d < (double)GAP_MAX) ? (uint64_t)d : GAP_MAX;
}


void gap_open (Gap *g, uint64_t period, int random, uint64_t seed) {
  g->period = period;
  g->random = random;
  g->state = seed;
}


uint64_t gap_first (Gap *g) {
  return g->random ? exponential(g) : 1 + bits(g) % g->period;
}


/*
** Points in 'over' bytes when they are many: Poisson, by its normal limit
** (Box and Muller 1958 for the draw).
*/
static uint64_t many (Gap *g, double mean) {
  double normal = sqrt(-2 * log(unit(g))) * cos(6.283185307179586 * unit(g));
  double n = floor(mean + sqrt(mean) * normal + 0.5);
  return (n > 0) ? (uint64_t)n : 0;
}


uint64_t gap_pass (Gap *g, uint64_t over, uint64_t *distance) {
  uint64_t n = 1, d;
  if (!g->random) {
    *distance = g->period - over % g->period;
    return n + over / g->period;
  }
  if (over / g->period > MANY) {
    *distance = exponential(g);
    return n + many(g, (double)over / (double)g->period);
  }
  for (d = exponential(g); d <= over; d = exponential(g)) {
    over -= d;
    n++;
  }
  *distance = d - over;
  return n;
}


uint64_t gap_draw (Gap *g, uint64_t n) {
  return (uint64_t)(((unsigned __int128)bits(g) * n) >> 64);
}


uint64_t gap_change (Gap *g, uint64_t period, uint64_t distance) {
  uint64_t old = g->period;
  g->period = period;
  if (g->random) return exponential(g);
  else {
    unsigned __int128 d = (unsigned __int128)distance * period;
    uint64_t left = (uint64_t)((d + old - 1) / old);
    return (left < 1) ? 1 : (left > period) ? period : left;
  }
}
