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
** Sets one->orphans when the state of the stream ends. n is the number in the line X. If the stream
** follows another number of samples of native memory, the two do not match, and it has no orphans.
** Ends the pass over the stream's list.
*/
void readerorphans_expect (ReaderStream *one, const ReadProfile *r, uint64_t n);

/*
** Delivers the deaths of all followed samples of s->of except its orphans, at the end of its state.
** Moves the stream to 'orphaned' if it has orphans, else frees it. The caller must have removed the
** stream from 'list', and must set s->of afterwards.
*/
void readerorphans_bury (ReaderState *s);

/* Reads a line D: delivers deaths of samples of native memory of the state that it names. */
void readerorphans_line (ReaderState *s, Fields *line);

#endif
