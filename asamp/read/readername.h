/* SPDX-License-Identifier: MIT */
/*
** Reads the names of frames, types and classes in a log, and makes functions from the names of
** frames. Used only by the files that implement reader.h.
*/
#ifndef asamp_readername_h
#define asamp_readername_h

#include "readerstate.h"

/*
** Adds a name (n bytes, cut to READER_MAXNAME) to ReadProfile.text, and maps the id to the offset
** of the name. Does nothing if the id has a name. If the map has READER_MAXIDS entries, a new id
** gets no name and is counted in ReadProfile.left (R2).
*/
void readername_set (ReaderState *s, IdMap *m, uint64_t id, const char *text,
                     size_t n);
/*
** Sets the name of a frame's id, for up to READER_MAXIDS ids. If the file has two names for an id,
** uses the name that is larger by strcmp, as other readers do.
*/
void readername_add (ReaderState *s, uint64_t id, const char *text, size_t n);
/*
** Sets in the ReadProfile the names of the kinds, and the fields 'functions', 'nfunctions' and
** 'fn'. To be called after the last event. Returns 0 if there is not enough memory.
*/
int readername_finish (ReaderState *s);

#endif
