/* SPDX-License-Identifier: MIT */
/*
** A tracker takes the samples of one Lua state and reports them to a client: the file of a session
** (sampler.h) or a program (asamp.h). The Lua core calls the tracker after random numbers of
** allocated bytes; the tracker then records the stack. After a collection it reports which samples
** survived, their classes (classes.h), and if the client wants it, which earlier survivors died.
** The tracker's own memory is never sampled. The data is in trackerstate.h.
*/

/*
** Guarantees to the client:
**
**   A1  the callbacks stay registered with the Lua core as long as one of these is true: anything
**       is sampled; safepoints are requested; the survival of a sample is not known yet; the client
**       wants deaths, and a survivor is alive;
**   A2  while allocations are sampled, each sampling period is counted in a sample or in
**       Tracker.lost;
**   A3  when sampling is switched off, a minor collection runs at once, to decide which of the last
**       samples survive. Exception: no collection can run in a finalizer. If a finalizer switches
**       sampling off, the next collection after it decides;
**   A4  a function is reported before the first sample that contains it, a class before the first
**       collection with an object of it. A collection is reported once, after the samples whose
**       survival it decides.
*/
#ifndef asamp_tracker_h
#define asamp_tracker_h

#include "trackerstate.h"

/* Initializes the tracker of L's state, without a client. With 'lazy', the first sample allocates
   the buffers (300 KiB). Returns 0 if out of memory. */
int tracker_open (Tracker *t, lua_State *L, int lazy);
void tracker_close (Tracker *t);

/* Initializes a tracker that was used by another Lua state, without a client. Keeps its buffers. */
void tracker_reopen (Tracker *t, lua_State *L);

/* Suspends sampling until tracker_wake. Meanwhile only the client's callbacks 'safe' and 'closing'
   are called. Call this function in the callback 'safe', or when the state starts. */
void tracker_idle (Tracker *t, lua_State *L);
/* Resumes sampling for a new profile, without the earlier samples. Functions and classes are
   reported again when they next occur. 'period', 'random', 'seed': as for tracker_on.
   alloc  1: samples allocations; 0: only calls the client at safepoints
   rest   bytes that were allocated in the previous profile but not reported to it
          (account_reset). If 'alloc' is 1, the new profile counts them under their label sets */
void tracker_wake (Tracker *t, lua_State *L, uint64_t period, int random, uint64_t seed,
                   int alloc, uint64_t rest);

/* Called in the child of a fork: discards all samples. */
void tracker_forked (Tracker *t);
/* Starts another profile: sets the counts of samples to 0, and reports functions and classes again
   when they next occur. 'seed': seed of the random distances between samples. 'isforked' 1: frees
   no memory, because another thread may have been changing it when the program forked. */
void tracker_again (Tracker *t, uint64_t seed, int isforked);

/* Sets the client and zeroes all counters. 'ud' is passed to the client's callbacks. 'period':
   bytes. 'native' 1: samples have C stacks. */
void tracker_start (Tracker *t, const TrackerClient *client, void *ud,
                    uint64_t period, int native);

/* Switches sampling off, reports the last data and removes the client. */
void tracker_end (Tracker *t, lua_State *L);

/* First half of tracker_end: switches sampling off and reports the last data. The second half,
   tracker_leave, stops watching the sampled blocks of native memory. Between the two calls, a
   client may take over the watch of a block: it copies FollowedSample.owner, the slot that records
   the free, and sets this field to NULL. tracker_leave keeps this slot. */
void tracker_finish (Tracker *t, lua_State *L);
/* Second half of tracker_end: removes the client. */
void tracker_leave (Tracker *t, lua_State *L);

/* Removes the client in the child of a fork, where no Lua function may be called. Reports nothing
   more. Frees no lists, because another thread may have been changing them at the fork. */
void tracker_abandon (Tracker *t);

/* Switches sampling on. 'period': mean distance of two samples in bytes. 'random' 1: the distances
   are random. 'seed': seed of the random generator, used only by the first call after
   tracker_start. */
void tracker_on (Tracker *t, lua_State *L, uint64_t period, int random,
                 uint64_t seed);

/* Records the CPU time at which the program's work ends, so that later work of the profiler does
   not count as the program's. Call it first when a session ends. */
void tracker_stop (Tracker *t);

/* Switches sampling off. If anything is not reported yet (the survival or death of a sample, a
   collection, or the program's CPU time), runs a last minor collection, which reports it. Later
   deaths of survivors are still reported. Returns 0 if sampling was off. */
int tracker_off (Tracker *t, lua_State *L);

/* Sets whether safepoints call the client's callback 'point' ('on' 1), which completes time
   samples. */
void tracker_points (Tracker *t, lua_State *L, int on);

/* Starts to sample native memory on threads that run the state. 'period': bytes. 'seed': seed of
   the random intervals between samples. The client must have the callback 'ready', because samples
   are taken inside malloc. Returns 0 if out of memory. */
int tracker_mallocs (Tracker *t, uint64_t period, uint64_t seed);

/* Sets whether copied bytes are sampled ('on' 1): those of growing vectors and of new strings.
   Takes effect at the next tracker_on or tracker_wake. */
static inline void tracker_copies (Tracker *t, int on) {
  t->copying = on;
}

/* Changes the period of allocation samples, in bytes, also while sampling is on. */
void tracker_period (Tracker *t, lua_State *L, uint64_t period);

/* Returns the bytes allocated in this session while sampling was on. */
uint64_t tracker_bytes (const Tracker *t, lua_State *L);

#endif
