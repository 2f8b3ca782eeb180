/* SPDX-License-Identifier: MIT */
/*
** Survival by age: for each u and v, the bytes allocated u bytes before a collection and v bytes
** after the previous one, and how many of them survived. It predicts the effect of another nursery
** size. The bytes of a nursery are divided among its samples in their order.
**
**   AG1  u and v are counted in AGES_BINS bins, AGES_DOUBLING per power of 2. The first bin has
**        all below AGES_FIRST, the last has no upper end;
**   AG2  at most AGES_OPEN samples per collection; if it has more, none of them count.
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

/* The totals of survival by age. All zero: empty. */
typedef struct Ages {
  /* AGES_BINS rows (u) of AGES_BINS columns (v). NULL: no collection was added. */
  Age *cells;
  struct AgeOpen {
    uint64_t bytes;
    int survived;
  } *open;     /* samples since the last ages_settle, oldest first */
  size_t n, size;  /* number of elements of 'open', capacity */
} Ages;

/* Adds a sample of 'bytes' bytes whose survival is decided. Samples are added oldest first.
   Returns 0 if there is not enough memory. */
int ages_add (Ages *a, uint64_t bytes, int survived);

/* Ends a collection: adds its samples to the table. 'charged' is the number of bytes allocated
   in its nursery; 0: unknown, use the bytes of the samples. Returns 0 if there is not enough
   memory. */
int ages_settle (Ages *a, uint64_t charged);

/* Frees the memory. */
void ages_free (Ages *a);

#endif
