/* SPDX-License-Identifier: MIT */
/* Orphans: live samples of native memory whose Lua state has ended. In a batch (readerbatch.h), the
   line "X" that ends a state has their number, and lines "D" have their deaths. */
#ifndef asamp_readerorphans_h
#define asamp_readerorphans_h

#include "details.h"
#include "readerstate.h"

/* Call it for a closed state; s->of is its stream (the reader's data of a state), which must not be
   in ReaderStreams.list. Delivers the deaths of the state's live survivors to the client, except
   its orphans (samples of native memory, which outlive the state). Moves the stream to
   ReaderStreams.orphaned if it has orphans, else frees it. The caller must then set s->of to
   another stream. */
void readerorphans_bury (ReaderState *s);

/* Reads a line "D" of a batch (doc/profile-format.md): the id of a Lua state, and deaths among its
   samples of native memory. Delivers these deaths. */
void readerorphans_line (ReaderState *s, Fields *line);

#endif
