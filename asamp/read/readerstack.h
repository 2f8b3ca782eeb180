/* SPDX-License-Identifier: MIT */
/* Reads stack and object records. In asamp's files, stacks are queued until the details of their
   samples are read (readerbatch.h). In other files, stacks are samples, and object records have the
   outcomes. */
#ifndef asamp_readerstack_h
#define asamp_readerstack_h

#include "readerstate.h"

/* Adds a stack record. 'seconds': time by the monotonic clock; 0: unknown. 'allocation' 0: it is
   the stack of a time sample. 'type': value for Run.type, used only in asamp's files. */
void readerstack_add (ReaderState *s, uint32_t node, uint32_t type,
                      double seconds, uint64_t thread, int allocation);

/* Delivers which samples died or survived, and the collection, from an object record of n words.
   Does nothing in asamp's files. */
void readerstack_objects (ReaderState *s, double seconds,
                          const unsigned char *words, size_t n);

/* Delivers the queued stacks as samples without details, and empties the queue. */
void readerstack_giveup (ReaderState *s);

#endif
