/* SPDX-License-Identifier: MIT */
/* Reads the names of frames, types and classes. Creates the functions of the profile from the names
   of frames. */
#ifndef asamp_readername_h
#define asamp_readername_h

#include "readerstate.h"

/* Stores in *m a name of n bytes for an id, cut to READER_MAXNAME bytes. Does nothing if the id has
   a name. If the map has READER_MAXIDS entries, counts the name in ReadProfile.left instead. */
void readername_set (ReaderState *s, IdMap *m, uint64_t id, const char *text, size_t n);
/* Sets the name of a frame id. If the file has several names for the id, keeps the largest one in
   the order of strcmp, as other readers of VMProf logs do. */
void readername_add (ReaderState *s, uint64_t id, const char *text, size_t n);
/* After the last event, sets the names of the kinds of blocks, and the fields 'functions',
   'nfunctions' and 'fn' of the ReadProfile. Returns 0 if out of memory. */
int readername_finish (ReaderState *s);

#endif
