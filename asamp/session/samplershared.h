/* SPDX-License-Identifier: MIT */
/* States that share a profile (SS4 of sampler.h). */
#ifndef asamp_samplershared_h
#define asamp_samplershared_h

#include "samplerlist.h"

/* Attaches a new state, for sampler_attach. */
int samplershared_attach (lua_State *L, const SamplerShared *with, const TrackerClient *client);
/* Moves the state to the current profile of the process, and makes that profile if needed. Returns
   1; if there is no profile, returns -1 if SamplerShared.isidle returns 1, else 0. */
int samplershared_current (Sampler *s);
/* Moves time sampling to the OS thread that now runs the state. In a forked child, starts time
   sampling. */
void samplershared_follow (Sampler *s);
/* The tracker calls this function after a collection. Publishes the state's numbers, adapts the
   sampler if profile, thread or rates have changed, and answers a SamplerRequest. */
void samplershared_safe (void *ud, lua_State *L);
/* Detaches a state that is being closed. */
void samplershared_leave (Sampler *s, lua_State *L);

#endif
