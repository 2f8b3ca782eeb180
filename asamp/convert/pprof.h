/* SPDX-License-Identifier: MIT */
/*
** Totals as a pprof profile (profile.proto): sites in, a file of protocol
** buffers out. Sample types are those of Go's heap profiles (alloc_objects,
** alloc_space, inuse_objects, inuse_space: allocated, and not known to have
** died), and samples and cpu (or wall) when there are samples of time.
** Values are estimates of what was allocated, not numbers of samples: space
** is count times period, objects that by the size of the block. Kinds are the
** labels "type" and "class"; if sites are told apart by tags (tags.h), the program's
** labels are there, and "state" and "thread" of a process that has several.
*/
#ifndef asamp_pprof_h
#define asamp_pprof_h

#include "fold.h"
#include "output.h"
#include "readersum.h"

/* 0 without memory. */
int pprof_write (const ReadProfile *r, const Fold *fold, const ReaderSum *sum,
                 const char *first, Output *o);

#endif
