/* SPDX-License-Identifier: MIT */
/*
** Writes the totals of a profile as a pprof file (profile.proto). Sample types: for allocations
** those of Go's heap profiles, where "inuse" counts blocks not known to have died; for time
** samples, and cpu or wall; for paths of references held_space, the bytes alive at the end
** (heldstack.h).
**
** Values are estimates: space is count * period, objects is space / block size. Labels are "type"
** and "class" of the block and, if distinguished (tags.h), "state", "thread" and the program's
** labels.
*/
#ifndef asamp_pprof_h
#define asamp_pprof_h

#include "fold.h"
#include "output.h"
#include "readersum.h"

/* Writes the profile, after readersum_finish. 'first' is the default sample type ("time": cpu
   or wall); NULL: alloc_space, or cpu or wall with time samples only. Returns 0 if there is not
   enough memory. */
int pprof_write (const ReadProfile *r, const Fold *fold, const ReaderSum *sum,
                 const char *first, Output *o);

#endif
