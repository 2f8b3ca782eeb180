/* SPDX-License-Identifier: MIT */
/*
** Samplers: one for each sampled Lua state. A session is the time during which a profile
** (profile.h) is open; sampling may be switched on and off in it. A sampler has its own session
** (samplersession.c), or its state shares the profile of the process (samplershared.h, process.h).
** The sampler's tracker (tracker.h) takes the samples. All memory is from malloc and never sampled,
** except the userdata of sampler_of.
**
**   SS1  one lock protects the list of samplers, and the fields 'profile', 'path' and 'file' of
**        each sampler. The thread that runs a sampler's state reads these fields without the lock;
**   SS2  no two sessions of the process write the same file (PL4 of place.h);
**   SS3  only the thread that runs a state, or a forked child, frees the state's session. If
**        another thread calls exit(), the file ends, nothing is freed, and later samples are lost;
**   SS4  a state is attached to a shared profile when it is made, and leaves it when it is closed.
**        Samplers of closed states are reused.
*/
#ifndef asamp_sampler_h
#define asamp_sampler_h

#include "lua.h"

#include "profile.h"
#include "seen.h"
#include "timer.h"

typedef struct Sampler Sampler;

/* Options of a session. */
typedef struct SamplerOptions {
  /* Open descriptor of the folder of 'out', for a program that cannot open the folder by its path
     any more; 0: none. */
  int folder;
  const char *out;	/* path of the profile */
  /* 'number', 'made' and 'replace' choose the file's name, as in PlaceWish (place.h). */
  unsigned number;
  int made;
  int replace;
  const char *command;	/* command line for display, or NULL */
  int format;		/* PROFILE_STOCK or PROFILE_EXTENDED */
  int compress, native, random;
  uint64_t seed;	/* seed of the intervals between samples, if 'seeded' is 1 */
  int seeded;
  uint64_t timeperiod;	/* period of time samples at the start of the session, ns; 0: none */
  int wall;
  uint64_t mallocs;	/* bytes between two samples of native memory; 0: none */
  int copies;		/* 1: takes copy samples, of bytes that are copied into a new string, or
                           moved because a table or buffer grew */
  /* 1: records the references that keep sampled objects alive (holders.h): at the end of the
     session, and each time the number of live samples has doubled. */
  int holders;
  /* Ns between two searches for the references that keep sampled objects alive; 0: the search is
     not repeated. */
  uint64_t holdersevery;
  RingLimits ring;	/* most != 0: the session is a flight recorder */
  int summary;		/* 1: prints a summary to stderr at the end of the session; 2: prints the
                           summary only if there are samples */
  /* Called before the end of a session that has its own profile, while the tracker still has the
     live samples. NULL: not called. */
  void (*ending) (Sampler *s, lua_State *L);
  uint64_t rate;	/* limit of the allocation samples per second, for each state; 0: none */
} SamplerOptions;

/* Sums over all states that use, or have used, the shared profile (one file for all states).
   states       number of these states
   samples      samples of allocations, including native memory, in sampling periods
   timesamples  samples of time, in sampling periods
   bytes        allocated bytes
   lost         lost samples, in sampling periods
   natives      samples of native memory, in sampling periods */
typedef struct SharedTotals {
  uint64_t states, samples, timesamples, bytes, lost, natives;
  /* Number of survivors whose deaths are not reported, because the list of survivors is full. */
  uint64_t unfollowed;
  EventTally missing;	/* how many of 'samples', 'timesamples' and 'natives' were not written to
                           a file */
} SharedTotals;

/* The sampling rates. */
typedef struct SamplerRate {
  int alloc;		/* 1: samples allocations */
  uint64_t period;	/* bytes between allocation samples */
  uint64_t timens;	/* ns between time samples; 0: none */
  uint64_t most;	/* limit of the allocation samples per second, for each state; 0: none */
} SamplerRate;

/* Data of the states that share a profile. Constant, except the rates, which are atomic. */
typedef struct SamplerShared {
  SamplerOptions options;
  SamplerRate rates;
  TimerClock clock;
  /* Returns the profile of this process, or NULL. If 'open' is 1, makes the profile if needed. */
  Profile *(*profile) (int open);
  /* Returns 1 if no state may take samples: none are requested, or the file could not be made. */
  int (*isidle) (void);
  /* Drops the parent's profile in a forked child. Returns the number of threads that the profiler
     will start in the child. */
  unsigned (*forked) (void);
  /* Called after each collection of a state and, in a forked child, after the first sample. */
  void (*runs) (void);
  /* Called at exit, with the totals of the profile and the sums over its states. */
  void (*ended) (const ProfileTotals *t, const SharedTotals *sum);
} SamplerShared;

/* The numbers of a session (profiler.stats). */
typedef struct SamplerStats {
  int open, on;
  uint64_t period;
  /* 'samples': number of sampling periods that the allocation samples represent; 'bytes': bytes
     allocated while sampling was on. */
  uint64_t samples, bytes;
  uint64_t natives;		/* number of sampling periods that the samples of native memory
                                   represent */
  uint64_t lost;
  /* Number of survivors whose deaths are not reported, because the list of survivors is full. */
  uint64_t unfollowed;
  int timing;			/* 1: time is sampled */
  uint64_t timesamples;		/* number of sampling periods that the time samples represent */
  uint64_t minors, majors;	/* numbers of collections since the state was made */
  uint64_t nanoseconds;		/* time that the program's thread has spent in the sampler, ns */
  /* Path of the file of the open session, or else of the last session. In a shared profile: path of
     the profile to which the state reports. NULL: none. */
  const char *file;
  int error;			/* errno of the file's failed write; 0: none */
} SamplerStats;

/* Returns the sampler of the state; makes it if needed. Returns NULL if L has none and is being
   closed, or if malloc fails. If Lua's allocator fails, raises a Lua error. */
Sampler *sampler_of (lua_State *L);

/* Like sampler_of, but returns NULL if L is being closed, even if L has a sampler. */
Sampler *sampler_tostart (lua_State *L);

/* Attaches a new state to a shared profile. Runs no Lua code and raises no error. Returns 0 on
   failure. */
int sampler_attach (lua_State *L, const SamplerShared *with);
/* Returns the sampler of an attached state, or NULL. */
Sampler *sampler_attached (lua_State *L);
/* Number of bins in a histogram of pauses. Bin k counts pauses from 8 << k to 16 << k us. The first
   bin also counts shorter pauses, the last bin longer ones. */
enum { SAMPLER_PAUSES = 18 };

/* Sums over heaps, of the last published numbers (seen.h) of each state. In a forked child, the
   numbers "so far" start at 0 at the fork, also for states that the child has inherited. */
typedef struct SharedHeaps {
  uint64_t open;			/* number of open states */
  uint64_t sums[SEENS];			/* sums[i]: sum of SeenNamed.sums[i] over all names of
                                           states */
  uint64_t longest;			/* longest pause of all states so far, ns */
  uint64_t bins[SAMPLER_PAUSES];	/* histogram of the pauses of all states so far */
} SharedHeaps;

/* Stores in *t and *h sums over all states that share a profile. Thread-safe. */
void sampler_shared (SharedTotals *t, SharedHeaps *h);
/* Returns the number of marks that report a thread whose time is not sampled. Stores the reason in
   the first of these marks in 'why'. Thread-safe. */
uint64_t sampler_untimed (char why[256]);
/* Stores in rows[i] the sums over the states whose name has the number i; rows of unused numbers
   are 0. Returns the number of rows, SEEN_NAMES. */
unsigned sampler_named (SeenNamed rows[SEEN_NAMES]);

/* A request that another thread sends to one state, or to the first state that collects. That state
   calls f once, at the end of its next collection, where the heap may be walked. If the request is
   for one state and this state is closed before that, f is called with L NULL. */
typedef struct SamplerRequest {
  void (*f) (struct SamplerRequest *request, lua_State *L);
} SamplerRequest;

/* Sends a request to the attached state 'id' or, if 'id' is UINT64_MAX, to the first state that
   collects. Returns 1; 0: there is no state 'id'; negative: another request is pending. */
int sampler_request (uint64_t id, SamplerRequest *request);
/* Withdraws a request. Returns 0 if its function f is running or was called. */
int sampler_withdraw (SamplerRequest *request);

typedef struct SamplerRow {
  uint64_t number, inuse;	/* number of the state, and bytes of its heap in use */
  uint64_t collections;
  const char *name;
} SamplerRow;

/* Stores up to 'most' attached states, most collections first. Returns their number. */
unsigned sampler_states (SamplerRow *rows, unsigned most);

/* If the session is a flight recorder, writes its content to the file 'to'; NULL: to its next file.
   Otherwise 'to' must be NULL; writes all events reported so far to the session's file. Stores the
   file's path in 'path'. Returns 0 with the reason in 'err' on failure. */
int sampler_dump (Sampler *s, const char *to, char *path, size_t pathsize, char *err,
                  size_t errsize);

/* Adds a mark that belongs to no particular state. Returns 0 if no state is attached. */
int sampler_markshared (Profile *p, const char *name, const char *value);

/* Ends a shared profile that was replaced. States move to the new profile at their next sample,
   mark or collection. The caller frees 'p' when no state uses 'p' (sampler_usesshared). Returns
   the errno with which writing has failed, or 0. */
int sampler_endshared (Profile *p);
/* Returns 1 if a Lua state still reports to the profile 'p'. */
int sampler_usesshared (const Profile *p);

/* Opens a profile for many states. 'period': bytes between allocation samples. Returns NULL with
   the reason in 'err' on failure. */
Profile *sampler_openshared (const SamplerOptions *o, uint64_t period, char *err,
                             size_t errsize);
/* Prints the closing line of a session, with the numbers of samples in its files. 'timed' 1: time
   was sampled. 'skips' 1: prints nothing if the files have no samples. */
void sampler_summary (const SharedTotals *t, uint64_t period, int random, int timed,
                      int skips, const char *path);
/* If 'error' is not 0, prints the message of this errno and the number of lost samples. Else, if
   'summary' is not 0 and samples were lost, prints their number with possible causes. 'timed' is 1
   if time was sampled. */
void sampler_loss (int error, uint64_t lost, int summary, int timed, const char *path);

/* Bytes allocated with a label set. */
typedef struct SamplerSet {
  uint32_t set;
  uint64_t bytes;
} SamplerSet;

/* Returns the largest number of rows that sampler_sets stores. */
uint32_t sampler_setcount (const Sampler *s);
/* Stores in 'rows' the bytes that the session has allocated with each label set, and in *n the
   number of rows. Omits sets of 0 bytes. Returns the session's bytes (SamplerStats.bytes). */
uint64_t sampler_sets (Sampler *s, lua_State *L, SamplerSet *rows, uint32_t *n);
/* Stores in at most 'most' rows the bytes by label set, summed over all states that use, or have
   used, the shared profile. Omits sets of 0 bytes. Returns the number of rows. Thread-safe. */
uint32_t sampler_sharedsets (SamplerSet *rows, uint32_t most);

/* Returns the tracker. If no session is open, the tracker's field 'client' is NULL. */
struct Tracker *sampler_tracker (Sampler *s);

/* Returns an unpredictable seed. */
uint64_t sampler_seed (void);

/* Opens a session. Samples of allocations and of time are off until sampler_on and sampler_timeon.
   'period': bytes between allocation samples. Returns 0 with a line in 'err' on failure. */
int sampler_open (Sampler *s, const SamplerOptions *o, uint64_t period,
                  char *err, size_t errsize);

/* Switches allocation samples on. Call it only in a session in which they are off. 'period': bytes
   between two samples; the mean of these distances if 'random' is 1. */
void sampler_on (Sampler *s, lua_State *L, uint64_t period, int random);

/* Switches allocation samples off. If the survival or death of a sample, a collection, or CPU time
   of the program is not reported yet, first runs a minor collection, which reports it. Returns 0 if
   allocation samples were off. */
int sampler_off (Sampler *s, lua_State *L);

/* Starts to sample the calling OS thread every 'ns' nanoseconds. Call it only in a session in which
   time is not sampled. While another thread runs the state, time samples are counted as lost.
   Returns 0 with the reason in 'err' on failure. */
int sampler_timeon (Sampler *s, lua_State *L, uint64_t ns, TimerClock clock,
                    char *err, size_t errsize);

/* Switches time sampling off. Returns 0 if time sampling was off. */
int sampler_timeoff (Sampler *s, lua_State *L);

/* Changes the period of allocation samples to 'period' bytes. A session must be open. */
void sampler_period (Sampler *s, lua_State *L, uint64_t period);

/* Ends the session, if one is open. Returns 0, or the errno of the file's first failure. */
int sampler_close (Sampler *s, lua_State *L);

/* Searches for the references that keep sampled objects alive, and emits them. Returns the number
   of live samples; 0 also on failure. */
size_t sampler_holders (Sampler *s, lua_State *L);

/* Adds a mark (profile_mark). Returns 0 if no session is open or its profile has failed. */
int sampler_mark (Sampler *s, const char *name, size_t namelen,
                  const char *value, size_t valuelen);

void sampler_stats (Sampler *s, lua_State *L, SamplerStats *stats);

/* Returns the bytes to be allocated until the next allocation sample; UINT64_MAX: sampling is
   off. */
uint64_t sampler_distance (const Sampler *s, lua_State *L);

#endif
