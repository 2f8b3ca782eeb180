/* SPDX-License-Identifier: MIT */
/*
** Writes the totals of a profile as a pprof file (profile.proto). Allocations have the sample types
** of Go's heap profiles; those with "inuse" count the blocks not known to have died. Time samples
** have the sample type "samples", and "cpu" or "wall". Paths of references (heldstack.h) have the
** sample type "held_space", the bytes that they keep alive at the end.
**
** Values are estimates. The space of a sample is its number of sampling periods times the period;
** its number of objects is this space divided by the size of the sampled block. Labels are "type"
** and "class" of the block and, if distinguished (tags.h), "state", "thread" and the program's
** labels.
*/
#ifndef asamp_pprof_h
#define asamp_pprof_h

#include "fold.h"
#include "output.h"
#include "readersum.h"

/* Writes the profile. Call it after readersum_finish. Returns 0 if out of memory. 'first' is the
   default sample type; "time" selects cpu or wall, whichever the file has. NULL: alloc_space, or
   cpu or wall in a profile that has only time samples. */
int pprof_write (const ReadProfile *r, const Fold *fold, const ReaderSum *sum,
                 const char *first, Output *o);

#endif
