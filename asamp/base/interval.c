/* SPDX-License-Identifier: MIT */
/* Sampling intervals (interval.h). */
#include "interval.h"

#include <math.h>

/* Above this expected number of points in a block, their number is drawn at once, from a normal
   distribution. */
#define MANY	4096

/* Returns 64 random bits: splitmix64, Steele, Lea and Flood (OOPSLA 2014). */
static uint64_t bits (Interval *v) {
  uint64_t z = (v->state += UINT64_C(0x9E3779B97F4A7C15));
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

/* Returns a uniform random number in (0, 1]. */
static double unit (Interval *v) {
  return (double)((bits(v) >> 11) + 1) * 0x1.0p-53;
}

/* Returns an exponential random integer from 1 to INTERVAL_MAX with mean 'period'. Rounding up adds
   0.5 on average, so the unrounded number has the mean period - 0.5. */
static uint64_t exponential (Interval *v) {
  double d = ceil(-log(unit(v)) * ((double)v->period - 0.5));
  return (d < 1) ? 1 : (d < (double)INTERVAL_MAX) ? (uint64_t)d : INTERVAL_MAX;
}

void interval_open (Interval *v, uint64_t period, int random, uint64_t seed) {
  v->period = period;
  v->random = random;
  v->state = seed;
}

uint64_t interval_first (Interval *v) {
  return v->random ? exponential(v) : 1 + bits(v) % v->period;
}

/* Returns a Poisson random number with a large mean, approximated by a normal one (Box and
   Muller 1958). */
static uint64_t many (Interval *v, double mean) {
  double normal = sqrt(-2 * log(unit(v))) * cos(6.283185307179586 * unit(v));
  double n = floor(mean + sqrt(mean) * normal + 0.5);
  return (n > 0) ? (uint64_t)n : 0;
}

/* Implements interval_pass for random intervals. Not inlined, to keep interval_pass fast for fixed
   intervals. */
static __attribute__((noinline)) uint64_t passrandom (Interval *v, uint64_t over,
                                                      uint64_t *distance) {
  uint64_t n = 1, d;
  if (over / v->period > MANY) {
    *distance = exponential(v);
    return n + many(v, (double)over / (double)v->period);
  }
  for (d = exponential(v); d <= over; d = exponential(v)) {
    over -= d;
    n++;
  }
  *distance = d - over;
  return n;
}

uint64_t interval_pass (Interval *v, uint64_t over, uint64_t *distance) {
  if (v->random) return passrandom(v, over, distance);
  if (over < v->period) {  /* the usual case, without division */
    *distance = v->period - over;
    return 1;
  }
  *distance = v->period - over % v->period;
  return 1 + over / v->period;
}

uint64_t interval_draw (Interval *v, uint64_t n) {
  return (uint64_t)(((unsigned __int128)bits(v) * n) >> 64);
}

uint64_t interval_change (Interval *v, uint64_t period, uint64_t distance) {
  uint64_t old = v->period;
  v->period = period;
  if (v->random) return exponential(v);
  else {
    unsigned __int128 d = (unsigned __int128)distance * period;
    uint64_t left = (uint64_t)((d + old - 1) / old);
    return (left < 1) ? 1 : (left > period) ? period : left;
  }
}
