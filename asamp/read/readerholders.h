/* SPDX-License-Identifier: MIT */
/* Reads the holders of live samples in asamp's files: the paths of references from a root of the
   Lua state to each followed sample. A sample is followed if it has survived its first collection
   and the file records when it dies later. */
#ifndef asamp_readerholders_h
#define asamp_readerholders_h

#include "details.h"
#include "readerstate.h"

/* Reads a line "H" of a batch (doc/profile-format.md), which defines a path of references. 'line'
   has the fields after the letter. */
void readerholders_path (ReaderState *s, Fields *line);
/* Reads a line "h" of a batch: runs of successive live survivors, each with the number of the path
   of references that keeps them alive. First ends the pass that removes dead survivors from their
   list (readerfollow.h), because the runs do not include dead survivors. */
void readerholders_runs (ReaderState *s, Fields *line);
/* Reads a line "w" of a batch (doc/profile-format.md) and delivers it: start and duration of a heap
   walk. */
void readerholders_walk (ReaderState *s, Fields *line);

/* At the end of the file, calls the client's callback 'held' for each followed sample (a survivor
   whose death the file would record) that is still alive, if the client selects its Lua state. */
void readerholders_finish (ReaderState *s);

#endif
