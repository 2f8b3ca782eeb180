/* SPDX-License-Identifier: MIT */
/*
** Writes the totals of a profile as a pprof file (profile.proto, protocol buffers). The sample
** types are those of Go's heap profiles: alloc_objects, alloc_space, inuse_objects and
** inuse_space. "inuse" counts blocks that are not known to have died. Profiles with time samples
** also have the types samples, and cpu or wall. The values are estimates of the allocation: space
** is count times period, and objects is space divided by the size of the block. The kind of a
** block is in the labels "type" and "class". If the sums have tags (tags.h), the program's labels
** are included, and "state" and "thread" of a process with several of them.
*/
#ifndef asamp_pprof_h
#define asamp_pprof_h

#include "fold.h"
#include "output.h"
#include "readersum.h"

/*
** Writes the profile to o. 'first' is the default sample type ("time": cpu or wall); NULL: chosen
** from the samples. Returns 0 if there is not enough memory.
*/
int pprof_write (const ReadProfile *r, const Fold *fold, const ReaderSum *sum,
                 const char *first, Output *o);

#endif
