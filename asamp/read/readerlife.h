/* SPDX-License-Identifier: MIT */
/* Starts and ends Lua states in a file of many states. In a file of one state, readerlife_start and
   readerlife_end do nothing. */
#ifndef asamp_readerlife_h
#define asamp_readerlife_h

#include "readerstate.h"

/* Starts a Lua state and makes it the current one. First delivers the deaths of the objects that
   are still alive in closed states (readerstream.h). */
void readerlife_start (ReaderState *s, uint64_t id, uint64_t time);
/* Ends the current Lua state at 'time'. 'orphans': number of its live samples of native memory,
   which does not die with the state. */
void readerlife_end (ReaderState *s, uint64_t time, uint64_t orphans);
/* Called at the end of the file. Delivers as undecided all samples whose survival the file does not
   record. If the client selects only some states, sets ReadProfile.allocated to the bytes allocated
   by these states. */
void readerlife_finish (ReaderState *s);

#endif
