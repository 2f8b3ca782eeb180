/* SPDX-License-Identifier: MIT */
/*
** Reads stack and object records of a log. In files written by asamp, the other data of the samples
** (size, type, survival outcome) are in later texts, the details; stacks are queued in
** ReaderState.runs until then. In files of other writers, stacks are delivered as samples at once,
** and object records have the survival outcomes of allocation samples. Used only by the files that
** implement reader.h.
*/
#ifndef asamp_readerstack_h
#define asamp_readerstack_h

#include "readerstate.h"

/*
** Adds a stack record. 'seconds': its time by the monotonic clock, 0: unknown. 'allocation': 0 for
** a time sample, else 1. 'type': the type of the block or the kind of the copy, as in Run; used
** only in files written by asamp.
*/
void readerstack_add (ReaderState *s, uint32_t node, uint32_t type,
                      double seconds, uint64_t thread, int allocation);

/*
** Reads an object record of n words of 8 bytes: delivers the survival outcomes of the oldest
** samples that have none, and a collection. Does nothing in files written by asamp, whose details
** texts have the same data.
*/
void readerstack_objects (ReaderState *s, double seconds,
                          const unsigned char *words, size_t n);

/* Delivers the stacks queued in ReaderState.runs as samples without size, type and outcome, and
   empties 'runs'. */
void readerstack_giveup (ReaderState *s);

#endif
