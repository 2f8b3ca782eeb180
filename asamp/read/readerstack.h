/* SPDX-License-Identifier: MIT */
/* Reads stack and object records. In asamp's files, stacks are queued until the batch with the
   details of their samples is read (readerbatch.h). In files of other writers, a stack is a sample,
   and object records show which samples survived. */
#ifndef asamp_readerstack_h
#define asamp_readerstack_h

#include "readerstate.h"

/* Adds a stack record. 'seconds': its time on the monotonic clock; 0: unknown. 'allocation' 0: the
   stack is of a time sample. 'type': value for Run.type, used only in asamp's files. 'node': call
   tree node of the stack. 'thread': number of the thread in the record. */
void readerstack_add (ReaderState *s, uint32_t node, uint32_t type,
                      double seconds, uint64_t thread, int allocation);

/* Reads an object record of n words: delivers which samples died or survived, and a collection.
   Does nothing in asamp's files, whose batches have the same data. */
void readerstack_objects (ReaderState *s, double seconds, const unsigned char *words, size_t n);

/* Delivers the queued stacks as samples without size and survival, because the file has no details
   of them. Empties the queue. */
void readerstack_giveup (ReaderState *s);

#endif
