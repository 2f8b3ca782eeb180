/* SPDX-License-Identifier: MIT */
/* Orphans: live samples of native memory whose Lua state has ended. In a batch's details
   (readerbatch.h), line X has their number, and lines D their deaths. Used only by the files
   that implement reader.h. */
#ifndef asamp_readerorphans_h
#define asamp_readerorphans_h

#include "details.h"
#include "readerstate.h"

/* Sets one->orphans to n, the number of live samples of native memory of an ending state; 0 if
   the reader has another number of them. Ends the pass over the list of survivors. */
void readerorphans_expect (ReaderStream *one, const ReadProfile *r, uint64_t n);

/* Ends the closed stream s->of: delivers the deaths of its live survivors, except orphans
   (native memory that outlives the state). Moves the stream to 'orphaned', or frees it if it
   has none. It must not be in 'list'; the caller sets s->of. */
void readerorphans_bury (ReaderState *s);

/* Reads a line D of a batch's details and delivers deaths of orphans of the state that it
   names. */
void readerorphans_line (ReaderState *s, Fields *line);

#endif
