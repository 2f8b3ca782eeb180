/* SPDX-License-Identifier: MIT */
/*
** This folder has three concepts. The name of a file starts with the concept to which it belongs.
** All other files here are parts that two of them use.
**
**   profile  the stream of events that goes into one file, with its writer thread; independent of
**            Lua. profile.h; profileopen.c (start, dump, end), profileevents.c (program's side),
**            profilequeue.h, profilewriter.h (writer's side).
**   sampler  one for each state. It takes samples while a session is open, and passes them to a
**            profile. sampler.h; samplersession.c (a session with a profile of its own),
**            samplershared.h (states of one profile), samplerlist.h (all samplers; exit, fork).
**   process  the profile that all states of a process share, made from ASAMP. These files decide
**            when it is made, switched and ended. process.h.
**
** The sampler of one state is a tracker (tracker.h) whose client is a profile (profile.h) or a
** program (asamp.h), one at a time.
**
** A session is an open profile. In a session the program switches sampling on and off as often as
** it likes; the file ends with the session. All memory here comes from malloc and is never sampled,
** except the userdata of sampler_of. If exit() is called outside Lua, no collection decides whether
** the last samples survive; the file counts them as undecided.
**
** States may run on OS threads of their own:
**   SS1  one lock of the process protects the list of all samplers, and the fields 'profile',
**        'path' and 'file' of each. So sessions open and end one after the other. A sampler's own
**        thread reads these fields without the lock;
**   SS2  no two sessions of the process write the same file, whatever paths they use (PL4 of
**        place.h). This holds also on file systems without locks;
**   SS3  a session is freed only by the thread that runs its state, or in the child of a fork,
**        which has no other thread. If another thread calls exit(), the session's file ends but
**        nothing is freed, and later samples are lost;
**   SS4  states may share the profile of their process (process.h). A state is attached to the
**        profile when it is made, which Lua code in the state cannot notice, and leaves the profile
**        when it is closed. The samplers of closed states are reused.
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
  int folder;		/* descriptor of the folder of 'out', for callers that cannot reach it by
			   name any more; 0: none */
  const char *out;	/* path of the profile */
  unsigned number;	/* 'number', 'made' and 'replace' have the meaning of these fields of
			   PlaceWish (place.h), which selects the file */
  int made;
  int replace;
  const char *command;	/* command line, for display; may be NULL */
  int format;		/* PROFILE_STOCK or PROFILE_EXTENDED */
  int compress, native, random;
  uint64_t seed;	/* seed of the intervals, if 'seeded' is 1 */
  int seeded;
  uint64_t timeperiod;	/* period of time samples at the start of the session, ns; 0: none */
  int wall;
  uint64_t mallocs;	/* period of samples of native memory in bytes (mallocs.h); 0: none */
  int copies;		/* 1: copied bytes are sampled, too (trackcopies.h) */
  int holders;		/* 1: the objects that keep samples alive (holders.h) are recorded at the
			   end of the session, and when the number of live samples that have
			   survived a collection has doubled (TH1 of trackholders.h). In a shared
			   profile: when a state is closed */
  uint64_t holdersevery;  /* ns between searches for the objects that keep samples alive
			   (holders.h); 0: none */
  RingLimits ring;	/* limits of a flight recorder; 'most' 0: not a flight recorder */
  int summary;		/* 1: prints one line to stderr when the session ends */
  /* Called on the state's own thread before a session with its own profile ends. At that time the
     list of the state's live samples is still complete. NULL: no call. */
  void (*ending) (Sampler *s, lua_State *L);
  uint64_t rate;	/* most allocation samples per second that a state takes, on average
			   (samplerlist_restrain); 0: no bound */
} SamplerOptions;

/* Sums over all states that share a profile or shared one before. */
typedef struct SharedTotals {
  uint64_t states, samples, timesamples, bytes, lost, natives;
  uint64_t unfollowed;		/* number of survivors whose deaths are not reported */
} SharedTotals;

/* The present sampling rates. */
typedef struct SamplerRate {
  int alloc;		/* 1: allocations are sampled */
  uint64_t period;	/* bytes between allocation samples */
  uint64_t timens;	/* ns between time samples; 0: none */
  uint64_t most;	/* most allocation samples per second, like SamplerOptions.rate; 0: no
			   bound */
} SamplerRate;

/*
** The common data of the states that share a profile. They are constant, except the rates, each of
** which is atomic.
*/
typedef struct SamplerShared {
  SamplerOptions options;
  SamplerRate rates;
  TimerClock clock;
  /* Returns the profile of this process; NULL: there is none. If 'open' is 1 and there is none
     yet, makes it. */
  Profile *(*profile) (int open);
  const char *(*path) (void);
  int (*isidle) (void);  /* returns 1 if states must take no samples: nothing is to be sampled, or
			    the file could not be made and another attempt is scheduled */
  /* Called in the child of a fork: drops the parent's profile. Returns the number of threads that
     the child needs in order to run its states. */
  unsigned (*forked) (void);
  void (*runs) (void);  /* called after a collection of a state */
  void (*ended) (const ProfileTotals *t, const SharedTotals *sum);  /* called at exit, with the
								       totals of the profile */
} SamplerShared;

/* The numbers of a session (profiler.stats). */
typedef struct SamplerStats {
  int open, on;
  uint64_t period;
  uint64_t samples, bytes;	/* 'samples': number of sampling periods of the session's allocation
				   samples (a sample may represent several). 'bytes': bytes
				   allocated in the session while sampling was on */
  uint64_t natives;		/* number of sampling periods of the samples of native memory */
  uint64_t lost;
  uint64_t unfollowed;		/* number of survivors whose deaths are not reported */
  int timing;			/* 1: time is sampled */
  uint64_t timesamples;		/* number of sampling periods of the time samples in the session */
  uint64_t minors, majors;	/* collections of the state since it was made */
  uint64_t nanoseconds;		/* ns spent in the sampler, on the program's thread */
  const char *file;		/* path of the session's file, or of the last session's, or NULL */
  int error;			/* errno of the profile's first failure, or of its present stall; 0:
				   none */
} SamplerStats;

/*
** Returns the sampler of the state. The first call makes it. Returns NULL if there is not enough
** memory, or if L is being closed and has no sampler. May raise a memory error.
*/
Sampler *sampler_of (lua_State *L);

/* Like sampler_of, for callers that start sampling. Returns NULL also whenever L is being
   closed. */
Sampler *sampler_tostart (lua_State *L);

/*
** Attaches a new state, which has no sampler yet, to a shared profile. Runs no Lua code, allocates
** nothing from the state and raises no error. Returns 0 on failure.
*/
int sampler_attach (lua_State *L, const SamplerShared *with);
/* Returns the sampler of an attached state; NULL: it is not attached. */
Sampler *sampler_attached (lua_State *L);
/*
** Number of bins in a histogram of pauses. Bin k counts the pauses below 16 << k us that are not
** in an earlier bin. The last bin has no upper bound.
*/
enum { SAMPLER_PAUSES = 18 };

/* Sums over the heaps of the open states. Each state's part is from its last sample, safepoint or
   collection. */
typedef struct SharedHeaps {
  uint64_t open;			/* number of states */
  uint64_t inuse, held, tenured;	/* bytes */
  uint64_t minors, majors;		/* collections */
  uint64_t pauses, longest;		/* total and longest pause, ns */
  uint64_t bins[SAMPLER_PAUSES];	/* pauses of all states, including closed ones, by bin */
} SharedHeaps;

/* Stores the sums over all states that ever shared a profile, and over open heaps. Thread-safe. */
void sampler_shared (SharedTotals *t, SharedHeaps *h);
/*
** Returns how often the time of a thread could not be sampled. In a shared profile, a thread counts
** once. Stores the reason of the first failure in 'why'. Thread-safe.
*/
uint64_t sampler_untimed (char why[256]);
/*
** Stores totals in 'rows', one row for each name of states, and returns the number of rows. A row
** is empty if no state has received its name.
*/
unsigned sampler_named (SeenNamed rows[SEEN_NAMES]);

/*
** A request of another thread to one state, or to any state. f is called once, at the end of the
** state's next collection, where a walk over its heap is possible; or with L NULL if the state is
** closed before that (for any state: if the last attached state is closed). f is not called if the
** request is withdrawn. The child of a fork drops the request.
*/
typedef struct SamplerRequest {
  void (*f) (struct SamplerRequest *request, lua_State *L);
} SamplerRequest;

/* Sends a request to the attached state with that number or, if 'id' is UINT64_MAX, to the first
   state that collects. Returns 1; 0 if there is no such state; a negative number if another request
   is pending. */
int sampler_request (uint64_t id, SamplerRequest *request);
/* Withdraws a request of sampler_request. Returns 0 if that is too late, because f is running or
   was called. */
int sampler_withdraw (SamplerRequest *request);

typedef struct SamplerRow {
  uint64_t number, inuse;	/* number of the state; bytes in use in its heap */
  uint64_t collections;
  const char *name;
} SamplerRow;

/* Stores up to 'most' attached states, most collections first, in 'rows'. Returns their number. */
unsigned sampler_states (SamplerRow *rows, unsigned most);

/* Calls profile_dump for the session's profile. Returns 0 with the reason in 'err' on failure. */
int sampler_dump (Sampler *s, const char *to, char *path, size_t pathsize, char *err,
                  size_t errsize);

/* Adds a marker that belongs to no particular state. Returns 0 if no state is attached. */
int sampler_markshared (Profile *p, const char *name, const char *value);

/*
** Ends a profile that the process has replaced. Later events of a state are lost until it moves to
** the current profile. When no state uses the ended profile any more (sampler_usesshared), the
** caller must free it with profile_close. Adds its losses to those of the process, and reports them
** to the user if a write failed.
*/
void sampler_endshared (Profile *p);
/* Returns 1 if a state uses this profile. */
int sampler_usesshared (const Profile *p);

/* Opens a profile for many states, like profile_open. *o names the file and has the options. */
Profile *sampler_openshared (const SamplerOptions *o, uint64_t period, char *err,
                             size_t errsize);
/* Prints the closing line of a session. 'timed': 1 if time sampling was on. */
void sampler_summary (const SharedTotals *t, uint64_t period, int random, int timed,
                      const char *path);
/* Prints the number of lost samples if a write failed, or if samples were lost and 'summary' is
   1. */
void sampler_loss (int error, uint64_t lost, int summary, const char *path);

/* Bytes allocated with a set of labels (labels.h). */
typedef struct SamplerSet {
  uint32_t set;
  uint64_t bytes;
} SamplerSet;

/* Returns an upper bound of the number of rows that sampler_sets stores. */
uint32_t sampler_setcount (const Sampler *s);
/*
** Stores the session's allocated bytes by label set in 'rows', one row for each set whose bytes
** are not 0, and their number in *n. Returns the total, which is SamplerStats.bytes.
*/
uint64_t sampler_sets (Sampler *s, lua_State *L, SamplerSet *rows, uint32_t *n);
/*
** Stores the bytes by label set, summed over all states that share a profile or did so, in at most
** 'most' rows. Returns the number of rows stored. Thread-safe.
*/
uint32_t sampler_sharedsets (SamplerSet *rows, uint32_t most);

/* Returns the state's tracker; its client is NULL if there is no session. */
struct Tracker *sampler_tracker (Sampler *s);

/* Returns an unpredictable seed; the time if the system has no random bytes. */
uint64_t sampler_seed (void);

/* Opens a session. Returns 0 with one line in 'err' on failure. */
int sampler_open (Sampler *s, const SamplerOptions *o, uint64_t period,
                  char *err, size_t errsize);

/* Switches sampling on. There must be a session, and sampling must be off. */
void sampler_on (Sampler *s, lua_State *L, uint64_t period, int random);

/*
** Switches sampling off. If the survival of samples is not decided, or deaths or collections are
** not reported yet, runs a collection that does so (finalizers run later). Returns 0 if sampling
** was off or there is no session.
*/
int sampler_off (Sampler *s, lua_State *L);

/* Starts to sample the time of the calling OS thread, every 'ns' nanoseconds of the clock. There
   must be a session without time sampling. Time while the state runs on another OS thread is
   counted as lost. Returns 0 with the reason in 'err' on failure. */
int sampler_timeon (Sampler *s, lua_State *L, uint64_t ns, TimerClock clock,
                    char *err, size_t errsize);

/* Switches time sampling off. Returns 0 if it was off. */
int sampler_timeoff (Sampler *s, lua_State *L);

/* Changes the period of allocation samples, also while sampling is on (interval_change). There
   must be a session. */
void sampler_period (Sampler *s, lua_State *L, uint64_t period);

/*
** Ends the session, if there is one: switches sampling off and closes the file. Returns 0, or the
** errno of the file's first failure.
*/
int sampler_close (Sampler *s, lua_State *L);

/*
** Searches for the holders of the followed samples (the references that keep the sampled objects
** alive), by a walk over all reachable objects, and emits them to the profile. Returns the number
** of these samples; 0 also if there is no session or not enough memory.
*/
size_t sampler_holders (Sampler *s, lua_State *L);

/* Adds a marker to the profile. Returns 0 if there is no session, or its profile has failed. */
int sampler_mark (Sampler *s, const char *name, size_t namelen,
                  const char *value, size_t valuelen);

void sampler_stats (Sampler *s, lua_State *L, SamplerStats *stats);

/* Returns the number of bytes to the next sample point; UINT64_MAX if sampling is off. */
uint64_t sampler_distance (const Sampler *s, lua_State *L);

#endif
