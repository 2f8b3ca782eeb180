/* SPDX-License-Identifier: MIT */
/* Starts and ends Lua states in a file of many states. Does nothing in other files. */
#ifndef asamp_readerlife_h
#define asamp_readerlife_h

#include "readerstate.h"

/* First delivers the deaths of the samples that are still alive in closed states. Then starts a Lua
   state and makes it the current one. */
void readerlife_start (ReaderState *s, uint64_t id, uint64_t time);
/* Ends the current Lua state at 'time'. 'orphans' is the number of samples of native memory that
   the state has allocated and that live on. */
void readerlife_end (ReaderState *s, uint64_t time, uint64_t orphans);
/* At the end of the file, delivers as undecided all samples not known to have died or survived. If
   the client selects only some states, sets ReadProfile.allocated to the bytes allocated by these
   states. */
void readerlife_finish (ReaderState *s);

#endif
