/* SPDX-License-Identifier: MIT */
/*
** Stack records of a log. Stacks of asamp's own files are queued until their details are read;
** those of other writers become samples at once, and the objects that follow decide their
** survival outcome.
*/
#ifndef asamp_readerstack_h
#define asamp_readerstack_h

#include "readerstate.h"

/*
** Adds a stack record. 'seconds': monotonic clock, 0: unknown. 'type': of an allocation, if the
** record contains it.
*/
void readerstack_add (ReaderState *s, uint32_t node, uint32_t type,
                      double seconds, uint64_t thread, int allocation);

/* Reads an object record of n words, 8 bytes each, in the file's order. */
void readerstack_objects (ReaderState *s, double seconds,
                          const unsigned char *words, size_t n);

/* Delivers the queued stacks as samples without details. */
void readerstack_giveup (ReaderState *s);

#endif
