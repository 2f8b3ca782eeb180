/* SPDX-License-Identifier: MIT */
/* Orphans: live samples of native memory whose Lua state has ended. In a batch (readerbatch.h), the
   line "X" that ends a state has their number, and lines "D" have their deaths. */
#ifndef asamp_readerorphans_h
#define asamp_readerorphans_h

#include "details.h"
#include "readerstate.h"

/* Delivers the deaths of a closed state's live survivors to the client, except its orphans (samples
   of native memory, which outlives the state). s->of is the state's stream (the reader's data of a
   state); it must not be in ReaderStreams.list. Moves it to ReaderStreams.orphaned if it has
   orphans, else frees it. The caller must then set s->of to another stream. */
void readerorphans_bury (ReaderState *s);

/* Reads a line "D" of a batch (doc/profile-format.md): the id of a Lua state, and deaths among its
   samples of native memory. Delivers these deaths. */
void readerorphans_line (ReaderState *s, Fields *line);

#endif
