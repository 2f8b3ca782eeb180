/* SPDX-License-Identifier: MIT */
/*
** Survival by age. A byte has two ages: u bytes are allocated between it and the next collection, v
** bytes between the previous collection and it. A table has the allocated and the surviving bytes
** for each u and v. Reports use it to estimate survival with another nursery size. The bytes of a
** nursery are divided among its samples, oldest first, in proportion to the samples' bytes.
**
**   AG1  u and v are divided into AGES_BINS bins, AGES_DOUBLING per power of 2. The first bin is
**        for values below AGES_FIRST, the last bin has no upper end;
**   AG2  if a collection has AGES_OPEN samples or more, none of them count.
*/
#ifndef asamp_ages_h
#define asamp_ages_h

#include <stddef.h>
#include <stdint.h>

#include "bounds.h"

#define AGES_FIRST	4096u	/* upper end of the first bin, bytes */
#define AGES_DOUBLING	4u	/* bins per power of 2 */
#define AGES_BINS	96u	/* number of bins */

/* Bytes that samples represent: all of them, and the part that survived. */
typedef struct Age {
  double bytes, survived;
} Age;

/* The totals of survival by age. If all bytes are 0, they are empty. */
typedef struct Ages {
  /* AGES_BINS * AGES_BINS elements: the bin of u, times AGES_BINS, plus the bin of v. NULL before
     the first collection. */
  Age *cells;
  struct AgeOpen {
    uint64_t bytes;
    int survived;
  } *open;     /* samples since the last call of ages_settle, oldest first */
  size_t n, size;  /* number of elements of 'open', capacity */
} Ages;

/* Adds a sample of 'bytes' bytes whose survival is decided. Samples are added oldest first. Returns
   0 if out of memory. */
int ages_add (Ages *a, uint64_t bytes, int survived);

/* Adds the samples in 'open' to the table and empties 'open'. Call it after each collection.
   'charged': bytes allocated in the nursery; 0: unknown, the sum of the samples is used. Returns 0
   if out of memory. */
int ages_settle (Ages *a, uint64_t charged);

void ages_free (Ages *a);

#endif
