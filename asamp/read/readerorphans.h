/* SPDX-License-Identifier: MIT */
/*
** Orphans: followed samples (survivors whose death the file records) of native memory whose Lua
** state has ended; this memory lives on without the state (readerstream.h). The line X of the
** details, which ends the state, has the number of orphans; lines D have their deaths. Used only by
** the files that implement reader.h.
*/
#ifndef asamp_readerorphans_h
#define asamp_readerorphans_h

#include "details.h"
#include "readerstate.h"

/*
** To be called when the Lua state of the stream ends. Sets one->orphans to n, the number of its
** live samples of native memory in the line X, which ends the state. Sets it to 0 if the stream
** does not follow exactly n samples of native memory. Ends the pass over the list of followed
** samples.
*/
void readerorphans_expect (ReaderStream *one, const ReadProfile *r, uint64_t n);

/*
** Delivers the deaths of all followed samples of the closed stream s->of, except its orphans
** (samples of native memory, which live on). Moves the stream to 'orphaned' if it has orphans, else
** frees it. The caller must have removed the stream from 'list', and must set s->of afterwards.
*/
void readerorphans_bury (ReaderState *s);

/* Reads a line D of a details text (readerbatch.h), which names a Lua state, and delivers deaths of
   the state's samples of native memory. */
void readerorphans_line (ReaderState *s, Fields *line);

#endif
