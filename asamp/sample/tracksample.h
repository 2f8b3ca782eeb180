/* SPDX-License-Identifier: MIT */
/*
** Takes a sample of an allocation: adds it to 'pending', whose survival a collection decides, walks
** the stack and reports the sample to the client. This is most of the cost of a default session.
*/
#ifndef asamp_tracksample_h
#define asamp_tracksample_h

#include "trackerstate.h"

/*
** Callback of luaN_Sampler: an allocation has passed a sample point. Returns the distance to the
** next one; INTERVAL_MAX: no more samples are wanted. A sample for which there is no memory or no
** space is counted as lost. Only the parts that may block disable thread cancellation: most
** samples reach none of these parts.
*/
uint64_t tracksample_take (void *ud, lua_State *L, const luaN_Sample *in, uint64_t over);

#endif
