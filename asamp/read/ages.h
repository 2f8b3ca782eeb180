/* SPDX-License-Identifier: MIT */
/*
** Survival by age, which predicts the effect of another nursery size: of the bytes that were
** allocated u bytes before a collection and v bytes after the previous one, the part that survived
** the collection. u and v are counted in bytes allocated in the nursery.
**
** A collection records how many bytes were allocated in the nursery since the previous one. These
** bytes are divided among the samples that the collection decides, in the order of the samples and
** in proportion to the bytes that they represent; the outcome of a sample counts for its whole
** part. Independent of files and Lua. Invariants:
**
**   AG1  there are AGES_DOUBLING bins for each power of 2; the first bin contains all lengths below
**        AGES_FIRST, the last one all above its lower end;
**   AG2  at most AGES_OPEN samples are stored until the end of their collection; if it decides
**        AGES_OPEN or more, none of them count.
*/
#ifndef asamp_ages_h
#define asamp_ages_h

#include <stddef.h>
#include <stdint.h>

#include "bounds.h"

#define AGES_FIRST	4096u	/* upper end of the first bin, bytes */
#define AGES_DOUBLING	4u	/* bins per power of 2 */
#define AGES_BINS	96u	/* number of bins */

/* Bytes that samples represent: all, and those that survived. */
typedef struct Age {
  double bytes, survived;
} Age;

/* The totals. All zero: empty. */
typedef struct Ages {
  Age *cells;  /* AGES_BINS * AGES_BINS: row = bin of u, column = bin of v; NULL: no totals yet */
  struct AgeOpen {
    uint64_t bytes;
    int survived;
  } *open;     /* samples decided since the last ages_settle, oldest first */
  size_t n, size;  /* number of elements of 'open', capacity */
} Ages;

/*
** Adds a decided sample that represents 'bytes' bytes. Samples of a collection must be added oldest
** first. Returns 0 if there is not enough memory.
*/
int ages_add (Ages *a, uint64_t bytes, int survived);

/*
** Ends the collection that decided the samples added since the previous call; 'charged' bytes were
** allocated in the nursery (0: unknown; the samples' bytes are used). Returns 0 if there is not
** enough memory.
*/
int ages_settle (Ages *a, uint64_t charged);

/* Frees the memory; the totals must not be used any more. */
void ages_free (Ages *a);

#endif
