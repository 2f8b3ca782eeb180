/* SPDX-License-Identifier: MIT */
/*
** Who holds the samples that are alive, as the details of our files tell: paths, and
** which of those that are followed each path holds. Of reader.h's files alone.
*/
#ifndef asamp_readerholders_h
#define asamp_readerholders_h

#include "details.h"
#include "readerstate.h"

/* Lines of a batch, behind their letters. */
void readerholders_path (ReaderState *s, Fields *line);
void readerholders_runs (ReaderState *s, Fields *line);
void readerholders_walk (ReaderState *s, Fields *line);

/* At the end: tells the client who holds what has not died. */
void readerholders_finish (ReaderState *s);

#endif
