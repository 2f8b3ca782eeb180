/* SPDX-License-Identifier: MIT */
/*
** The tracker of one state. Takes allocation samples where the core calls it (seam.h), at
** random distances (interval.h), with stacks (stack.h). Reports their survival (pending.h) and
** classes (classes.h) when a collection has decided them, and the deaths of survivors
** (followed.h) if the client wants them. The client is the file of a session (sampler.h) or a
** program (asamp.h). All memory here comes from malloc and is never sampled.
**
**   A1  the tracker is registered with the core while it is on or safepoints are requested, and
**       afterwards as long as samples are undecided or followed (with the sample point at
**       infinity);
**   A2  samples = sum over the on-times of the points passed (interval.h);
**   A3  whenever it is off, the survival of every sample is decided, unless the collector could
**       not run: in a finalizer, the next collection decides it;
**   A4  a function is reported to the client before the first sample that contains it, a class
**       before the first outcome that names it, a collection once, after the samples that it
**       decides, when its pause is over;
**   A5  collections while it is off are not reported, except those that decide survival or find
**       followed samples dead;
**   A6  the bit of every block that 'pending' or 'followed' watches is set in 'watching', and
**       after a collection few others are. The program frees millions of blocks per second, so
**       the free of an unwatched block must need no call and touch little of the cache;
**   A7  a sample of native memory is taken inside malloc, which the tracker itself may have
**       called, or a signal handler that interrupted it: if the tracker is 'busy' the sample is
**       lost. The owner of such a sample is a slot (mallocs_isowner);
**   A8  copies are sampled with the period of allocations. A string's sample is also one of the
**       bytes copied into it: each of its points lies in the text with a probability equal to
**       the text's share of the block, and in the string that it replaces with that string's
**       share. Bytes moved by growth have points of their own (luaN_setcopies).
*/
#ifndef asamp_tracker_h
#define asamp_tracker_h

#include "clock.h"
#include "lua.h"

#include "births.h"
#include "classes.h"
#include "followed.h"
#include "interval.h"
#include "holdersask.h"
#include "pending.h"
#include "sample.h"
#include "seam.h"
#include "stack.h"

/*
** Callbacks of a client; arguments as of the functions of the same names in profile.h. Called
** inside allocations and collections, under the rules of luaN_Sampler.
*/
typedef struct TrackerClient {
  void (*function) (void *ud, uint64_t id, const char *name, int linedefined,
                    const char *source);
  void (*class) (void *ud, uint32_t id, const char *name);
  /* Returns 0 if there is no space for the next sample of 'count' periods, which is then
     lost; negative: the client wants no more samples. NULL: always 1. */
  int (*room) (void *ud, uint64_t count);
  void (*sample) (void *ud, const ProfileSample *s, size_t shared,
                  const ProfileFrame *frames, size_t n);
  /* Reports a time sample (timing.h). NULL if the client requests no safepoints. */
  void (*time) (void *ud, const ProfileTime *s, size_t shared,
                const ProfileFrame *frames, size_t n);
  /* Reports a collection. In the outcomes, 'survived' is 2 if the sample is not followed.
     The deaths are among the samples followed then, including the survivors of these
     outcomes. */
  void (*collection) (void *ud, const ProfileCollection *c,
                      const PendingFates *f, const FollowedDeaths *d);
  void (*point) (void *ud, lua_State *L);  /* A safepoint, and the end of the state; as in
					      luaN_Sampler. */
  void (*closing) (void *ud, lua_State *L);
  int follows;		/* 1: survivors are followed and deaths reported. */
  /* Returns 1 if a sample may be reported inside malloc: there is space, nothing blocks, and
     this thread is not inside a report. NULL: the client takes no such samples. */
  int (*ready) (void *ud);
  /* Reports the holders of the followed samples, in their order. NULL: never searched. */
  void (*holders) (void *ud, Holders *h);
  /* Called after a collection. Code that allocates nothing from the state may run there
     (such as a walk), including the functions below except those that collect. NULL: not
     called. */
  void (*safe) (void *ud, lua_State *L);
  void (*starved) (void *ud, lua_State *L);  /* As in luaN_Sampler; may be NULL. */
} TrackerClient;

#define TRACKER_WATCHLOG	16	/* log2 of the bits of 'watching' */

typedef struct Tracker {
  luaN_Sampler seam;		/* Callbacks registered with the core; their 'ud' is the Tracker. */
  lua_State *L;			/* Main thread of the state. */
  const TrackerClient *client;	/* NULL: no client. */
  void *ud;			/* The client's pointer. */
  int native;			/* 1: samples have C stacks. */
  Interval interval;
  int seeded;			/* 1: the generators of the intervals have their seed. */
  int on;
  int idle;			/* 1: only 'safe' is called. */
  int points;			/* 1: the client requests safepoints for time samples. */
  uint64_t mallocs;		/* Sampling period of native memory in bytes (mallocs.h); 0:
				   not sampled. */
  int copying;			/* 1: copies are sampled while it is on (A8). */
  Interval copyinterval;	/* Intervals of the bytes moved by growth. */
  int busy;			/* Nonzero while a function of the tracker runs (A7). */
  uint64_t deaths;		/* mallocs_deaths at the last check for dead native blocks. */
  size_t reaping;		/* Number of pending samples at which dead native ones are
				   removed. */
  uint64_t looked;		/* Time of the last check for deaths, ns. */
  uint64_t number;		/* Number of the state, for the client. */
  uint64_t from;		/* Value of luaN_allocated when sampling was switched on. */
  /* Sample periods, those of native memory, bytes, and ns spent, since the client was added. */
  uint64_t samples, natives, bytes, nanoseconds;
  uint64_t lost;		/* Lost periods since the client was added; atomic
				   (tracker_lost). */
  unsigned ntimed;		/* Samples so far, of which some are timed (timed). */
  uint64_t unfollowed;		/* Survivors that were not followed; atomic. */
  uint64_t minors, majors, tenured, planned, charged;  /* Totals of luaN_Memory at the last
						          reported collection. */
  uint64_t rss, measured;	/* Resident bytes; time of the last record that measured them,
				   ns. */
  uint64_t heldthen;		/* Bytes reserved by the heap when they were last read without
				   delay. */
  Pending pending;
  Followed followed;
  uint64_t *watching;		/* Bit set of 2^TRACKER_WATCHLOG bits (A6); NULL: not allocated. */
  unsigned watchlog;		/* log2 of the number of bits in use. */
  size_t nwatching;		/* Blocks entered since the bit set was last cleared. */
  Stack stack;
  BirthFunctions functions;	/* Functions reported to the client. */
  Classes classes;
  int deciding;			/* 1: a collection is running that will be reported. */
  uint64_t since;		/* Start of its part of the pause, CLOCK_MONOTONIC, ns. */
  uint64_t sinceprocessor;	/* CPU time of the thread at that time, ns. */
  uint64_t slices;	/* luaN_Memory.slices at the last report. */
  uint64_t pauses, toldpauses;	/* ns of all pauses before the last reported one; ns of the
				   reported ones since. */
  uint64_t sincelooked[LOOKED_COUNT];  /* Work counters at that time. */
  ProfileCollection collection;	/* The running collection; outside of one, the last reported. */
  PendingFates fates;		/* Outcomes that it decided. */
  FollowedDeaths dead;	/* Deaths that it found. */
  int ending;			/* 1: sampling ends with this collection. */
  uint64_t holdersevery;	/* ns from one search for holders to the next; 0: none. */
  uint64_t holdersdue;		/* Time of the next search, CLOCK_MONOTONIC, ns. */
  HoldersAsk asking;		/* Running search of a child process. */
} Tracker;

/*
** Returns the periods lost since the client was added. The state's thread counts them;
** thread-safe.
*/
static inline uint64_t tracker_lost (const Tracker *t) {
  return __atomic_load_n(&t->lost, __ATOMIC_RELAXED);
}

/*
** Returns the number of samples, since the client was added, that survived and whose deaths are
** not reported. Thread-safe.
*/
static inline uint64_t tracker_unfollowed (const Tracker *t) {
  return __atomic_load_n(&t->unfollowed, __ATOMIC_RELAXED);
}

static inline void tracker_setlost (Tracker *t, uint64_t n) {
  __atomic_store_n(&t->lost, n, __ATOMIC_RELAXED);
}

/* Adds n lost periods. */
static inline void tracker_lose (Tracker *t, uint64_t n) {
  tracker_setlost(t, tracker_lost(t) + n);
}

/*
** Initializes the tracker of the state of L, without a client. 'lazy': the first sample
** allocates the buffers (about 300 KiB), for processes with many states that may take no
** sample. Returns 0 without memory.
*/
int tracker_open (Tracker *t, lua_State *L, int lazy);
void tracker_close (Tracker *t);

/* Returns 1 if the callbacks are those of a Tracker, which then is their 'ud'. */
int tracker_is (const luaN_Sampler *seam);

/* Assigns the tracker to another state, as tracker_open with 'lazy', but keeps its buffers. */
void tracker_reopen (Tracker *t, lua_State *L);

/*
** tracker_idle stops sampling; only 'safe' is called from then on. tracker_wake restarts it for
** a client that knows no functions and classes (tracker_again). Call them only from 'safe' or
** when the state starts.
*/
void tracker_idle (Tracker *t, lua_State *L);
void tracker_wake (Tracker *t, lua_State *L, uint64_t period, int random, uint64_t seed,
                   int alloc);

/*
** In the child of a fork: tracker_forked discards the parent's pending and followed samples.
** tracker_again resets what the client knows, before the first report in the child.
*/
void tracker_forked (Tracker *t);
void tracker_again (Tracker *t, uint64_t seed, int isforked);

/* Sets the client. Counters start at 0. */
void tracker_begin (Tracker *t, const TrackerClient *client, void *ud,
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
** have caught another thread changing them. The state continues: when the core reaches its
** sample point, it moves to infinity.
*/
void tracker_abandon (Tracker *t);

/* Switches sampling on. 'seed' of the intervals is used at the first call for a client only. */
void tracker_on (Tracker *t, lua_State *L, uint64_t period, int random,
                 uint64_t seed);

/*
** Switches sampling off. Runs the minor collection that decides the last samples (finalizers
** run later). Followed samples remain followed. Returns 0 if it was off.
*/
int tracker_off (Tracker *t, lua_State *L);

/* Sets whether the client receives safepoints, for time samples. */
void tracker_points (Tracker *t, lua_State *L, int on);

/*
** Starts samples of native memory, of threads that run this state and possibly of threads that
** run none (mallocs.h); 'seed' 0: any. Returns 0 without memory. Requires a client with 'ready'
** and the loaded library.
*/
int tracker_mallocs (Tracker *t, uint64_t period, uint64_t seed);

/* Sets whether copies are sampled, from the next tracker_on or tracker_wake. */
static inline void tracker_copies (Tracker *t, int on) {
  t->copying = on;
}

/* Changes the period, also while sampling is on (interval_change). */
void tracker_period (Tracker *t, lua_State *L, uint64_t period);

/*
** Reports the holders of the followed samples every 'ns' nanoseconds: after the first major
** collection when that time has passed, or after any collection when twice that time has. For a
** large heap a child process searches (holdersask.h), and a later collection reports. 0: never.
*/
static inline void tracker_holdersevery (Tracker *t, uint64_t ns) {
  t->holdersevery = ns;
  t->holdersdue = clock_now() + ns;
}

/*
** Reports the holders of the followed samples now. Must not be called inside a collection.
** Returns the number of these samples; 0: none, or no memory.
*/
size_t tracker_holders (Tracker *t, lua_State *L);

/*
** Returns the tracker registered for the state, even if it only has pending or followed
** samples; else NULL.
*/
const Tracker *tracker_of (lua_State *L);

/* Returns the resident bytes of the process. */
uint64_t tracker_rss (void);

/*
** Returns the resident bytes as read at most 'age' ns before 'now' (clock_now). Reading them
** costs about as much as everything else recorded of a state that lives for one request.
*/
uint64_t tracker_recentrss (uint64_t now, uint64_t age);

/* Returns the bytes allocated while sampling was on. */
uint64_t tracker_bytes (const Tracker *t, lua_State *L);

#endif
