/* SPDX-License-Identifier: MIT */
/*
** A tracker takes the samples of one state and reports them to a client. It takes an allocation
** sample each time the core calls it (seam.h), at random distances (interval.h), with a stack
** (stack.h). When a collection has decided the survival (pending.h) and the class (classes.h) of
** the samples, it reports both. If the client wants them, it also reports the deaths of survivors
** (followed.h). The client is the file of a session (sampler.h) or a program (asamp.h). All memory
** of a tracker comes from malloc and is never sampled.
**
** This file starts and stops the tracker. The data is in trackerstate.h. The work is in
** tracksample.h (allocations), trackcopies.h (copied bytes), tracknative.h (native memory),
** trackwatch.h (blocks that may be freed), trackoutcomes.h (survival, deaths, records of
** collections) and trackholders.h (the times of searches for holders).
**
**   A1  the tracker's callbacks are registered with the core while it is on (samples allocations)
**       or idle (tracker_idle), while safepoints are requested, and while native memory is sampled.
**       After that they stay registered, with the sample point at infinity, as long as the survival
**       of a sample is not decided or the death of a survivor is to be reported;
**   A2  while the tracker is on, each sample point that an allocation passes either counts as a
**       period of a sample or is counted in 'lost' (interval.h);
**   A3  while the tracker is off, the survival of every sample has been decided. Exception: if the
**       tracker was switched off in a finalizer, the collector could not run, and the next
**       collection decides the last samples;
**   A4  reports come in an order that a reader can use. A function is reported before the first
**       sample that contains it, and a class before the first outcome that refers to it. A
**       collection is reported once, after the samples that it decides, when its pause is over.
*/
#ifndef asamp_tracker_h
#define asamp_tracker_h

#include "trackerstate.h"

/* Initializes the tracker of the state of L, without a client. If 'lazy' is set, the buffers (about
   300 KiB) are allocated by the first sample, because in a process with many states most may take
   none. Returns 0 if there is not enough memory. */
int tracker_open (Tracker *t, lua_State *L, int lazy);
void tracker_close (Tracker *t);

/* Returns 1 if the callbacks are those of a Tracker; seam->ud is then this Tracker. */
int tracker_is (const luaN_Sampler *seam);

/* Assigns the tracker to another state. Does the same as tracker_open with 'lazy' set, but keeps
   the buffers. */
void tracker_reopen (Tracker *t, lua_State *L);

/*
** tracker_idle stops sampling: until tracker_wake, only the client's callbacks 'safe' and 'closing'
** are called. Call it only from the callback 'safe' or when the state starts.
**
** tracker_wake restarts sampling for a client that has received no functions and classes yet
** (tracker_again). If 'alloc' is 1, samples allocations; if 0, only requests safepoints. 'rest' is
** as for account_reset. Call it where tracker_idle may be called, from the callback 'room', or
** outside callbacks.
*/
void tracker_idle (Tracker *t, lua_State *L);
void tracker_wake (Tracker *t, lua_State *L, uint64_t period, int random, uint64_t seed,
                   int alloc, uint64_t rest);

/*
** tracker_forked, in the child of a fork, discards all samples whose survival or death the parent
** would have reported.
**
** tracker_again prepares for the first report to another profile: forgets which functions and
** classes were reported, and sets the counts to 0. If 'isforked' is 1, it does not free the
** parent's memory.
*/
void tracker_forked (Tracker *t);
void tracker_again (Tracker *t, uint64_t seed, int isforked);

/* Sets the client, and sets all counters to 0. 'ud' is passed to the client's callbacks. 'period'
   is the sampling period in bytes. 'native' 1: samples have C stacks. */
void tracker_start (Tracker *t, const TrackerClient *client, void *ud,
                    uint64_t period, int native);

/* Removes the client. First switches sampling off (tracker_off) and reports the last data. */
void tracker_end (Tracker *t, lua_State *L);

/* The two steps of tracker_end: tracker_finish reports everything, tracker_leave removes the
   client. In between, the client may take over a live sample of native memory from the list of
   followed samples, by setting its owner to NULL: then tracker_leave does not stop watching the
   block. */
void tracker_finish (Tracker *t, lua_State *L);
void tracker_leave (Tracker *t, lua_State *L);

/*
** Removes the client in the child of a fork, where no Lua function may be called. Samples whose
** survival is not decided yet never have an outcome. The memory of the lists is not freed, because
** another thread may have been changing them at the fork. The state may continue to run: at the
** next sample point, the sampler moves the point to infinity.
*/
void tracker_abandon (Tracker *t);

/* Switches sampling on. 'seed' is the seed of the intervals; only the first call for a client uses
   it. */
void tracker_on (Tracker *t, lua_State *L, uint64_t period, int random,
                 uint64_t seed);

/* Notes the CPU time of the program's end. To be called before other work of the session's end. */
void tracker_stop (Tracker *t);

/*
** Switches sampling off. If the survival of samples is not decided, or deaths or collections are
** not reported yet, runs a minor collection to report them; finalizers run later. The deaths of
** samples that have survived are still reported afterwards. Returns 0 if sampling was already off.
*/
int tracker_off (Tracker *t, lua_State *L);

/* Sets whether the client's callback 'point' is called at safepoints, where time samples are
   completed. */
void tracker_points (Tracker *t, lua_State *L, int on);

/*
** Starts samples of native memory. The state receives the samples of threads that run it, and
** possibly those of threads that run no state (mallocs.h). The client must have the callback
** 'ready', and the library that selects the allocations must be loaded (mallocs_there). 'period'
** and 'seed' are as for mallocs_start. Returns 0 if there is not enough memory.
*/
int tracker_mallocs (Tracker *t, uint64_t period, uint64_t seed);

/* Sets whether copied bytes are sampled (trackcopies.h). Takes effect at the next tracker_on or
   tracker_wake. */
static inline void tracker_copies (Tracker *t, int on) {
  t->copying = on;
}

/* Changes the period, also while sampling is on (interval_change). */
void tracker_period (Tracker *t, lua_State *L, uint64_t period);

/* Returns the tracker that is registered for the state, or NULL. A tracker that was switched off
   stays registered while a collection still has to decide the survival or find the death of its
   samples (A1). */
const Tracker *tracker_of (lua_State *L);

/* Returns the bytes allocated while sampling was on, since the client was added. */
uint64_t tracker_bytes (const Tracker *t, lua_State *L);

#endif
