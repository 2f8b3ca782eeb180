/* SPDX-License-Identifier: MIT */
/* Orphans: live samples of native memory whose Lua state has ended. In a batch's details
   (readerbatch.h), line "X" has their number, and lines "D" their deaths. */
#ifndef asamp_readerorphans_h
#define asamp_readerorphans_h

#include "details.h"
#include "readerstate.h"

/* Ends the pass over the survivors of an ended Lua state. n: number of its live samples of native
   memory, by the file. Sets one->orphans to n if the list of survivors has as many, else to 0,
   because the file's positions are then not those of the list. */
void readerorphans_expect (ReaderStream *one, const ReadProfile *r, uint64_t n);

/* Delivers the deaths of the live survivors of a closed state, except its orphans. s->of is the
   state's stream, which must not be in ReaderStreams.list. Moves the stream to 'orphaned' if it has
   orphans, else frees it. The caller must set s->of again. */
void readerorphans_bury (ReaderState *s);

/* Reads a line "D" of a batch (doc/profile-format.md) and delivers deaths of orphans of the state
   that it names. */
void readerorphans_line (ReaderState *s, Fields *line);

#endif
