/* SPDX-License-Identifier: MIT */
/*
** Takes an allocation sample: adds it to the list of samples without an outcome (pending.h), walks
** the stack, and reports the sample to the client. A later collection decides its survival. These
** steps are most of the cost of a default session.
*/
#ifndef asamp_tracksample_h
#define asamp_tracksample_h

#include "trackerstate.h"

/*
** Callback of luaN_Sampler: called when an allocation has passed a sample point. Returns the
** distance to the next one; INTERVAL_MAX: no more samples are wanted. If there is not enough
** memory, or the client has no space for the sample, counts it as lost. To save time, disables
** thread cancellation only in the parts that may block, which most samples do not reach.
*/
uint64_t tracksample_take (void *ud, lua_State *L, const luaN_Sample *in, uint64_t over);

#endif
