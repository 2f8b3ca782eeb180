/* SPDX-License-Identifier: MIT */
/* States that share a profile (SS4 of sampler.h): the callbacks of their trackers. */
#ifndef asamp_shared_h
#define asamp_shared_h

#include "samplers.h"

/* Implements sampler_attach. */
int shared_attach (lua_State *L, const SamplerShared *with, const TrackerClient *client);
/*
** Moves the state to the current profile of the process. Returns 1 if it has one; 0: there is
** none at present; negative: none is wanted.
*/
int shared_current (Sampler *s);
/* Moves the timer of a state that now runs on another OS thread to that thread. */
void shared_follow (Sampler *s);
/* Callback after a collection, of any state. */
void shared_safe (void *ud, lua_State *L);
/* Detaches a state that is being closed. */
void shared_leave (Sampler *s, lua_State *L);

#endif
