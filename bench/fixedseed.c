/*
** SPDX-License-Identifier: MIT
** A library for LD_PRELOAD that makes instruction counts repeatable: time() always returns 1. Lua
** computes the seed of its string hashes from time() and from addresses, and valgrind uses the
** same addresses in each run. Clocks that measure durations are not replaced.
*/
#include <time.h>

time_t time (time_t *out) {
  if (out != NULL) *out = 1;
  return 1;
}
