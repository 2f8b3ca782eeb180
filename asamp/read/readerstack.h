/* SPDX-License-Identifier: MIT */
/*
** Reads stack and object records of a log. In own files, stacks are queued in 'runs' until their
** details are read. In files of other writers, stacks are delivered as samples at once, and object
** records decide the outcomes of allocation samples. Used only by the files that implement
** reader.h.
*/
#ifndef asamp_readerstack_h
#define asamp_readerstack_h

#include "readerstate.h"

/*
** Adds a stack record. 'seconds': its time by the monotonic clock, 0: unknown. 'allocation': 0 for
** a time sample, else 1. 'type': as in Run; used only for allocations and copies in own files.
*/
void readerstack_add (ReaderState *s, uint32_t node, uint32_t type,
                      double seconds, uint64_t thread, int allocation);

/*
** Reads an object record of n words of 8 bytes: decides the oldest undecided samples and delivers a
** collection. Does nothing in own files, whose details have the same data.
*/
void readerstack_objects (ReaderState *s, double seconds,
                          const unsigned char *words, size_t n);

/* Delivers the queued stacks as samples without details, and empties 'runs'. */
void readerstack_giveup (ReaderState *s);

#endif
