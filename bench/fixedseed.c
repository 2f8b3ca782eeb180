/*
** SPDX-License-Identifier: MIT
** A library to preload (LD_PRELOAD) for instruction counts: time() always returns 1. Lua computes
** the seed of its string hashes from time() and from addresses. Under valgrind the addresses are
** the same in each run, so that with this library all runs are the same. Clocks that measure
** durations are not replaced.
*/
#include <time.h>

time_t time (time_t *out) {
  if (out != NULL) *out = 1;
  return 1;
}
