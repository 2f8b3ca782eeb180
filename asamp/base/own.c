/* SPDX-License-Identifier: MIT */
/*
** The bytes that the profiler holds (own.h).
*/
#include "own.h"

int64_t own_count;


/* A thread's free may be counted before another's malloc of the block is. */
uint64_t own_bytes (void) {
  int64_t n = __atomic_load_n(&own_count, __ATOMIC_RELAXED);
  return n > 0 ? (uint64_t)n : 0;
}
