/* SPDX-License-Identifier: MIT */
/*
** Handles the start and the end of Lua states in a file of many states (readerstream.h). In other
** files readerlife_start and readerlife_end have no effect. Used only by the files that implement
** reader.h.
*/
#ifndef asamp_readerlife_h
#define asamp_readerlife_h

#include "readerstate.h"

/*
** Starts the Lua state with that id at 'time', and sets s->of to its stream (readerstream.h).
** Before that, delivers the deaths of the samples still alive in closed states, with the times of
** the closes. Samples of native memory that live on (orphans, readerorphans.h) do not die.
*/
void readerlife_start (ReaderState *s, uint64_t id, uint64_t time);
/*
** Ends the Lua state of s->of at 'time'. Its stream is then closed (readerstream.h), and there is
** no current state. 'orphans' is the number of its followed samples of native memory, which live
** on. Does nothing if there is no current state, or if the state is beyond the limit (RS1).
*/
void readerlife_end (ReaderState *s, uint64_t time, uint64_t orphans);
/*
** Delivers the samples of all states that have no survival outcome, at the end of the file. If the
** client selects only some states, sets ReadProfile.allocated to the exact bytes of these states.
*/
void readerlife_finish (ReaderState *s);

#endif
