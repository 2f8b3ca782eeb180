/* SPDX-License-Identifier: MIT */
/* Orphans: live samples of native memory whose Lua state has ended. In a batch (readerbatch.h), the
   line "X" that ends a state has their number, and lines "D" have their deaths. */
#ifndef asamp_readerorphans_h
#define asamp_readerorphans_h

#include "details.h"
#include "readerstate.h"

/* Ends the pass over the survivors of an ended Lua state, and counts its orphans. n: their number
   in the file. If the list of survivors has another number, its positions differ from the file's;
   then sets one->orphans to 0, else to n. */
void readerorphans_expect (ReaderStream *one, const ReadProfile *r, uint64_t n);

/* Delivers the deaths of the live survivors of a closed state, except its orphans. s->of is the
   state's stream, which must not be in ReaderStreams.list. Moves the stream to
   ReaderStreams.orphaned if it has orphans, else frees it. The caller must then set s->of to
   another stream. */
void readerorphans_bury (ReaderState *s);

/* Reads a line "D" of a batch (doc/profile-format.md): the id of a Lua state, and deaths among its
   samples of native memory. Delivers these deaths. */
void readerorphans_line (ReaderState *s, Fields *line);

#endif
