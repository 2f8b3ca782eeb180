/* SPDX-License-Identifier: MIT */
/* States that share a profile (SS4 of sampler.h), as opposed to a session with a profile of its
   own. */
#ifndef asamp_samplershared_h
#define asamp_samplershared_h

#include "samplerlist.h"

/* Attaches a new state to a shared profile, for sampler_attach. */
int samplershared_attach (lua_State *L, const SamplerShared *with, const TrackerClient *client);
/* Moves the state to the current profile of the process, which is made if needed. Returns 1 on
   success. If there is no profile, returns a negative number if 'isidle' of SamplerShared returns
   1, else 0. */
int samplershared_current (Sampler *s);
/* If the state now runs on another OS thread than its timer for time samples, starts a timer on
   that thread instead. */
void samplershared_follow (Sampler *s);
/* Callback 'safe' of the tracker, called after a collection; also for a state that shares no
   profile. */
void samplershared_safe (void *ud, lua_State *L);
/* Detaches a state that is being closed. */
void samplershared_leave (Sampler *s, lua_State *L);

#endif
