/* SPDX-License-Identifier: MIT */
/*
** Survival by age: how much of what was allocated u bytes before a minor or full collection
** and v bytes after the one before has survived it, from which follows what another size of
** the nursery would do. Lengths are bytes that the nursery was filled with. A collection
** knows how many there were since the one before. The samples that it decides divide these
** among them, each by what it stands for, and each counts for the whole of its part. Knows
** neither files nor Lua. Invariants:
**   AG1  a bin is a quarter of a power of 2; the first has all below AGES_FIRST;
**   AG2  at most AGES_OPEN samples wait for their collection's end; of one that decides
**        more, none count.
*/
#ifndef asamp_ages_h
#define asamp_ages_h

#include <stddef.h>
#include <stdint.h>

#include "bounds.h"

#define AGES_FIRST	4096u
#define AGES_DOUBLING	4u	/* bins of a power of 2 */
#define AGES_BINS	96u

typedef struct Age {
  double bytes, survived;  /* what samples stand for */
} Age;

typedef struct Ages {
  Age *cells;  /* AGES_BINS by how much came behind, of each AGES_BINS by how much had come
                  before; NULL: nothing yet */
  struct AgeOpen {
    uint64_t bytes;
    int survived;
  } *open;
  size_t n, size;
} Ages;

/* A sample was decided; 0 without memory. */
int ages_add (Ages *a, uint64_t bytes, int survived);

/* The collection that has decided these is over; the nursery was filled with so many bytes
   (0: not known). 0 without memory. */
int ages_settle (Ages *a, uint64_t charged);

void ages_free (Ages *a);

#endif
