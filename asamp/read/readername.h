/* SPDX-License-Identifier: MIT */
/*
** The names in a log: of frames, of types, and the functions that they add up
** to.
*/
#ifndef asamp_readername_h
#define asamp_readername_h

#include "readerstate.h"

/* Gives an id that is new the name, if the map has room (R2). */
void readername_set (ReaderState *s, IdMap *m, uint64_t id, const char *text,
                     size_t n);
void readername_add (ReaderState *s, uint64_t id, const char *text, size_t n);
/* Names of kinds, and the functions; 0 without memory. */
int readername_finish (ReaderState *s);

#endif
