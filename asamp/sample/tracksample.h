/* SPDX-License-Identifier: MIT */
/* Takes allocation samples: walks the stack, adds the sample to Tracker.pending, and reports it to
   the client. */
#ifndef asamp_tracksample_h
#define asamp_tracksample_h

#include "trackerstate.h"

/* Takes an allocation sample. The Lua core calls it when the state has allocated as many bytes as
   the last call returned; 'over' is the number of bytes allocated beyond that. Returns the bytes
   until the next sample; INTERVAL_MAX: no more samples. If out of memory, or if the client has no
   space, counts the sample as lost. */
uint64_t tracksample_take (void *ud, lua_State *L, const luaN_Sample *in, uint64_t over);

/* Returns the tracker whose callbacks are registered with the state, or NULL. Its sampling may be
   off: the callbacks stay registered until the survival of all samples is known. */
Tracker *tracksample_of (lua_State *L);

#endif
