/* SPDX-License-Identifier: MIT */
/*
** A tracker takes the samples of one Lua state and reports them to a client: the file of a session
** (sampler.h) or a program (asamp.h). The core calls it at random distances of allocation; it
** records the stack. After a collection it reports which samples survived, their classes
** (classes.h), and optionally later deaths. Its own memory is never sampled. The data is in
** trackerstate.h.
**
**   A1  the callbacks are registered with the core while anything is sampled or safepoints are
**       requested. Later they stay registered until the survival of all samples is known, and the
**       deaths of survivors if wanted;
**   A2  while allocation sampling is on, each sample point passed counts in a sample or in 'lost';
**   A3  while it is off, the survival of every sample has been decided, except after a switch-off
**       inside a finalizer: the next collection decides the rest;
**   A4  a function is reported before the first sample that contains it, a class before the first
**       outcome with it, and a collection once, after the samples that it decides.
*/
#ifndef asamp_tracker_h
#define asamp_tracker_h

#include "trackerstate.h"

/* Initializes the tracker of L's state, without a client. With 'lazy', the first sample
   allocates the buffers (300 KiB). Returns 0 if there is not enough memory. */
int tracker_open (Tracker *t, lua_State *L, int lazy);
void tracker_close (Tracker *t);

/* Returns 1 if the callbacks are a Tracker's; seam->ud is then this Tracker. */
int tracker_is (const luaN_Sampler *seam);

/* Assigns the tracker to another state, like a lazy tracker_open, but keeps the buffers. */
void tracker_reopen (Tracker *t, lua_State *L);

/* Stops sampling until tracker_wake; only the callbacks 'safe' and 'closing' are called. Call
   it in the callback 'safe' or when the state starts. */
void tracker_idle (Tracker *t, lua_State *L);
/* Resumes sampling for a client that has received no functions and classes (tracker_again):
   allocations if 'alloc' is 1, else safepoints only. 'rest' is as for account_reset. */
void tracker_wake (Tracker *t, lua_State *L, uint64_t period, int random, uint64_t seed,
                   int alloc, uint64_t rest);

/* Discards all samples, in the child of a fork. */
void tracker_forked (Tracker *t);
/* Prepares for another profile: no functions and classes count as reported, and the counts are
   0. With 'isforked', does not free the parent's memory. */
void tracker_again (Tracker *t, uint64_t seed, int isforked);

/* Sets the client, and all counters to 0. 'ud' is passed to its callbacks. 'period' is in
   bytes. 'native' 1: samples have C stacks. */
void tracker_start (Tracker *t, const TrackerClient *client, void *ud,
                    uint64_t period, int native);

/* Switches sampling off, reports the last data and removes the client. */
void tracker_end (Tracker *t, lua_State *L);

/* First half of tracker_end: reports everything. Then the client may take over live samples of
   native memory by setting their owner to NULL. */
void tracker_finish (Tracker *t, lua_State *L);
/* Second half of tracker_end: removes the client. */
void tracker_leave (Tracker *t, lua_State *L);

/* Removes the client in the child of a fork, where no Lua function may be called. No further
   outcomes are reported. Lists are not freed, because they may be inconsistent. */
void tracker_abandon (Tracker *t);

/* Switches sampling on. 'seed' is used only by the first call for a client. */
void tracker_on (Tracker *t, lua_State *L, uint64_t period, int random,
                 uint64_t seed);

/* Records the CPU time of the program's end. Call it first at the end of a session. */
void tracker_stop (Tracker *t);

/* Switches sampling off. Runs a minor collection if anything is still to be decided or
   reported. Deaths of survivors are still reported later. Returns 0 if sampling was off. */
int tracker_off (Tracker *t, lua_State *L);

/* Sets whether safepoints call the client's 'point', which completes time samples. */
void tracker_points (Tracker *t, lua_State *L, int on);

/* Starts to sample native memory on threads that run the state (mallocs.h). 'period' and 'seed'
   are as for mallocs_start. The client must have the callback 'ready'. Returns 0 if there is
   not enough memory. */
int tracker_mallocs (Tracker *t, uint64_t period, uint64_t seed);

/* Sets whether copied bytes are sampled; takes effect at the next tracker_on or tracker_wake. */
static inline void tracker_copies (Tracker *t, int on) {
  t->copying = on;
}

/* Changes the sampling period, also while sampling is on. */
void tracker_period (Tracker *t, lua_State *L, uint64_t period);

/* Returns the tracker registered for the state, or NULL. It may be off already (A1). */
const Tracker *tracker_of (lua_State *L);

/* Returns the bytes allocated while sampling was on, for this client. */
uint64_t tracker_bytes (const Tracker *t, lua_State *L);

#endif
