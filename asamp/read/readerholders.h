/* SPDX-License-Identifier: MIT */
/*
** Reads the holders of live samples from the details of own files: paths, and the path of each
** followed sample. Used only by the files that implement reader.h.
*/
#ifndef asamp_readerholders_h
#define asamp_readerholders_h

#include "details.h"
#include "readerstate.h"

/* Reads a line H, which has a path. In this function and the next ones, 'line' has the fields after
   the letter. */
void readerholders_path (ReaderState *s, Fields *line);
/*
** Reads a line h, which has the paths of consecutive followed samples of s->of. Also ends the pass
** over s->of->follow.
*/
void readerholders_runs (ReaderState *s, Fields *line);
/* Reads a line w, a heap walk, and delivers it. */
void readerholders_walk (ReaderState *s, Fields *line);

/*
** Calls the client's 'held' for each wanted followed sample that has not died, except the samples
** of streams in 'orphaned'. Does nothing if the file has no paths. To be called at the end of the
** file.
*/
void readerholders_finish (ReaderState *s);

#endif
