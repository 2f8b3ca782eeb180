/* SPDX-License-Identifier: MIT */
/*
** The tracker of one state. Takes allocation samples where the core calls it (seam.h), at
** random distances (interval.h), with stacks (stack.h). Reports their survival (pending.h) and
** classes (classes.h) when a collection has decided them, and the deaths of survivors
** (followed.h) if the client wants them. The client is the file of a session (sampler.h) or a
** program (asamp.h). All memory here comes from malloc and is never sampled.
**
** This file starts and stops the tracker. Its data is in trackerstate.h. The work is in
** tracksample.h (allocations), trackcopies.h (copied bytes), tracknative.h (native memory),
** trackwatch.h (blocks that may be freed), trackoutcomes.h (survival, deaths, records of
** collections) and trackholders.h (when holders are searched).
**
**   A1  the tracker is registered with the core while it is on or idle, safepoints are requested
**       or native memory is sampled, and afterwards as long as samples are undecided or followed
**       (with the sample point at infinity);
**   A2  each sample point that is passed while the tracker is on is a period of a sample, or is
**       counted in 'lost' (interval.h);
**   A3  while it is off, the survival of every sample is decided, unless the collector could
**       not run when it was switched off, in a finalizer: then the next collection decides it;
**   A4  a function is reported to the client before the first sample that contains it, a class
**       before the first outcome that names it, a collection once, after the samples that it
**       decides, when its pause is over.
*/
#ifndef asamp_tracker_h
#define asamp_tracker_h

#include "trackerstate.h"

/*
** Initializes the tracker of the state of L, without a client. 'lazy': the first sample allocates
** the buffers (about 300 KiB), for processes with many states that may take no sample. Returns 0
** if there is not enough memory.
*/
int tracker_open (Tracker *t, lua_State *L, int lazy);
void tracker_close (Tracker *t);

/* Returns 1 if the callbacks are those of a Tracker, which then is their 'ud'. */
int tracker_is (const luaN_Sampler *seam);

/* Assigns the tracker to another state, as tracker_open with 'lazy', but keeps its buffers. */
void tracker_reopen (Tracker *t, lua_State *L);

/*
** tracker_idle stops sampling; from then on only 'safe' and 'closing' are called. tracker_wake
** restarts it for a client that knows no functions and classes (tracker_again); 'alloc' 1:
** allocations are sampled, 0: only safepoints requested; 'rest': as for account_reset. Call
** tracker_idle only from 'safe' or when the state starts; tracker_wake also from 'room', or outside
** callbacks.
*/
void tracker_idle (Tracker *t, lua_State *L);
void tracker_wake (Tracker *t, lua_State *L, uint64_t period, int random, uint64_t seed,
                   int alloc, uint64_t rest);

/*
** In the child of a fork, tracker_forked discards the parent's pending and followed samples.
** tracker_again forgets the functions and classes already reported, and the counts, before the
** first report to another profile; 'isforked': without freeing the parent's memory.
*/
void tracker_forked (Tracker *t);
void tracker_again (Tracker *t, uint64_t seed, int isforked);

/* Sets the client. Counters start at 0. */
void tracker_start (Tracker *t, const TrackerClient *client, void *ud,
                    uint64_t period, int native);

/* Removes the client: switches sampling off (tracker_off) and reports the last data. */
void tracker_end (Tracker *t, lua_State *L);

/*
** The two steps of tracker_end. After tracker_finish everything is reported, and the client may
** take over followed samples of native memory by setting their owners to NULL.
*/
void tracker_finish (Tracker *t, lua_State *L);
void tracker_leave (Tracker *t, lua_State *L);

/*
** Removes the client where no Lua function may be called any more, in the child of a fork.
** Undecided samples stay undecided. The memory of the lists is not freed, because the fork may
** have caught another thread changing them. The state continues: when the core reaches the sample
** point, the point moves to infinity.
*/
void tracker_abandon (Tracker *t);

/* Switches sampling on. 'seed' is that of the intervals, used at a client's first call only. */
void tracker_on (Tracker *t, lua_State *L, uint64_t period, int random,
                 uint64_t seed);

/*
** Switches sampling off. Runs the minor collection that decides the last samples, if there is
** anything to report (finalizers run later). Followed samples remain followed. Returns 0 if
** sampling was off.
*/
int tracker_off (Tracker *t, lua_State *L);

/* Sets whether the client receives safepoints, for time samples. */
void tracker_points (Tracker *t, lua_State *L, int on);

/*
** Starts samples of native memory, of threads that run this state and possibly of threads that
** run none (mallocs.h); 'period' and 'seed' as for mallocs_start. Returns 0 if there is not enough
** memory. Requires a client with 'ready', and the loaded library.
*/
int tracker_mallocs (Tracker *t, uint64_t period, uint64_t seed);

/* Sets whether copies are sampled, from the next tracker_on or tracker_wake. */
static inline void tracker_copies (Tracker *t, int on) {
  t->copying = on;
}

/* Changes the period, also while sampling is on (interval_change). */
void tracker_period (Tracker *t, lua_State *L, uint64_t period);

/*
** Returns the tracker registered for the state, even if it only has pending or followed
** samples; else NULL.
*/
const Tracker *tracker_of (lua_State *L);

/* Returns the bytes allocated while sampling was on, since the client was added. */
uint64_t tracker_bytes (const Tracker *t, lua_State *L);

#endif
