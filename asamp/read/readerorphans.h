/* SPDX-License-Identifier: MIT */
/*
** The orphans of states that have ended (readerstream.h): what the lines X and D tell of
** them. Of reader.h's files alone.
*/
#ifndef asamp_readerorphans_h
#define asamp_readerorphans_h

#include "details.h"
#include "readerstate.h"

/* The state ends with so many. What a file tells that has another number is not believed:
   then there are none. */
void readerorphans_expect (ReaderStream *one, const ReadProfile *r, uint64_t n);

/* Whatever else was alive in the state, which is 'of', died with it, and the client is told so:
   the stream is kept for its orphans, or goes. */
void readerorphans_bury (ReaderState *s);

/* A line D. */
void readerorphans_line (ReaderState *s, Fields *line);

#endif
