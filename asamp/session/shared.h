/* SPDX-License-Identifier: MIT */
/*
** States that share a profile (SS4 of sampler.h): what their trackers' client does.
*/
#ifndef asamp_shared_h
#define asamp_shared_h

#include "samplers.h"

/* sampler_attach. */
int shared_attach (lua_State *L, const SamplerShared *with, const TrackerClient *client);
/* Moves the state to the profile that the process has now. 0: it has none at present; below 0:
   it is to have none. */
int shared_current (Sampler *s);
/* A state that another OS thread runs now takes its timer along. */
void shared_follow (Sampler *s);
/* A collection is over; of any state. */
void shared_safe (void *ud, lua_State *L);
/* The state is being closed. */
void shared_leave (Sampler *s, lua_State *L);

#endif
