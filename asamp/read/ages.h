/* SPDX-License-Identifier: MIT */
/*
** How much of what was allocated so many bytes before a minor or full collection has
** survived it: what another size of the nursery would do is read from that. Of a sample
** the bytes behind it are those that the samples behind it stand for, in the same
** collection. Knows neither files nor Lua. Invariants:
**   AG1  a bin is an eighth of a power of 2; the first has all below AGES_FIRST;
**   AG2  at most AGES_OPEN samples wait for their collection's end; of one that decides
**        more, none count.
*/
#ifndef asamp_ages_h
#define asamp_ages_h

#include <stddef.h>
#include <stdint.h>

#include "bounds.h"

#define AGES_FIRST	1024u
#define AGES_BINS	256u

typedef struct Age {
  double bytes, survived;  /* what samples stand for */
  double squares;          /* sum of bytes of a sample times its period */
  uint64_t collections;    /* that had so many bytes before them: in the mean 'bytes' by
                              this is how wide the bin is. (The last sample before a
                              collection has none behind it, wherever it lies.) */
} Age;

typedef struct Ages {
  Age bins[AGES_BINS];
  struct AgeOpen {
    uint64_t bytes;
    double square;
    int survived;
  } *open;
  size_t n, size;
} Ages;

/* A sample was decided; 0 without memory. */
int ages_add (Ages *a, uint64_t bytes, uint64_t period, int survived);

/* The collection that has decided these is over, and n more before it that decided none. */
void ages_settle (Ages *a, uint64_t n);

void ages_free (Ages *a);

#endif
