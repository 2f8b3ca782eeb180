/* SPDX-License-Identifier: MIT */
/*
** The data of a tracker (tracker.h), shared by the files that do its work, and the callbacks of its
** client. Only these files and their specs change the fields, with two exceptions: a session sets
** 'number', and sets 'points' to 0 when its state closes. Clients may read all fields.
*/
#ifndef asamp_trackerstate_h
#define asamp_trackerstate_h

#include "clock.h"
#include "lua.h"

#include "account.h"
#include "births.h"
#include "classes.h"
#include "followed.h"
#include "interval.h"
#include "holderssearch.h"
#include "pending.h"
#include "sample.h"
#include "seam.h"
#include "stack.h"

/*
** Callbacks of a client. The arguments of function, class, sample and time are those of
** profile_function, ... in profile.h. Called inside allocations and collections, under the rules of
** luaN_Sampler.
*/
typedef struct TrackerClient {
  void (*function) (void *ud, uint64_t id, const char *name, int linedefined,
                    const char *source);
  void (*class) (void *ud, uint32_t id, const char *name);
  /* Returns 1 if there is space for the next sample, of 'count' periods; 0: there is none, and the
     sample is lost; negative: the client wants no more samples. NULL: always 1. */
  int (*room) (void *ud, uint64_t count);
  void (*sample) (void *ud, const ProfileSample *s, size_t shared,
                  const ProfileFrame *frames, size_t n);
  /* Reports a time sample (timing.h). NULL if the client requests no safepoints. */
  void (*time) (void *ud, const ProfileTime *s, size_t shared,
                const ProfileFrame *frames, size_t n);
  /* Reports a collection. In the outcomes, 'survived' is 2 for a survivor that should be
     followed but does not fit. The deaths are among the samples followed after these outcomes,
     their survivors included. */
  void (*collection) (void *ud, const ProfileCollection *c,
                      const PendingFates *f, const FollowedDeaths *d);
  void (*point) (void *ud, lua_State *L);  /* As in luaN_Sampler. */
  void (*closing) (void *ud, lua_State *L);  /* As in luaN_Sampler. */
  int follows;		/* 1: survivors are followed and deaths reported. */
  /* Returns 1 if a sample may be reported inside malloc: there is space, the report does not
     block, and this thread is not inside a report. NULL: the client takes no such samples. */
  int (*ready) (void *ud);
  /* Reports the holders of the followed samples, in the order of 'followed'. NULL: holders are
     never searched. */
  void (*holders) (void *ud, Holders *h);
  /* Called after a collection, except one of tracker_off or tracker_end. Must not allocate from the
     state; may call luaN_walk, and the functions of tracker.h except those that collect. NULL: not
     called. */
  void (*safe) (void *ud, lua_State *L);
  void (*starved) (void *ud, lua_State *L);  /* As in luaN_Sampler; may be NULL. */
} TrackerClient;

#define TRACKER_WATCHLOG	16	/* log2 of the number of bits of 'watching' */

typedef struct Tracker {
  luaN_Sampler seam;		/* Callbacks registered with the core; their 'ud' is the Tracker. */
  lua_State *L;			/* Main thread of the state. */
  const TrackerClient *client;	/* NULL: no client. */
  void *ud;			/* The client's pointer. */
  int native;			/* 1: samples have C stacks. */
  Interval interval;		/* Distances of allocation samples. */
  int seeded;			/* 1: the generators of the intervals have their seed. */
  int on;			/* 1: allocations are sampled. */
  int idle;			/* 1: only 'safe' and 'closing' are called. */
  int points;			/* 1: the client requests safepoints for time samples. */
  uint64_t mallocs;		/* Sampling period of native memory in bytes (mallocs.h); 0:
				   not sampled. */
  int copying;			/* 1: copies are sampled while 'on' is 1 (A8). */
  Interval copyinterval;	/* Distances of copy samples, in bytes moved by growth. */
  int busy;			/* Nonzero while a function of the tracker runs (A7). */
  uint64_t deaths;		/* mallocs_deaths at the last check for dead native blocks. */
  size_t reaping;		/* Number of pending samples at which dead native ones are
				   removed. */
  uint64_t checked;		/* Time of the last check for deaths, ns. */
  uint64_t number;		/* Number of the state, for the client. */
  Account account;		/* Bytes allocated while 'on' was 1, since the client was added. */
  /* Since the client was added: periods of allocation samples and of samples of native memory, both
     0 after tracker_again; ns that the tracker has taken. */
  uint64_t samples, natives, nanoseconds;
  uint64_t lost;		/* Lost periods since the client was added; atomic
				   (tracker_lost). */
  unsigned ntimed;		/* Samples so far; tracker_timed measures the time of some. */
  uint64_t unfollowed;		/* Survivors that were not followed; atomic (tracker_unfollowed). */
  uint64_t minors, majors, tenured, planned, charged;  /* Totals of luaN_Memory at the last
						          reported or skipped collection. */
  uint64_t rss, measured;	/* Resident bytes; time of the last record that measured them, ns;
				   0: the next record measures them. */
  uint64_t heldthen;		/* Bytes reserved by the heap at the last reading of 'rss' that
				   was not a cached value. */
  Pending pending;
  Followed followed;
  uint64_t *watching;		/* Bit set of 2^TRACKER_WATCHLOG bits (A6); NULL: not allocated. */
  unsigned watchlog;		/* log2 of the number of bits of 'watching' in use. */
  size_t nwatching;		/* Blocks entered since 'watching' was last cleared. */
  Stack stack;
  BirthFunctions functions;	/* Functions reported to the client. */
  Classes classes;
  int deciding;			/* 1: a collection is running that will be reported. */
  uint64_t since;		/* Start of that collection, CLOCK_MONOTONIC, ns. */
  uint64_t sinceprocessor;	/* CPU time of the thread at 'since', ns. */
  uint64_t slices;	/* luaN_Memory.slices at the last report. */
  /* luaN_Memory.pauses when the unreported pauses were last counted; ns of the pauses reported
     since that time. */
  uint64_t pauses, reportedpauses;
  uint64_t sincelooked[LOOKED_COUNT];  /* Work counters of luaN_Memory at 'since'. */
  ProfileCollection collection;	/* The running collection, or the last reported one. */
  PendingFates fates;		/* Outcomes that 'collection' decided. */
  FollowedDeaths dead;	/* Deaths that 'collection' found. */
  int ending;			/* 1: the running collection is the last one of the session. */
  uint64_t holdersevery;	/* ns from one search for holders to the next; 0: none. */
  uint64_t holdersdue;		/* Time of the next search, CLOCK_MONOTONIC, ns. */
  size_t holdersgrown;		/* Followed samples from which a search is due (TH1); SIZE_MAX:
				   none. */
  uint64_t holderssince;	/* Start of the session, CLOCK_MONOTONIC, ns. */
  HoldersSearch search;		/* Running search of a child process. */
} Tracker;

/*
** Returns the periods lost since the client was added. Thread-safe; only the state's thread changes
** the number.
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

/* Sets the lost periods. On the state's thread. */
static inline void tracker_setlost (Tracker *t, uint64_t n) {
  __atomic_store_n(&t->lost, n, __ATOMIC_RELAXED);
}

/* Adds n lost periods. On the state's thread. */
static inline void tracker_lose (Tracker *t, uint64_t n) {
  tracker_setlost(t, tracker_lost(t) + n);
}

#define TRACKER_FIRSTTIMED	64	/* number of first samples whose time is always measured */
#define TRACKER_TIMEDPART	16	/* after these, one sample in 16 is measured: to read the
					   clock twice takes a tenth of a sample's time */

/* Called at the end of a sample that started at 'start' (ns). If its time is to be measured, adds
   the time to 'nanoseconds', times the number of samples that it represents. */
static inline void tracker_timed (Tracker *t, uint64_t start) {
  unsigned share = (t->ntimed < TRACKER_FIRSTTIMED) ? 1 : TRACKER_TIMEDPART;
  if (t->ntimed++ % share == 0) t->nanoseconds += share * clock_since(start);
}

#endif
