/* SPDX-License-Identifier: MIT */
/* Takes allocation samples: walks the stack, adds the sample to the list of pending ones, and
   reports it to the client. */
#ifndef asamp_tracksample_h
#define asamp_tracksample_h

#include "trackerstate.h"

/* Takes a sample when an allocation has passed the sample point; called by the core. Returns
   the distance to the next one in bytes; INTERVAL_MAX: none. Counts the sample as lost if there
   is no memory or space. */
uint64_t tracksample_take (void *ud, lua_State *L, const luaN_Sample *in, uint64_t over);

#endif
