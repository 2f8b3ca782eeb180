/* SPDX-License-Identifier: MIT */
/*
** The sampler of one state: a tracker (tracker.h) whose client is a profile
** (profile.h), or another program's (asamp.h), one at a time.
**
** A session is an open profile. Within it sampling goes on and off as often as
** the program likes; the file ends with the session. All memory here comes
** from malloc and is never sampled. At exit outside Lua, samples without a
** fate are counted in the file.
**
** States may run on OS threads of their own:
**   SS1 the list of all samplers, and of each its 'profile', 'path' and 'file',
**       change under one lock of the process only: sessions open and end one
**       after the other. A sampler's own thread reads its own without it;
**   SS2 no two sessions of the process write one file, by whatever path: PL4 of
**       place.h, also where there are no locks;
**   SS3 a session is freed by the thread that runs its state, or in the child of a fork,
**       which has no other thread. When another thread calls exit(), that ends the
**       session's file, but frees nothing; what is sampled after that is lost;
**   SS4 states may share a profile, that of their process (process.h): they are
**       attached when they are made, without a trace in the state itself, and leave
**       when they are closed. Their samplers are used again.
*/
#ifndef asamp_sampler_h
#define asamp_sampler_h

#include "lua.h"

#include "profile.h"
#include "seen.h"
#include "timer.h"

typedef struct Sampler Sampler;

typedef struct SamplerOptions {
  int folder;		/* 0, or the descriptor of the folder of 'out' */
  const char *out;	/* path of the profile, which place.h makes a file of, ... */
  unsigned number;	/* ... with these */
  int made;
  int replace;
  const char *command;	/* what runs, for people; may be NULL */
  int format;		/* PROFILE_STOCK, PROFILE_EXTENDED */
  int compress, native, random;
  uint64_t seed;	/* of the intervals, when 'seeded' */
  int seeded;
  uint64_t timeperiod;	/* of the time samples that the session begins with, ns;
			   0: none */
  int wall;
  uint64_t mallocs;	/* period of native memory's samples (mallocs.h); 0: none */
  int copies;		/* 1: what is copied is sampled (tracker.h, A8) */
  int holders;		/* 1: who holds what is alive is told at the end */
  uint64_t holdersevery;  /* ... and every so often, ns; 0: not */
  RingLimits ring;	/* 'most' not 0: a flight recorder */
  int summary;		/* 1: one line on stderr when the session ends */
  uint64_t rate;	/* most samples of allocation a second that a state takes, on average
			   (samplers_restrain); 0: no bound */
} SamplerOptions;

/* Sums over the states that share a profile. */
typedef struct SharedTotals {
  uint64_t states, samples, timesamples, bytes, lost, natives;
  uint64_t unfollowed;		/* survived, but their deaths are not reported */
} SharedTotals;

/* What is sampled at present. */
typedef struct SamplerRate {
  int alloc;		/* allocations are */
  uint64_t period;	/* bytes */
  uint64_t timens;	/* 0: time is not */
  uint64_t most;	/* samples of allocation a second, as the option 'rate'; 0: no bound */
} SamplerRate;

/* What they share; stays as it is, but for the rates (atomic, one by one). */
typedef struct SamplerShared {
  SamplerOptions options;
  SamplerRate rates;
  TimerClock clock;
  /* The profile of this process; NULL: there is none. 'open': it is made if there is
     none yet. */
  Profile *(*profile) (int open);
  const char *(*path) (void);
  int (*isidle) (void);  /* none is wanted at present */
  /* This is the child: the profile was the parent's. Returns how many threads the child will
     need if it runs its states. */
  unsigned (*forked) (void);
  void (*runs) (void);  /* a state has collected */
  void (*ended) (const ProfileTotals *t, const SharedTotals *sum);  /* at exit */
} SamplerShared;

typedef struct SamplerStats {
  int open, on;
  uint64_t period;
  uint64_t samples, bytes;	/* in the session; bytes allocated while on */
  uint64_t natives;		/* of native memory */
  uint64_t lost;
  uint64_t unfollowed;		/* survived, but their deaths are not reported */
  int timing;			/* time is sampled */
  uint64_t timesamples;		/* in the session */
  uint64_t minors, majors;	/* collections of the state, since it began */
  uint64_t nanoseconds;		/* spent in the sampler, on the program's thread */
  const char *file;		/* of the session, or of the last one; or NULL */
  int error;			/* errno of why the file takes no more, or 0 */
} SamplerStats;

/* The sampler of the state, made at the first call. NULL: no memory, or L is being
   closed. */
Sampler *sampler_of (lua_State *L);

/* The same for who begins something: NULL whenever L is being closed. */
Sampler *sampler_tobegin (lua_State *L);

/* A new state, with nobody's sampler, shares that profile from here on. 0: it cannot.
   Runs no Lua, allocates nothing from the state and raises nothing. */
int sampler_attach (lua_State *L, const SamplerShared *with);
/* The sampler of a state that shares one; NULL: it does not. */
Sampler *sampler_attached (lua_State *L);
/* Pauses of a process's collections: bin k has those of less than 16 << k us that the bins
   before have not, the last one all others. */
enum { SAMPLER_PAUSES = 18 };

/* The heaps of those that are, as they were at their last sample or collection. */
typedef struct SharedHeaps {
  uint64_t open;			/* states */
  uint64_t inuse, held, tenured;	/* bytes */
  uint64_t minors, majors;		/* collections */
  uint64_t pauses, longest;		/* ns */
  uint64_t bins[SAMPLER_PAUSES];	/* of all states that there were */
} SharedHeaps;

/* Of all of them, so far; from any thread. */
void sampler_shared (SharedTotals *t, SharedHeaps *h);
/* How many threads have had no samples of time although these were to be taken, so far, and
   why the first had none; from any thread. */
uint64_t sampler_untimed (char why[256]);
/* The same by what states are called; how many rows there are. Some may be of no state. */
unsigned sampler_named (SeenNamed rows[SEEN_NAMES]);

/*
** What another thread wants of a state's own: f is called once, at the end of the state's
** next collection, where a walk over its heap may be done; or with L NULL, when the state
** is closed before.
*/
typedef struct SamplerAsked {
  void (*f) (struct SamplerAsked *asked, lua_State *L);
} SamplerAsked;

/* Sends the request to the state of that number; UINT64_MAX: the first that collects. 0: there is none; below
   0: another request has the place. */
int sampler_ask (uint64_t id, SamplerAsked *asked);
/* Takes a request back. 0: it is being done, or was. */
int sampler_unask (SamplerAsked *asked);

typedef struct SamplerRow {
  uint64_t number, inuse;	/* bytes */
  uint64_t collections;
  const char *name;
} SamplerRow;

/* Up to 'most' states, those with the most collections first. Returns how many. */
unsigned sampler_states (SamplerRow *rows, unsigned most);

/* As profile_dump, of the session. 0: 'err' says why not. */
int sampler_dump (Sampler *s, const char *to, char *path, size_t pathsize, char *err,
                  size_t errsize);

/* A marker of no state in particular. 0: the profile has no state. */
int sampler_markshared (Profile *p, const char *name, const char *value);

/* Ends a profile that the process has no more; a state may be telling it something still,
   which is lost. Then it is to be freed by profile_close, when no state uses it. What it has
   lost is told, if its file has taken no more, and counts among what the process has. */
void sampler_endshared (Profile *p);
int sampler_usesshared (const Profile *p);

/* The file of 'o', for many states. As profile_open. */
Profile *sampler_openshared (const SamplerOptions *o, uint64_t period, char *err,
                             size_t errsize);
/* The lines that a session ends with. 'timed': it was to sample time. */
void sampler_summary (const SharedTotals *t, uint64_t period, int random, int timed,
                      const char *path);
void sampler_loss (int error, uint64_t lost, int summary, const char *path);

/* The state's tracker; its client is NULL when there is no session. */
struct Tracker *sampler_tracker (Sampler *s);

/* A seed that nobody knows. */
uint64_t sampler_seed (void);

/* Opens a session. 0: it could not be; 'err' says why in one line. */
int sampler_open (Sampler *s, const SamplerOptions *o, uint64_t period,
                  char *err, size_t errsize);

/* Needs a session; sampling must be off. */
void sampler_on (Sampler *s, lua_State *L, uint64_t period, int random);

/*
** Sampling off. Runs the collection that decides the last fates (finalizers
** wait for the next one). Returns 0 when it was off already.
*/
int sampler_off (Sampler *s, lua_State *L);

/*
** Samples the time of the calling OS thread, every 'ns' nanoseconds of the
** clock. Needs a session; time sampling must be off. What passes while the state
** runs on another OS thread is lost (TI4). 0: it could not be; 'err' says why.
*/
int sampler_timeon (Sampler *s, lua_State *L, uint64_t ns, TimerClock clock,
                    char *err, size_t errsize);

/* Returns 0 when it was off already. */
int sampler_timeoff (Sampler *s, lua_State *L);

/* Changes the period, also while on (interval_change). Needs a session. */
void sampler_period (Sampler *s, lua_State *L, uint64_t period);

/*
** Ends the session: sampling off, file closed. Returns 0, or the error of the
** first write that failed (an errno).
*/
int sampler_close (Sampler *s, lua_State *L);

/* Tells the profile who holds the samples that are alive; returns how many are. A walk
   over all that can be reached. */
size_t sampler_holders (Sampler *s, lua_State *L);

/* A marker in the profile. 0: there is no session. */
int sampler_mark (Sampler *s, const char *name, size_t namelen,
                  const char *value, size_t valuelen);

void sampler_stats (Sampler *s, lua_State *L, SamplerStats *stats);

/* Bytes to the next sample, UINT64_MAX when off. */
uint64_t sampler_distance (const Sampler *s, lua_State *L);

#endif
