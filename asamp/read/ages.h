/* SPDX-License-Identifier: MIT */
/*
** Survival by age: which share of the allocated bytes survives, depending on when in the nursery
** they were allocated. From this table, reports estimate survival with another nursery size.
**
** The age of a byte is a pair (u, v): u is the number of bytes allocated after it, until the next
** collection; v is the number of bytes allocated before it, since the previous collection. The
** table has the allocated and the surviving bytes for each age. All bytes of a nursery are divided
** among its samples, oldest first, in proportion to the samples' bytes.
**
**   AG1  u and v are divided into AGES_BINS bins, AGES_DOUBLING per power of 2. The first bin is
**        for values below AGES_FIRST, the last bin has no upper end;
**   AG2  if there are AGES_OPEN samples or more between two collections, all of them are
**        ignored, which limits memory.
*/
#ifndef asamp_ages_h
#define asamp_ages_h

#include <stddef.h>
#include <stdint.h>

#include "bounds.h"

#define AGES_FIRST	4096u	/* upper end of the first bin, bytes */
#define AGES_DOUBLING	4u	/* bins per power of 2 */
#define AGES_BINS	96u	/* number of bins */

/* An element of the table Ages.cells, for one age: the allocated bytes that the samples represent,
   and the part of them that survived. */
typedef struct Age {
  double bytes, survived;
} Age;

/* Totals of allocated and of surviving bytes, by their age at the next collection. A zeroed struct
   has no totals. */
typedef struct Ages {
  /* Table of AGES_BINS rows, one for each bin of u, with AGES_BINS elements, one for each bin of v.
     u is the number of bytes allocated after a byte until the next collection, v that of bytes
     allocated before it since the previous one. NULL before the first collection. */
  Age *cells;
  struct AgeOpen {
    uint64_t bytes;
    int survived;
  } *open;     /* samples added since the last call of ages_settle, oldest first. bytes: bytes that
                  the sample represents. survived: 1 if its block survived */
  size_t n, size;  /* number of elements of 'open', capacity */
} Ages;

/* Adds a sample that represents 'bytes' bytes; 'survived' 1: its block survived the collection.
   Must be called in the order of allocation. Returns 0 if out of memory. */
int ages_add (Ages *a, uint64_t bytes, int survived);

/* Adds the samples in 'open' to the table and empties 'open'. Call it after each collection.
   'charged': bytes allocated in the nursery. If that is 0 (unknown), uses the bytes of the samples
   instead. Returns 0 if out of memory. */
int ages_settle (Ages *a, uint64_t charged);

void ages_free (Ages *a);

#endif
