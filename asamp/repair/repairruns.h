/* SPDX-License-Identifier: MIT */
/*
** The stacks of a log of asamp whose details have not been read yet. A batch of details
** contains how often each of its samples occurs in the log in sequence. A reader stops at a
** batch that does not match.
*/
#ifndef asamp_repairruns_h
#define asamp_repairruns_h

#include <stddef.h>
#include <stdint.h>

#include "details.h"

typedef struct RepairRuns {
  struct RepairRun {
    uint64_t what;     /* hash of the record's bytes */
    uint64_t copies;   /* how often it occurs in sequence */
  } *list;
  size_t n, size;
} RepairRuns;

/* Adds a stack. Returns 0 if there is not enough memory. */
int repairruns_add (RepairRuns *r, uint64_t what);

/* Returns 1 if the samples of a batch match the stacks so far. Afterwards no stack is left. */
int repairruns_fit (RepairRuns *r, const Details *d);

void repairruns_free (RepairRuns *r);

#endif
