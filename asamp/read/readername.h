/* SPDX-License-Identifier: MIT */
/*
** The names in a log, of frames, types and classes, and the functions that the names of frames
** determine. Used only by the files of reader.h.
*/
#ifndef asamp_readername_h
#define asamp_readername_h

#include "readerstate.h"

/*
** Maps an id to the offset in 'text' of its name (n bytes, cut to READER_MAXNAME), unless the id
** has a name, or the map has READER_MAXIDS entries (R2).
*/
void readername_set (ReaderState *s, IdMap *m, uint64_t id, const char *text,
                     size_t n);
/*
** Sets the name of a frame's id, up to READER_MAXIDS ids. If an id has two names, the one that is
** larger by strcmp counts, as in other readers.
*/
void readername_add (ReaderState *s, uint64_t id, const char *text, size_t n);
/*
** After the last event: sets the names of kinds, 'functions', 'nfunctions' and 'fn' of the
** ReadProfile. Returns 0 if there is not enough memory.
*/
int readername_finish (ReaderState *s);

#endif
