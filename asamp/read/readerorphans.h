/* SPDX-License-Identifier: MIT */
/*
** Orphans: the followed samples of native memory of a state that has ended (readerstream.h). The
** line X, which ends the state, has their number; lines D have their deaths. Used only by the files
** that implement reader.h.
*/
#ifndef asamp_readerorphans_h
#define asamp_readerorphans_h

#include "details.h"
#include "readerstate.h"

/* To be called when the state of the stream ends. Sets one->orphans to n, the number in the line X;
   to 0 if the stream does not follow exactly n samples of native memory. Ends the pass over its
   list. */
void readerorphans_expect (ReaderStream *one, const ReadProfile *r, uint64_t n);

/*
** Delivers the deaths of all followed samples of the closed stream s->of, except orphans. Moves the
** stream to 'orphaned' if it has orphans, else frees it. The caller must have removed the stream
** from 'list', and must set s->of afterwards.
*/
void readerorphans_bury (ReaderState *s);

/* Reads a line D, which names a state, and delivers deaths of its samples of native memory. */
void readerorphans_line (ReaderState *s, Fields *line);

#endif
