/* SPDX-License-Identifier: MIT */
/*
** Orphans: the followed samples of native memory of a state that has ended (readerstream.h). The
** line X has their number, lines D their deaths. Used only by the files of reader.h.
*/
#ifndef asamp_readerorphans_h
#define asamp_readerorphans_h

#include "details.h"
#include "readerstate.h"

/*
** Sets the number of orphans of a stream whose state ends to n, the number in its line X; to 0 if
** the stream follows another number of samples of native memory. Ends the pass over its list.
*/
void readerorphans_expect (ReaderStream *one, const ReadProfile *r, uint64_t n);

/*
** Delivers the deaths of all followed samples of s->of except its orphans, at the end of its state.
** Moves the stream to 'orphaned' if it has orphans, else frees it; the caller has removed it from
** 'list', and must set s->of.
*/
void readerorphans_bury (ReaderState *s);

/* Reads a line D: delivers deaths of samples of native memory of the state that it names. */
void readerorphans_line (ReaderState *s, Fields *line);

#endif
