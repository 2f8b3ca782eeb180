/* SPDX-License-Identifier: MIT */
/*
** Reads the holders of live samples in profiles written by asamp. A walk over the heap finds for
** each followed sample (a survivor whose death the file records) a path: the references from a root
** of the Lua state to the object. The file has the paths, and the path of each followed sample.
** Used only by the files that implement reader.h.
*/
#ifndef asamp_readerholders_h
#define asamp_readerholders_h

#include "details.h"
#include "readerstate.h"

/* Reads a line H of a details text (readerbatch.h): a path of references from a root to a live
   object. 'line' has the fields after the letter. */
void readerholders_path (ReaderState *s, Fields *line);
/*
** Reads a line h of a details text, which has the paths of references to consecutive followed
** samples (survivors whose death the file records) of s->of. 'line' has the fields after the
** letter. Also ends the pass over the list of followed samples (readerfollow.h).
*/
void readerholders_runs (ReaderState *s, Fields *line);
/* Reads a line w of a details text, which has the time and duration of a heap walk, and passes it
   to the client. 'line' has the fields after the letter. */
void readerholders_walk (ReaderState *s, Fields *line);

/*
** Calls the client's 'held' for each followed sample that has not died and that the client selects.
** Leaves out the samples of ended states (the streams in 'orphaned', readerstream.h). Does nothing
** if the file has no paths. To be called at the end of the file.
*/
void readerholders_finish (ReaderState *s);

#endif
