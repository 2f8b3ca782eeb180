/* SPDX-License-Identifier: MIT */
/*
** The stacks of a log of asamp for which the details text, with the sizes and outcomes of the
** samples, was not read yet. A sample in a details text has one or more stacks in the log, its
** copies, which are equal and consecutive. A reader fails at a details text whose samples do not
** match the stacks before it, so repair checks this.
*/
#ifndef asamp_repairruns_h
#define asamp_repairruns_h

#include <stddef.h>
#include <stdint.h>

#include "details.h"

/* Runs of equal consecutive stacks. All zero: empty. */
typedef struct RepairRuns {
  struct RepairRun {
    uint64_t what;     /* hash of the bytes of a stack's record */
    uint64_t copies;   /* number of consecutive records with this hash */
  } *list;
  size_t n, size;      /* elements in use, and capacity */
} RepairRuns;

/*
** Adds a stack, given the hash of its record. If the stack needs a new element and the list has
** READER_MAXRUNS elements, first empties the list. Returns 0 if there is not enough memory.
*/
int repairruns_add (RepairRuns *r, uint64_t what);

/* Returns 1 if the samples of a details text match the stacks in the list. Empties the list. */
int repairruns_fit (RepairRuns *r, const Details *d);

/* Frees the list, which is then empty. */
void repairruns_free (RepairRuns *r);

#endif
