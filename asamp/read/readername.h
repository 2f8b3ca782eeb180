/* SPDX-License-Identifier: MIT */
/* Reads the names of frames, types and classes. Creates the function that a frame's name
   denotes. */
#ifndef asamp_readername_h
#define asamp_readername_h

#include "readerstate.h"

/* Gives an id a name of n bytes, cut to READER_MAXNAME, unless it has a name. If the map is full
   (READER_MAXIDS), counts the name in ReadProfile.left instead. */
void readername_set (ReaderState *s, IdMap *m, uint64_t id, const char *text,
                     size_t n);
/* Sets the name of a frame id. If the file has two names for an id, keeps the larger one by strcmp,
   as other readers do. */
void readername_add (ReaderState *s, uint64_t id, const char *text, size_t n);
/* Completes the ReadProfile after the last event: the names of its kinds, and its members
   'functions', 'nfunctions' and 'fn'. Returns 0 if out of memory. */
int readername_finish (ReaderState *s);

#endif
