/* SPDX-License-Identifier: MIT */
/*
** Start and end of the Lua states in a file of many states (readerstream.h). In other files the
** first two functions have no effect. Used only by the files of reader.h.
*/
#ifndef asamp_readerlife_h
#define asamp_readerlife_h

#include "readerstate.h"

/*
** Starts the state with that id: delivers the deaths of the samples alive in closed states, except
** orphans, and sets s->of to the state's stream.
*/
void readerlife_start (ReaderState *s, uint64_t id, uint64_t time);
/*
** Ends the state of s->of at 'time': its stream is then closed (readerstream.h), and s->of is
** s->single. 'orphans': number of its followed samples that do not die with it. Has no effect if no
** state, or one beyond the limit, is the present one.
*/
void readerlife_end (ReaderState *s, uint64_t time, uint64_t orphans);
/*
** At the end of the file: delivers the undecided samples of all streams. If the client wants only
** some states, sets ReadProfile.allocated to their exact bytes.
*/
void readerlife_finish (ReaderState *s);

#endif
