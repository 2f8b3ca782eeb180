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

/* Reads a line H of the details, which has a path. In this function and the next ones, 'line' has
   the fields after the letter. */
void readerholders_path (ReaderState *s, Fields *line);
/*
** Reads a line h of the details, which has the paths of consecutive followed samples of s->of. Also
** ends the pass over the list of followed samples (readerfollow.h).
*/
void readerholders_runs (ReaderState *s, Fields *line);
/* Reads a line w of the details, which has the time and duration of a heap walk, and delivers
   it. */
void readerholders_walk (ReaderState *s, Fields *line);

/*
** Calls the client's 'held' for each followed sample that has not died and that the client selects.
** Leaves out the samples of ended states (the streams in 'orphaned', readerstream.h). Does nothing
** if the file has no paths. To be called at the end of the file.
*/
void readerholders_finish (ReaderState *s);

#endif
