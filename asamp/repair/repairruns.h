/* SPDX-License-Identifier: MIT */
/*
** The stacks of a log of ours that wait for their details: a batch of these tells how often
** each of its samples stands there, one behind the other. Who reads a batch that does not
** fit reads no further.
*/
#ifndef asamp_repairruns_h
#define asamp_repairruns_h

#include <stddef.h>
#include <stdint.h>

#include "details.h"

typedef struct RepairRuns {
  struct RepairRun {
    uint64_t what;     /* the bytes of the record, as a number */
    uint64_t copies;   /* so many in a row */
  } *list;
  size_t n, size;
} RepairRuns;

/* A stack; 0 without memory. */
int repairruns_add (RepairRuns *r, uint64_t what);

/* Do the samples of a batch fit? None waits after that. */
int repairruns_fit (RepairRuns *r, const Details *d);

void repairruns_free (RepairRuns *r);

#endif
