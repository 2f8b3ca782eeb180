/* SPDX-License-Identifier: MIT */
/*
** Takes a sample of an allocation: the stack, the owner, whose survival a collection decides,
** the report to the client. Its cost is that of the default session.
*/
#ifndef asamp_tracksample_h
#define asamp_tracksample_h

#include "trackerstate.h"

/*
** Callback of luaN_Sampler: an allocation has passed a sample point. Returns the distance to the
** next one. A sample for which there is no memory or no space is counted as lost. Only the parts
** that may block disable thread cancellation: most samples do not.
*/
uint64_t tracksample_take (void *ud, lua_State *L, const luaN_Sample *in, uint64_t over);

#endif
