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

/* Ends s->of, the stream of a closed state, which must not be in 'list'. Delivers the deaths of the
   live survivors except orphans (native memory that outlives the state). If the stream has orphans,
   moves it to 'orphaned', else frees it. s->of is then invalid; the caller sets it. */
void readerorphans_bury (ReaderState *s);

/* Reads a line D of a batch's details and delivers deaths of orphans of the state that it
   names. */
void readerorphans_line (ReaderState *s, Fields *line);

#endif
