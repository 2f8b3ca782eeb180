/* SPDX-License-Identifier: MIT */
/*
** Reads the orphans of states that have ended (readerstream.h) from the lines X and D. Used
** only by the files of reader.h.
*/
#ifndef asamp_readerorphans_h
#define asamp_readerorphans_h

#include "details.h"
#include "readerstate.h"

/*
** Sets the number of orphans of a state that ends. If it differs from the number of followed
** native samples, the state has none.
*/
void readerorphans_expect (ReaderStream *one, const ReadProfile *r, uint64_t n);

/*
** Ends the state 'of': delivers the deaths of all samples except its orphans; keeps the stream
** for its orphans, or frees it.
*/
void readerorphans_bury (ReaderState *s);

/* Reads a line D. */
void readerorphans_line (ReaderState *s, Fields *line);

#endif
