/* SPDX-License-Identifier: MIT */
/*
** The tracker of one state: takes samples where the core says so (seam.h), at
** distances (interval.h), with stacks (stack.h), and tells their fates (pending.h)
** and classes (classes.h) when a collection knows them, and when those that
** survived die (followed.h), if the client wants to know. Whom it tells is its
** client: the file of a session (sampler.h) or a program (asamp.h). All memory
** here comes from malloc and is never sampled.
**
**   A1  the state's seam has the tracker while it is on or points are asked for,
**       and after that for as long as samples wait for their fate or are
**       followed (the sample point is at infinity);
**   A2  samples = sum over the on-times of the points passed (interval.h);
**   A3  whenever it is off, every sample has its fate, unless the collector
**       could not run: in a finalizer, the next collection tells it;
**   A4  the client hears of a function before the first sample that shows it,
**       of a class before the first fate that names it; of a collection after
**       the samples that it decides, once, when its pause is over;
**   A5  collections while it is off are not the client's, but for those that
**       decide fates or find followed samples dead;
**   A6  the bit of every block that 'pending' or 'followed' watch is set in
**       'watching', and after a collection few others are: the program frees
**       millions of blocks a second, so that whoever is not watched must cost
**       no call, and no more of the cache than has to be.
**   A7  a sample of native memory is taken in the midst of a malloc, and so perhaps of
**       the tracker's own, or of a signal's handler that has interrupted it: where it
**       is 'busy' the sample is lost. Such a sample is a pending or followed one whose
**       owner is a slot (mallocs_isowner).
**   A8  copies are sampled at the period of allocation. A string's sample is one of the
**       bytes that were copied into it, too: each of its points lies in the text with the
**       chance that the text is of the block, and in what the string replaces with that
**       part's. What growth moves has points of its own (luaN_setcopies).
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
** What a client is told; arguments as those of the functions of profile.h of
** these names. Called inside allocations and collections: the rules of
** luaN_Sampler hold for them.
*/
typedef struct TrackerClient {
  void (*function) (void *ud, uint64_t id, const char *name, int linedefined,
                    const char *source);
  void (*class) (void *ud, uint32_t id, const char *name);
  int (*room) (void *ud, uint64_t count);  /* 0: no room for the sample that comes and
			   counts so often, which is lost
			   then; below 0: none is wanted any more. NULL: always */
  void (*sample) (void *ud, const ProfileSample *s, size_t shared,
                  const ProfileFrame *frames, size_t n);
  /* of time (timing.h); NULL where the client asks for no points */
  void (*time) (void *ud, const ProfileTime *s, size_t shared,
                const ProfileFrame *frames, size_t n);
  /* of the fates, survived is 2 where the sample is not followed; the deaths
     are of those followed then, these fates' survivors included */
  void (*collection) (void *ud, const ProfileCollection *c,
                      const PendingFates *f, const FollowedDeaths *d);
  void (*point) (void *ud, lua_State *L);  /* as those of luaN_Sampler */
  void (*closing) (void *ud, lua_State *L);
  int follows;		/* wants deaths; else none are looked for */
  /* 1: a sample may be told in the midst of a malloc: there is room, and nobody is
     waited for, nor is this thread telling something. NULL: no such samples */
  int (*ready) (void *ud);
  /* who holds what is followed, in its order; NULL: nobody asks */
  void (*holders) (void *ud, Holders *h);
  /* a collection is over: what allocates nothing from the state may be done there (a
     walk), and the functions below but for those that collect. NULL: nobody asks */
  void (*safe) (void *ud, lua_State *L);
  void (*starved) (void *ud, lua_State *L);  /* as that of luaN_Sampler; may be NULL */
} TrackerClient;

#define TRACKER_WATCHLOG	16

typedef struct Tracker {
  luaN_Sampler seam;		/* what the core calls; ud is the Tracker */
  lua_State *L;			/* the state's main thread */
  const TrackerClient *client;	/* NULL: there is none */
  void *ud;			/* the client's own */
  int native;			/* samples have C stacks */
  Interval interval;
  int seeded;			/* the interval's generator has its seed */
  int on;
  int idle;			/* nothing is wanted but 'safe' */
  int points;			/* the client wants points of time samples */
  uint64_t mallocs;		/* period of native memory's samples (mallocs.h); 0: none */
  int copying;			/* copies are, while it is on (A8) */
  Interval copyinterval;	/* of the bytes that growth moves */
  int busy;			/* one of the functions below runs (A7) */
  uint64_t deaths;		/* of native blocks, when they were last looked for, ... */
  size_t reaping;		/* pending samples among which dead ones are looked for */
  uint64_t looked;		/* ... and when that was */
  uint64_t number;		/* of the state, for the client */
  uint64_t from;		/* luaN_allocated when sampling went on */
  uint64_t samples, natives, bytes, nanoseconds;  /* since the client came */
  uint64_t lost;		/* ... and what was; atomic (tracker_lost) */
  unsigned ntimed;		/* samples that may have been timed for these */
  uint64_t unfollowed;		/* samples that survived and found no room; atomic */
  uint64_t minors, majors, tenured, planned, charged;  /* as the last collection told has left it */
  uint64_t rss, measured;	/* resident bytes; when a record last had them */
  uint64_t heldthen;		/* bytes that the heap held when they were last asked for at once */
  Pending pending;
  Followed followed;
  uint64_t *watching;		/* A6, 2^TRACKER_WATCHLOG bits; NULL: none yet. Of them ... */
  unsigned watchlog;		/* ... 2 to the power of this are in use */
  size_t nwatching;		/* blocks put there since it was last empty */
  Stack stack;
  BirthFunctions functions;	/* that the client was told of */
  Classes classes;
  int deciding;			/* a collection is running that is to be told */
  uint64_t since;		/* its part of the pause began then, ... */
  uint64_t sinceprocessor;	/* ... when the thread had so much CPU time, ... */
  uint64_t slices;	/* luaN_Memory.slices, as the last one told has left it */
  uint64_t pauses, toldpauses;	/* ns of all pauses before the last that was told, and of that */
  uint64_t sincelooked[LOOKED_COUNT];  /* ... and had looked at so much */
  ProfileCollection collection;	/* it, or the last one told; */
  PendingFates fates;		/* ... what it has decided */
  FollowedDeaths dead;
  int ending;			/* it is the last one of an on-time */
  uint64_t holdersevery;	/* ns from one look for holders to the next; 0: none */
  uint64_t holdersdue;		/* CLOCK_MONOTONIC, ns */
  HoldersAsk asking;		/* who holds what was followed then */
} Tracker;

/* Samples that were lost since the client came. The thread that runs the state counts them; any
   thread may ask. */
static inline uint64_t tracker_lost (const Tracker *t) {
  return __atomic_load_n(&t->lost, __ATOMIC_RELAXED);
}

/* Returns the number of samples, since the client came, that survived and whose deaths are not
   reported. On any thread. */
static inline uint64_t tracker_unfollowed (const Tracker *t) {
  return __atomic_load_n(&t->unfollowed, __ATOMIC_RELAXED);
}

static inline void tracker_setlost (Tracker *t, uint64_t n) {
  __atomic_store_n(&t->lost, n, __ATOMIC_RELAXED);
}

/* So many more. */
static inline void tracker_lose (Tracker *t, uint64_t n) {
  tracker_setlost(t, tracker_lost(t) + n);
}

/*
** Of the state of L, without a client. 'lazy': what a sample needs (some 300 KiB) is
** made with the first one, where there are many states that may take none. 0: no memory.
*/
int tracker_open (Tracker *t, lua_State *L, int lazy);
void tracker_close (Tracker *t);

/* Is it a Tracker's? Then its ud is that. */
int tracker_is (const luaN_Sampler *seam);

/* Another state's from here on, as tracker_open with 'lazy', with the memory it has. */
void tracker_reopen (Tracker *t, lua_State *L);

/*
** From 'safe' only, or when the state begins. The first: sampling off, nothing but 'safe' is
** called ('idle'). The second: on again, for a client that knows nothing (tracker_again).
*/
void tracker_idle (Tracker *t, lua_State *L);
void tracker_wake (Tracker *t, lua_State *L, uint64_t period, int random, uint64_t seed,
                   int alloc);

/* In the child of a fork. The first forgets what the parent waits for and follows; the
   second, before the client is first told something there: nothing is known to it. */
void tracker_forked (Tracker *t);
void tracker_again (Tracker *t, uint64_t seed, int isforked);

/* A client comes; counts are those of its time. */
void tracker_begin (Tracker *t, const TrackerClient *client, void *ud,
                    uint64_t period, int native);

/* It goes: sampling off (tracker_off), and the last that there is to tell is told. */
void tracker_end (Tracker *t, lua_State *L);

/* The same in two steps. After the first the client has been told all, and may take of what is
   followed the samples of native memory over: owners that it makes NULL are its own. */
void tracker_finish (Tracker *t, lua_State *L);
void tracker_leave (Tracker *t, lua_State *L);

/*
** It goes where nothing may be done in Lua any more, in the child of a fork.
** What has no fate gets none, and what is followed stays allocated: the fork may
** have caught another thread while it made room there. The state is as before, for the core's
** sample point goes to infinity when it is reached.
*/
void tracker_abandon (Tracker *t);

/* Sampling on. 'seed' of the intervals; a client's second seed is not used. */
void tracker_on (Tracker *t, lua_State *L, uint64_t period, int random,
                 uint64_t seed);

/*
** Sampling off. Runs the minor collection that decides the last fates
** (finalizers wait for the next one). What is followed is followed on. Returns
** 0 when it was off already.
*/
int tracker_off (Tracker *t, lua_State *L);

/* The client wants points to be told (of moments), or no more. */
void tracker_points (Tracker *t, lua_State *L, int on);

/*
** Samples native memory, of the threads that run this state, and perhaps of those that
** run none (mallocs.h); 'seed' 0: any. 0: no memory. With a client that has 'ready', of a
** process that has the library.
*/
int tracker_mallocs (Tracker *t, uint64_t period, uint64_t seed);

/* Copies are sampled from the next tracker_on (tracker_wake) on, or no more. */
static inline void tracker_copies (Tracker *t, int on) {
  t->copying = on;
}

/* Changes the period, also while on (interval_change). */
void tracker_period (Tracker *t, lua_State *L, uint64_t period);

/* The client is told every 'ns' who holds what is followed: when that time is over, after the
   next major collection, or after any once as long again is over. Where the heap is large a
   child looks (holdersask.h), and the client is told after a later collection. 0: never. */
static inline void tracker_holdersevery (Tracker *t, uint64_t ns) {
  t->holdersevery = ns;
  t->holdersdue = clock_now() + ns;
}

/*
** Tells the client who holds what is followed. Outside of collections only. Returns how
** many samples are; 0: none, or there is no memory.
*/
size_t tracker_holders (Tracker *t, lua_State *L);

/* The tracker on the seam of the state: of whatever samples are pending or followed; or
   NULL. */
const Tracker *tracker_of (lua_State *L);

/* Resident bytes of the process. */
uint64_t tracker_rss (void);

/* The same as somebody has read it less than 'age' ns before 'now' (clock_now), or now: to ask
   the system costs a state that lives for a request as much as all else that is told of it. */
uint64_t tracker_recentrss (uint64_t now, uint64_t age);

/* Bytes allocated while on. */
uint64_t tracker_bytes (const Tracker *t, lua_State *L);

#endif
