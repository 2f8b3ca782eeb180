/* SPDX-License-Identifier: MIT */
/* The names in a log: of frames and of types; and the functions determined by them. */
#ifndef asamp_readername_h
#define asamp_readername_h

#include "readerstate.h"

/* Sets the name of an id that has none, if the map is below its limit (R2). */
void readername_set (ReaderState *s, IdMap *m, uint64_t id, const char *text,
                     size_t n);
void readername_add (ReaderState *s, uint64_t id, const char *text, size_t n);
/*
** At the end: sets the names of kinds, and the functions. Returns 0 if there is not enough
** memory.
*/
int readername_finish (ReaderState *s);

#endif
