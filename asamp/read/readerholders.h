/* SPDX-License-Identifier: MIT */
/*
** Reads the holders of live samples from the details of our files: paths, and the path of each
** followed sample. Used only by the files of reader.h.
*/
#ifndef asamp_readerholders_h
#define asamp_readerholders_h

#include "details.h"
#include "readerstate.h"

/* Read lines of a batch, after their letters. */
void readerholders_path (ReaderState *s, Fields *line);
void readerholders_runs (ReaderState *s, Fields *line);
void readerholders_walk (ReaderState *s, Fields *line);

/* At the end: delivers the holder of each followed sample that has not died. */
void readerholders_finish (ReaderState *s);

#endif
