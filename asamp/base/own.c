/* SPDX-License-Identifier: MIT */
/* The bytes that the profiler has allocated (own.h). */
#include "own.h"

int64_t own_count;

/* Returns own_count, or 0 if it is negative: another thread may free a block before its allocation
   is counted. */
uint64_t own_bytes (void) {
  int64_t n = __atomic_load_n(&own_count, __ATOMIC_RELAXED);
  return n > 0 ? (uint64_t)n : 0;
}
