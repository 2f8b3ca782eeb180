/* SPDX-License-Identifier: MIT */
/* States that share a profile (SS4 of sampler.h). */
#ifndef asamp_samplershared_h
#define asamp_samplershared_h

#include "samplerlist.h"

/* Does the work of sampler_attach. 'client': callbacks of the state's tracker. Returns 0 on
   failure. */
int samplershared_attach (lua_State *L, const SamplerShared *with, const TrackerClient *client);
/* Moves the state to the current profile of the process; makes the profile if needed. Returns 1 on
   success. Otherwise returns -1 if no state may take samples (SamplerShared.isidle), else 0. */
int samplershared_current (Sampler *s);
/* If time is sampled, moves time sampling to the OS thread that now runs the state. In a forked
   child, starts time sampling if it has not started yet. */
void samplershared_follow (Sampler *s);
/* Called by the tracker after a collection. Publishes the state's numbers. In a shared profile,
   also moves the state to the current profile, moves time sampling to the current OS thread,
   applies new sampling rates and calls the function of a pending SamplerRequest. */
void samplershared_safe (void *ud, lua_State *L);
/* Detaches a state that is being closed. */
void samplershared_leave (Sampler *s, lua_State *L);

#endif
