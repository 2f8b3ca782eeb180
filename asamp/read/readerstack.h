/* SPDX-License-Identifier: MIT */
/*
** Stacks: those of our own files wait for their details, those of other writers
** are samples at once, decided by the objects that follow.
*/
#ifndef asamp_readerstack_h
#define asamp_readerstack_h

#include "readerstate.h"

/*
** A stack record. 'seconds': of the monotonic clock, 0 when the record tells
** none. 'type': of an allocation, if the record tells it.
*/
void readerstack_add (ReaderState *s, uint32_t node, uint32_t type,
                      double seconds, uint64_t thread, int allocation);

/* An object record with its n words, 8 bytes each, in the file's order. */
void readerstack_objects (ReaderState *s, double seconds,
                          const unsigned char *words, size_t n);

/* The runs that wait have no details: their samples without them. */
void readerstack_giveup (ReaderState *s);

#endif
