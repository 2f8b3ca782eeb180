/* SPDX-License-Identifier: MIT */
/* The stacks of asamp's log whose samples have no details yet (details.h). A sample has one or
   more equal, consecutive stacks. A reader fails if the samples of a text do not match the
   stacks before it; this checks it. */
#ifndef asamp_repairruns_h
#define asamp_repairruns_h

#include <stddef.h>
#include <stdint.h>

#include "details.h"

/* Runs of equal consecutive stacks. All zero: empty. */
typedef struct RepairRuns {
  struct RepairRun {
    uint64_t what;     /* hash of a stack record */
    uint64_t copies;   /* consecutive records with it */
  } *list;
  size_t n, size;      /* elements, capacity */
} RepairRuns;

/* Adds a stack by its record's hash. At READER_MAXRUNS elements first empties the list. Returns
   0 if there is not enough memory. */
int repairruns_add (RepairRuns *r, uint64_t what);

/* Returns 1 if the samples of a text match the stacks. Empties the list. */
int repairruns_fit (RepairRuns *r, const Details *d);

/* Frees the list, which is then empty. */
void repairruns_free (RepairRuns *r);

#endif
