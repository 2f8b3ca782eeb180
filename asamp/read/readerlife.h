/* SPDX-License-Identifier: MIT */
/*
** Start and end of the Lua states in a file of many states (readerstream.h). Used only by the
** files of reader.h.
*/
#ifndef asamp_readerlife_h
#define asamp_readerlife_h

#include "readerstate.h"

/* Starts a state with that number and makes it the current one. */
void readerlife_start (ReaderState *s, uint64_t id, uint64_t time);
/*
** Ends the current state. Its live samples count as alive until the next state starts, except a
** number of orphans, which remain followed.
*/
void readerlife_end (ReaderState *s, uint64_t time, uint64_t orphans);
/* At the end of the file: delivers undecided samples, and adds up the wanted states. */
void readerlife_finish (ReaderState *s);

#endif
