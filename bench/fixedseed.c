/*
** SPDX-License-Identifier: MIT
** A library to preload for instruction counts: time() stands still.
** Lua takes the seed of its string hashes from time() and from addresses; under
** valgrind the addresses repeat, so with this the whole run repeats.
** Only time() is replaced: clocks that measure durations go on.
*/
#include <time.h>

time_t time (time_t *out) {
  if (out != NULL) *out = 1;
  return 1;
}
