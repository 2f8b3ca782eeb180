/* SPDX-License-Identifier: MIT */
/*
** Survival by age, which predicts the effect of another nursery size. A byte was allocated u bytes
** before a collection and v bytes after the previous collection, both measured in bytes allocated
** in the nursery. The table has, for each pair of u and v, the number of bytes, and how many of
** them survived the collection.
**
** A collection records how many bytes were allocated in the nursery since the previous one. These
** bytes are divided among the samples that the collection decides. The parts are in the order of
** the samples, and in proportion to the bytes that the samples represent. The outcome of a sample
** counts for its whole part. Independent of files and Lua. Invariants:
**
**   AG1  u and v are counted in AGES_BINS bins, AGES_DOUBLING for each power of 2. The first bin
**        has all values below AGES_FIRST; the last bin has no upper end;
**   AG2  at most AGES_OPEN samples are stored until the end of their collection; if it decides
**        AGES_OPEN or more, none of them count.
*/
#ifndef asamp_ages_h
#define asamp_ages_h

#include <stddef.h>
#include <stdint.h>

#include "bounds.h"

#define AGES_FIRST	4096u	/* upper end of the first bin (range of bytes), bytes */
#define AGES_DOUBLING	4u	/* number of bins (ranges of bytes) per power of 2 */
#define AGES_BINS	96u	/* number of bins (ranges of bytes) */

/* Bytes that samples represent: all of them, and the part that survived. */
typedef struct Age {
  double bytes, survived;
} Age;

/* The totals of survival by age. All zero: empty. */
typedef struct Ages {
  /* Table of AGES_BINS rows with AGES_BINS columns. Row: range (bin) of the number of bytes
     allocated after an object, up to the collection. Column: range of the number allocated before
     the object, since the previous collection. NULL: no collection was added. */
  Age *cells;
  struct AgeOpen {
    uint64_t bytes;
    int survived;
  } *open;     /* samples of which a collection decided whether they survive, since the last call
		  of ages_settle; oldest first */
  size_t n, size;  /* number of elements of 'open', capacity */
} Ages;

/*
** Adds a sample whose survival a collection has decided; it represents 'bytes' bytes. The samples
** of a collection must be added oldest first. Returns 0 if there is not enough memory.
*/
int ages_add (Ages *a, uint64_t bytes, int survived);

/*
** Ends a collection: adds its samples (those added since the previous call) to the totals.
** 'charged' is the number of bytes allocated in the nursery since the previous collection. If it is
** 0 (unknown), the bytes that the samples represent replace it. Returns 0 if there is not enough
** memory.
*/
int ages_settle (Ages *a, uint64_t charged);

/* Frees the memory; the totals must not be used any more. */
void ages_free (Ages *a);

#endif
