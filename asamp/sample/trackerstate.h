/* SPDX-License-Identifier: MIT */
/*
** The data of a tracker (tracker.h) and the callbacks of its client. The data is shared by the
** files that do the tracker's work. Only these files and their specs change the fields, with two
** exceptions: a session sets 'number', and sets 'points' to 0 when its state closes. Clients may
** read all fields.
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
** Callbacks of a client. The arguments of 'function', 'class', 'sample' and 'time' are those of
** profile_function, profile_class, ... in profile.h. They are called inside allocations and
** collections, under the rules of luaN_Sampler.
*/
typedef struct TrackerClient {
  void (*function) (void *ud, uint64_t id, const char *name, int linedefined,
                    const char *source);
  void (*class) (void *ud, uint32_t id, const char *name);
  /* Called before a sample of 'count' periods is taken. Returns 1 if there is space for it; 0 if
     there is none, and the sample is lost; a negative number if the client wants no more samples.
     NULL means always 1. */
  int (*room) (void *ud, uint64_t count);
  void (*sample) (void *ud, const ProfileSample *s, size_t shared,
                  const ProfileFrame *frames, size_t n);
  /* Reports a time sample (timing.h). NULL if the client requests no safepoints. */
  void (*time) (void *ud, const ProfileTime *s, size_t shared,
                const ProfileFrame *frames, size_t n);
  /* Reports a collection, the outcomes f that it decided (whether samples survived), and the deaths
     d that it found among survivors of this and earlier collections. If 'follows' is 1, the
     survivors in f were already added to Tracker.followed, and some may be in d. f->survived is 2
     for a survivor whose death will not be reported because that list is full. */
  void (*collection) (void *ud, const ProfileCollection *c,
                      const PendingFates *f, const FollowedDeaths *d);
  void (*point) (void *ud, lua_State *L);  /* Called at a safepoint, as in luaN_Sampler. */
  void (*closing) (void *ud, lua_State *L);  /* Called when lua_close starts. */
  int follows;		/* 1: samples that survived their first collection are kept in a list
			   (followed.h), and their deaths are reported. */
  /* Returns 1 if a sample of native memory may be reported now, inside malloc: there is space for
     the sample, the report cannot block, and this thread is not inside another report. NULL: the
     client takes no samples of native memory. */
  int (*ready) (void *ud);
  /* Reports the holders of the followed samples (the paths of references that keep them alive,
     holders.h), in the order of Tracker.followed. NULL: holders are never searched. */
  void (*holders) (void *ud, Holders *h);
  /* Called after a collection, except one that tracker_off or tracker_end runs. Must not allocate
     from the state. May call luaN_walk, and those functions of tracker.h that do not run a
     collection. NULL: not called. */
  void (*safe) (void *ud, lua_State *L);
  /* Called before the core raises a memory error, as in luaN_Sampler. NULL: not called. */
  void (*starved) (void *ud, lua_State *L);
} TrackerClient;

#define TRACKER_WATCHLOG	16	/* log2 of the number of bits of 'watching' */

typedef struct Tracker {
  luaN_Sampler seam;		/* Callbacks registered with the core; their 'ud' is the Tracker. */
  lua_State *L;			/* Main thread of the state. */
  const TrackerClient *client;	/* Receiver of the samples; NULL: none. */
  void *ud;			/* Argument 'ud' of the callbacks of 'client'. */
  int native;			/* 1: samples have C stacks. */
  Interval interval;		/* Random distances between allocation samples, in bytes. */
  int seeded;			/* 1: the random generators of 'interval' and 'copyinterval' have
				   their seed. */
  int on;			/* 1: allocations are sampled. */
  int idle;			/* 1: no samples are taken, and of the client's callbacks only
				   'safe' and 'closing' are called. */
  int points;			/* 1: the client's callback 'point' is called at safepoints, to
				   complete time samples. */
  uint64_t mallocs;		/* Sampling period of native memory in bytes (mallocs.h); 0:
				   not sampled. */
  int copying;			/* 1: copied bytes are sampled while 'on' is 1 (trackcopies.h). */
  Interval copyinterval;	/* Distances between samples of copied bytes, in bytes that growing
				   blocks move. */
  int busy;			/* Nesting depth of the running functions of the tracker. While it
				   is above 0, samples of native memory are lost (A7). */
  uint64_t deaths;		/* Result of mallocs_deaths at the last check for dead native
				   blocks. */
  size_t reaping;		/* Number of samples in 'pending' (their survival is not decided) at
				   which tracknative.c next releases the slots of freed native
				   blocks. */
  uint64_t checked;		/* Time of the last check in which a minor or major collection
				   searched for deaths of earlier survivors, ns. */
  uint64_t number;		/* Number of the state in a shared profile, set by the client. */
  Account account;		/* Bytes allocated while 'on' was 1, since the client was added. */
  /* Numbers of sampling periods of the allocation samples ('samples') and of the samples of native
     memory ('natives') since the client was added or tracker_again was called. */
  uint64_t samples, natives;
  uint64_t nanoseconds;		/* Time that the tracker has taken since the client was added, in
				   ns. */
  uint64_t lost;		/* Number of periods lost since the client was added, or since
				   tracker_again; atomic (tracker_lost). */
  unsigned ntimed;		/* Number of samples taken so far; tracker_timed measures how long
				   some of them take. */
  uint64_t unfollowed;		/* Number of samples that survived a collection, but whose deaths
				   are not reported because the list 'followed' was full. Counted
				   from the same time on as 'lost'; atomic. */
  /* Fields of luaN_Memory (counts of collections; bytes) at the last collection that was reported,
     or skipped by trackoutcomes_skip. */
  uint64_t minors, majors, tenured, planned, charged;
  uint64_t rss, measured;	/* 'rss': resident bytes of the process. 'measured': time, in ns,
				   of the last record that measured them; 0: the next record
				   measures them. */
  uint64_t heldthen;		/* Bytes that the heap had reserved when 'rss' was last read from
				   the system. */
  Pending pending;
  Followed followed;
  uint64_t *watching;		/* Bit set with two bits for each watched block, selected by hashing
				   its address (A6 of trackwatch.h). Has 2^TRACKER_WATCHLOG bits;
				   NULL: not allocated. */
  unsigned watchlog;		/* log2 of the number of bits of 'watching' in use. */
  size_t nwatching;		/* Number of blocks whose bits were set since 'watching' was last
				   cleared. */
  Stack stack;
  BirthFunctions functions;	/* Functions reported to the client. */
  Classes classes;
  int deciding;			/* 1: a collection has decided the survival of samples, or has a
				   record, and was not yet reported. */
  uint64_t since;		/* Start of the collection to which 'deciding' refers,
			   CLOCK_MONOTONIC, ns. */
  uint64_t sinceprocessor;	/* CPU time of the thread at 'since', ns. */
  /* 'reported': CPU time of the thread, in ns, when the program resumed after the last recorded
     collection, or when the tracker was registered. 'reportedon': an address that only this thread
     has. */
  uint64_t reported;
  const void *reportedon;
  uint64_t stopped;	/* CPU time of the thread at the start of the end of the session
				   (tracker_stop), ns; 0: the session is not ending. */
  uint64_t slices;	/* Number of slices of major collections (luaN_Memory.slices) at the last
			   record of a collection. */
  /* 'pauses': luaN_Memory.pauses when leftpauses or trackoutcomes_skip last ran. 'reportedpauses':
     total ns of the pauses that were reported after that. */
  uint64_t pauses, reportedpauses;
  uint64_t sincelooked[LOOKED_COUNT];  /* Counters of the collector's work (luaN_Memory) at the time
				          'since'. */
  ProfileCollection collection;	/* The record of the running collection, or of the last reported
				   one. */
  PendingFates fates;		/* Which samples survived, as decided by the collection of the
			   record 'collection'. */
  FollowedDeaths dead;	/* Deaths of samples in 'followed' that the collection of the record
			   'collection' found. */
  int ending;			/* 1: sampling is being switched off, and the running collection
				   decides which of the last sampled blocks survive. */
  uint64_t holdersevery;	/* Interval in ns between searches for the objects that keep samples
				   alive; 0: no search is made because of the time. */
  uint64_t holdersdue;		/* Time of the next search for the objects that keep samples alive,
			   CLOCK_MONOTONIC, ns. */
  size_t holdersgrown;		/* Number of live samples in 'followed' at which a search for the
				   objects that keep them alive is due (TH1 of trackholders.h);
				   SIZE_MAX: never. */
  uint64_t holderssince;	/* Start of the session, CLOCK_MONOTONIC, ns. */
  HoldersSearch search;		/* Search, in a child process, for the objects that keep samples
			   alive (holders.h). */
} Tracker;

/*
** Returns the number of periods lost since the client was added. Thread-safe; only the state's
** thread changes the number.
*/
static inline uint64_t tracker_lost (const Tracker *t) {
  return __atomic_load_n(&t->lost, __ATOMIC_RELAXED);
}

/* Returns the number of survivors, since the client was added, that did not fit into the list of
   followed samples, so that their deaths are not reported. Thread-safe. */
static inline uint64_t tracker_unfollowed (const Tracker *t) {
  return __atomic_load_n(&t->unfollowed, __ATOMIC_RELAXED);
}

/* Sets the number of lost periods. Call it on the state's thread. */
static inline void tracker_setlost (Tracker *t, uint64_t n) {
  __atomic_store_n(&t->lost, n, __ATOMIC_RELAXED);
}

/* Adds n to the number of lost periods. Call it on the state's thread. */
static inline void tracker_lose (Tracker *t, uint64_t n) {
  tracker_setlost(t, tracker_lost(t) + n);
}

#define TRACKER_FIRSTTIMED	64	/* the durations of this many first samples are all
					   measured */
#define TRACKER_TIMEDPART	16	/* after the first samples, the duration of one in 16 is
					   measured, because reading the clock twice takes a tenth
					   of a sample's time */

/* Called at the end of a sample that started at 'start' (ns). If its duration is to be measured,
   adds to 'nanoseconds' the duration times the number of samples that it represents. */
static inline void tracker_timed (Tracker *t, uint64_t start) {
  unsigned share = (t->ntimed < TRACKER_FIRSTTIMED) ? 1 : TRACKER_TIMEDPART;
  if (t->ntimed++ % share == 0) t->nanoseconds += share * clock_since(start);
}

#endif
