/* SPDX-License-Identifier: MIT */
/*
** Survival by age, which predicts the effect of another nursery size. For the bytes that were
** allocated u bytes before a minor or full collection and v bytes after the previous one, it is the
** part that has survived the collection. u and v count bytes with which the nursery was filled.
**
** A collection records with how many bytes the nursery was filled since the previous one. The
** samples that it decides divide these bytes among them in proportion to the bytes that they
** represent; the outcome of a sample counts for its whole part. Independent of files and Lua.
** Invariants:
**
**   AG1  a bin is a quarter of a power of 2; the first one contains everything below
**        AGES_FIRST;
**   AG2  at most AGES_OPEN samples are stored until the end of their collection; if it decides
**        more, none of them count.
*/
#ifndef asamp_ages_h
#define asamp_ages_h

#include <stddef.h>
#include <stdint.h>

#include "bounds.h"

#define AGES_FIRST	4096u	/* upper end of the first bin, bytes */
#define AGES_DOUBLING	4u	/* bins per power of 2 */
#define AGES_BINS	96u	/* number of bins */

typedef struct Age {
  double bytes, survived;  /* bytes that samples represent */
} Age;

typedef struct Ages {
  Age *cells;  /* Matrix: row = bin of the bytes allocated after, column = bin of the bytes
	          allocated before; NULL: empty */
  struct AgeOpen {
    uint64_t bytes;
    int survived;
  } *open;
  size_t n, size;
} Ages;

/* Adds a decided sample. Returns 0 if there is not enough memory. */
int ages_add (Ages *a, uint64_t bytes, int survived);

/*
** Ends the collection that decided the samples added so far; the nursery was filled with
** 'charged' bytes (0: unknown). Returns 0 if there is not enough memory.
*/
int ages_settle (Ages *a, uint64_t charged);

void ages_free (Ages *a);

#endif
