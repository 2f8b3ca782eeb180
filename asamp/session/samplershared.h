/* SPDX-License-Identifier: MIT */
/* States that share a profile (SS4 of sampler.h): the callbacks of their trackers. */
#ifndef asamp_samplershared_h
#define asamp_samplershared_h

#include "samplerlist.h"

/* Implements sampler_attach. */
int samplershared_attach (lua_State *L, const SamplerShared *with, const TrackerClient *client);
/*
** Moves the state to the current profile of the process, and makes that profile if needed. Returns
** 1; 0: there is none at present; negative: there is none, and 'isidle' of SamplerShared returns 1.
*/
int samplershared_current (Sampler *s);
/* Moves the timer of a state that now runs on another OS thread to that thread. */
void samplershared_follow (Sampler *s);
/* Callback after a collection; also for a state that shares no profile. */
void samplershared_safe (void *ud, lua_State *L);
/* Detaches a state that is being closed. */
void samplershared_leave (Sampler *s, lua_State *L);

#endif
