/* SPDX-License-Identifier: MIT */
/* Orphans: live samples of native memory whose Lua state has ended. In a batch's details
   (readerbatch.h), line X has their number, and lines D their deaths. Used only by the files
   that implement reader.h. */
#ifndef asamp_readerorphans_h
#define asamp_readerorphans_h

#include "details.h"
#include "readerstate.h"

/* Sets one->orphans when a Lua state ends: n, the file's number of its live samples of native
   memory, or 0 if the list of survivors has another number of them. Ends the pass over the list. */
void readerorphans_expect (ReaderStream *one, const ReadProfile *r, uint64_t n);

/* Delivers the deaths of the live survivors of a closed state, except its orphans. s->of is the
   state's stream, which must not be in ReaderStreams.list. Moves the stream to 'orphaned' if it has
   orphans, else frees it. The caller must then set s->of. */
void readerorphans_bury (ReaderState *s);

/* Reads a line D of a batch's details and delivers deaths of orphans of the state that it
   names. */
void readerorphans_line (ReaderState *s, Fields *line);

#endif
