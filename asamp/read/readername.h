/* SPDX-License-Identifier: MIT */
/*
** Reads the names of frames, types and classes in a log, and makes functions from the names of
** frames. Used only by the files of reader.h.
*/
#ifndef asamp_readername_h
#define asamp_readername_h

#include "readerstate.h"

/*
** Adds a name (n bytes, cut to READER_MAXNAME) to ReadProfile.text, and maps the id to its offset.
** An id that has a name keeps it. A new id is left out if the map has READER_MAXIDS entries (R2).
*/
void readername_set (ReaderState *s, IdMap *m, uint64_t id, const char *text,
                     size_t n);
/*
** Sets the name of a frame's id, for up to READER_MAXIDS ids. If the file has two names for an id,
** the one that is larger by strcmp counts, as in other readers.
*/
void readername_add (ReaderState *s, uint64_t id, const char *text, size_t n);
/*
** Sets the names of kinds, 'functions', 'nfunctions' and 'fn' of the ReadProfile, after the last
** event. Returns 0 if there is not enough memory.
*/
int readername_finish (ReaderState *s);

#endif
