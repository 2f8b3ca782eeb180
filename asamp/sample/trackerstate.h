/* SPDX-License-Identifier: MIT */
/* The data of a tracker (tracker.h) and the callbacks of its client. Only the tracker's files
   change the fields; clients may read them. Exceptions: the profiler's session (sampler.h) sets
   'number', and sets 'points' to 0 when its Lua state closes. */
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

/* Callbacks of a client, called inside allocations and collections under the rules of
   luaN_Sampler. 'function', 'class', 'sample' and 'time' have the arguments of
   profile_function, ... (profile.h). */
typedef struct TrackerClient {
  void (*function) (void *ud, uint64_t id, const char *name, int linedefined,
                    const char *source);
  void (*class) (void *ud, uint32_t id, const char *name);
  /* Called before a sample that counts 'count' sampling periods. Result 1: the sample is taken. 0:
     the client has no space, so the sample is lost. Negative: no more samples are taken. */
  int (*room) (void *ud, uint64_t count);
  void (*sample) (void *ud, const ProfileSample *s, size_t shared,
                  const ProfileFrame *frames, size_t n);
  /* Reports a time sample. NULL: no time samples. */
  void (*time) (void *ud, const ProfileTime *s, size_t shared,
                const ProfileFrame *frames, size_t n);
  /* Reports collection *c. If 'follows' is 1, the survivors of *f are already in Tracker.followed.
     f  which of the samples taken before the collection survived
     d  which earlier survivors died */
  void (*collection) (void *ud, const ProfileCollection *c,
                      const PendingFates *f, const FollowedDeaths *d);
  /* Called at a safepoint, to take time samples. NULL: no time samples. */
  void (*point) (void *ud, lua_State *L);
  void (*closing) (void *ud, lua_State *L);  /* Called at the start of lua_close. */
  int follows;		/* 1: the client wants reports of the deaths of survivors. */
  /* Returns 1 if a sample may be reported inside malloc without blocking. NULL: no samples of
     native memory. */
  int (*ready) (void *ud);
  /* Reports the paths of references that keep the survivors alive. */
  void (*holders) (void *ud, Holders *h);
  /* Called after a collection, except while sampling is being switched off. Must not allocate from
     the Lua state. May call luaN_walk. NULL: not called. */
  void (*safe) (void *ud, lua_State *L);
  /* Called before the Lua core raises a memory error. NULL: not called. */
  void (*starved) (void *ud, lua_State *L);
  /* Called when a protected call of the state ends (luaN_Sampler.returned). NULL: not called. */
  void (*returned) (void *ud);
} TrackerClient;

#define TRACKER_WATCHLOG	16	/* log2 of the number of bits of 'watching' */

typedef struct Tracker {
  luaN_Sampler seam;		/* Callbacks registered with the Lua core; 'ud' is the Tracker. */
  lua_State *L;			/* Main thread of the state. */
  const TrackerClient *client;	/* Callbacks that receive the samples; NULL: there is no client. */
  void *ud;			/* Argument 'ud' of the callbacks of 'client'. */
  int native;			/* 1: samples have C stacks. */
  Interval interval;		/* Random distances between allocation samples, in bytes. */
  int seeded;			/* 1: the random generators have their seed. */
  int on;			/* 1: allocations are sampled. */
  int idle;			/* 1: sampling is suspended (tracker_idle). Only the client's
                                   callbacks 'safe' and 'closing' are called. */
  int points;			/* 1: safepoints call the client's callback 'point'. */
  uint64_t mallocs;		/* Sampling period of native memory in bytes (mallocs.h); 0:
				   not sampled. */
  int copying;			/* 1: copied bytes are sampled, too, while 'on' is 1
                                   (trackcopies.h). */
  Interval copyinterval;	/* Random distances in bytes between samples of moved bytes
                                   (trackcopies.h). */
  int busy;			/* Nesting depth of the tracker's functions; above 0, samples of
                                   native memory are lost. */
  uint64_t deaths;		/* Value of mallocs_deaths, the number of freed native blocks, at
                                   the last search for dead samples. */
  size_t reaping;		/* If 'pending' has at least this number of samples, it is searched
                                   for samples of freed native blocks (tracknative.c). */
  uint64_t checked;		/* Time of the last search for dead samples among 'followed', ns. */
  uint64_t number;		/* Number of the state in a shared profile, set by the client. */
  Account account;		/* Bytes allocated in this session while 'on' was 1. */
  /* Numbers of sampling periods in the samples reported to the client: 'samples' of allocations,
     'natives' of native memory. */
  uint64_t samples, natives;
  uint64_t nanoseconds;		/* Time that the tracker's work has taken in this session, ns. */
  uint64_t lost;		/* Number of sampling periods whose samples were dropped; atomic. */
  unsigned ntimed;		/* Number of calls of tracker_timed. It measures the duration of
                                   some samples and adds it to 'nanoseconds'. */
  uint64_t unfollowed;		/* Number of surviving samples whose deaths are not reported,
                                   because 'followed' was full; atomic. */
  /* Values of the Lua core's counters of the same names (luaN_Memory) when a collection was last
     recorded. */
  uint64_t minors, majors, tenured, planned, charged;
  uint64_t rss, measured;	/* 'rss': resident bytes of the process. 'measured': time at which
                                   'rss' was set, ns; 0: the next collection sets it anew. */
  uint64_t heldthen;		/* Reserved bytes of the Lua heap (luaN_Memory.held) when 'rss' was
                                   last read from the kernel. */
  Pending pending;
  Followed followed;
  uint64_t *watching;		/* Bit set of the watched blocks (blocks whose free must be
                                   noticed), two bits for each block; 2^TRACKER_WATCHLOG bits. NULL:
                                   not allocated. */
  unsigned watchlog;		/* log2 of the number of bits of 'watching' that are used. */
  size_t nwatching;		/* Number of blocks added to the bit set 'watching' since it was
                                   cleared. */
  Stack stack;
  BirthFunctions functions;	/* Functions reported to the client. */
  Classes classes;
  int deciding;			/* 1: 'collection' has a record that is not reported yet. */
  uint64_t since;		/* Start of the collection that is being recorded, CLOCK_MONOTONIC,
                                   ns. */
  uint64_t sinceprocessor;	/* CPU time of the thread at the start of the collection that is
                                   being recorded, ns. */
  /* reported: CPU time of a thread in ns at the end of the last reported collection. reportedon: an
     address that identifies this thread. */
  uint64_t reported;
  const void *reportedon;
  uint64_t stopped;	/* CPU time of the thread when tracker_stop was called, ns; 0: not
                           called. */
  uint64_t slices;	/* CPU time of the steps of major collections (luaN_Memory.slices) at the
                           last record of a collection, ns. */
  /* For the total length of the pauses that no record of a collection includes.
     pauses          length of all pauses of the state until the last call of leftpauses, ns
     reportedpauses  length of those pauses after that call that are in records, ns */
  uint64_t pauses, reportedpauses;
  /* Number of entries of each kind (enum ProfileLooked) that the collector had visited in the
     current pause before this collection started. */
  uint64_t sincelooked[LOOKED_COUNT];
  ProfileCollection collection;	/* The record of the collection that is running or ended last. */
  PendingFates fates;		/* Result of the last collection: for each sample taken before it,
                                   whether the sample survived. */
  FollowedDeaths dead;	/* Result of the last collection: which earlier survivors have died. */
  int ending;			/* 1: sampling is being switched off. The running collection decides
                                   which of the last samples survive. */
  uint64_t holdersevery;	/* ns between searches for the references that keep samples
                                   alive; 0: no such searches. */
  uint64_t holdersdue;		/* Time of the next search for references, CLOCK_MONOTONIC, ns. */
  size_t holdersgrown;		/* If 'followed' has at least this number of samples after a major
                                   collection, the references that keep them alive are searched for.
                                   SIZE_MAX: never. */
  uint64_t holderssince;	/* Start of the session, CLOCK_MONOTONIC, ns. */
  HoldersSearch search;		/* Search in a child process for the references that keep
                                   samples alive. */
} Tracker;

/* Returns the number of sampling periods whose samples were dropped. Thread-safe. */
static inline uint64_t tracker_lost (const Tracker *t) {
  return __atomic_load_n(&t->lost, __ATOMIC_RELAXED);
}

/* Returns the number of surviving samples whose deaths are not reported, because the list
   'followed' was full. Thread-safe. */
static inline uint64_t tracker_unfollowed (const Tracker *t) {
  return __atomic_load_n(&t->unfollowed, __ATOMIC_RELAXED);
}

/* Sets the number of sampling periods whose samples were dropped. Call it on the state's thread. */
static inline void tracker_setlost (Tracker *t, uint64_t n) {
  __atomic_store_n(&t->lost, n, __ATOMIC_RELAXED);
}

/* Adds n to the number of sampling periods whose samples were dropped. Call it on the state's
   thread. */
static inline void tracker_lose (Tracker *t, uint64_t n) {
  tracker_setlost(t, tracker_lost(t) + n);
}

/* The durations of the first TRACKER_FIRSTTIMED samples are measured, and then of one in
   TRACKER_TIMEDPART, because measuring makes a sample a tenth slower. */
#define TRACKER_FIRSTTIMED	64
#define TRACKER_TIMEDPART	16

/* Call it at the end of a sample that started at time 'start' (ns). Measures only some samples:
   adds the duration of a measured one to 'nanoseconds', times the number of samples that it
   represents. */
static inline void tracker_timed (Tracker *t, uint64_t start) {
  unsigned share = (t->ntimed < TRACKER_FIRSTTIMED) ? 1 : TRACKER_TIMEDPART;
  if (t->ntimed++ % share == 0) t->nanoseconds += share * clock_since(start);
}

#endif
