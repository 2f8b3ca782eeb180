/* SPDX-License-Identifier: MIT */
/*
** Writes the totals of a profile as a pprof file (profile.proto, protocol buffers). The sample
** types depend on the data of the profile:
**
**   allocation samples  those of Go's heap profiles: alloc_objects, alloc_space, inuse_objects and
**                       inuse_space. "inuse" counts blocks that are not known to have died
**   time samples        samples, and cpu or wall
**   holders             held_space: bytes alive at the end, with the path of references that keeps
**                       them alive as the stack (heldstack.h)
**
** The values are estimates: space is count times period, and objects is space divided by the size
** of the block. The kind of a block is in the labels "type" and "class". If the sums have tags
** (tags.h), samples have the program's labels, and "state" and "thread" if the process has several
** of them.
*/
#ifndef asamp_pprof_h
#define asamp_pprof_h

#include "fold.h"
#include "output.h"
#include "readersum.h"

/*
** Writes the profile to o. Called after readersum_finish. 'first' is the name of the default sample
** type ("time": cpu or wall), which the file has even if the profile has no sample of it. If it is
** NULL, the default type is alloc_space or, with time samples only, cpu or wall. Returns 0 if there
** is not enough memory.
*/
int pprof_write (const ReadProfile *r, const Fold *fold, const ReaderSum *sum,
                 const char *first, Output *o);

#endif
