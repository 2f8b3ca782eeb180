/* SPDX-License-Identifier: MIT */
/* The list of all samplers (sampler.h), their common operations, exit and fork. */
#ifndef asamp_samplerlist_h
#define asamp_samplerlist_h

#include "heldpaths.h"
#include "resident.h"
#include "sampler.h"
#include "timing.h"
#include "tracker.h"

#include <sys/stat.h>
#include <sys/types.h>

/* The sampler of one state. */
struct Sampler {
  Tracker tracker;		/* takes the samples */
  Sampler *next, *before;	/* list of all samplers */
  ProfileState state;		/* stream in the profile; profile NULL: no session */
  const SamplerShared *shared;	/* data of the shared profile (SS4); NULL: the state has its own
                                   profile, and the fields "shared:" are unused */
  uint64_t since;		/* shared: when the state joined the profile, ns */
  uint64_t period;		/* requested sampling period, bytes; samplerlist_restrain may
                                   use a larger one */
  /* Values when samplerlist_restrain last checked the rate: clock_now; CPU time of the process,
     ns; number of samples. */
  uint64_t ratetime, ratecpu, ratesamples;
  char *script;			/* shared: source of the outermost function of the first sample */
  int named;			/* 1: 'script' was emitted */
  unsigned name;		/* number of the state's name (seen.h) */
  Seen seen;			/* shared: numbers that other threads read */
  int forked;			/* 1: forked child in which the state has reported nothing */
  int counted;			/* shared: 1: counted in samplers.past.states */
  int ended;			/* shared: 1: the profile in 'state' has ended, because the process
                                   has switched to another one; atomic */
  /* If 'ended' is 1: the bytes and lost samples of the state that were reported to the ended
     profile. Lock held. */
  uint64_t reportedbytes;
  uint64_t reportedlost;
  SamplerRequest *request;	/* shared: another thread's request to this state; atomic */
  SamplerOptions options;
  char *path;			/* file of the last session */
  struct stat file;		/* device and inode of the file at 'path' */
  pid_t pid;			/* process of the session */
  int reported;			/* 1: the end of the session was reported to the user */
  Timing timing;
  HeldPaths heldpaths;		/* the paths of references that were emitted */
  Resident resident;		/* last measurement of the heap */
  uint64_t starved, starvings;	/* When a lack of memory was last reported, ns; how often memory
                                   ran out. */
  uint64_t timeperiod;		/* period of time samples, ns; 0: no time samples */
  int wall;			/* 1: 'timeperiod' is of wall time, 0: of CPU time */
  ProfileCollection leftout;	/* sums over the collections that were not emitted; the next
                                   emitted one includes them (oncollection) */
};

/* The list of samplers, and data of the shared profile. Fields that are not atomic change only
   with the lock held. */
extern struct Samplers {
  Sampler *all;
  const SamplerShared *shared;	/* data of the shared profile, or NULL; atomic */
  SamplerRequest *request;	/* request to the first state that collects; atomic */
  SharedTotals past;		/* sums over the states that have left the profile; past.states
                                   counts all states that ever joined */
} samplers __attribute__((visibility("hidden")));

void samplerlist_lock (void);
void samplerlist_unlock (void);

/* Registers the handlers of fork and exit, once. */
void samplerlist_watch (void);
/* Reports the last data and finishes all profiles, at exit or before a fatal signal. */
void samplerlist_exiting (void);

/* Adds a sampler to the list. Lock held. */
void samplerlist_enlist (Sampler *s);
/* Removes a sampler from the list. Lock held. */
void samplerlist_delist (Sampler *s);

/* Publishes the state's numbers for other threads (s->seen). Call it on the state's thread. */
void samplerlist_publish (Sampler *s);
/* Adds a mark with the reason 'why' this thread's time is not sampled. In a shared profile, adds
   one mark per thread. */
void samplerlist_untimed (Sampler *s, const char *why);
/* Emits the time samples taken since the last call. The tracker calls it at safepoints, where the
   Lua stack can be read. */
void samplerlist_point (void *ud, lua_State *L);
/* Adapts the period of allocation samples to the option 'rate'. Called after a collection. */
void samplerlist_restrain (Sampler *s, lua_State *L);
/* Measures resident memory if a measurement is due (resident_measure). 'last' 1: the state or its
   profile is about to end. */
void samplerlist_measure (Sampler *s, lua_State *L, int last);

/* Returns the exact bytes allocated by a state, and stores its counts of dropped data. If another
   thread runs the state, returns the numbers in s->seen. Call it before the profile ends. */
uint64_t samplerlist_ending (const Sampler *s, ProfileLeft *left);
/* Emits the bytes of each label set that were not emitted before. Returns their sum. 'all' is the
   number of bytes that the state has allocated. */
uint64_t samplerlist_emitsets (Sampler *s, ProfileState *state, uint64_t all);
/* Changes the sums by label set over states that have left the profile. ACCOUNT_WHOLE adds all
   bytes of this state; ACCOUNT_REST subtracts those that its next profile will contain. Lock
   held. */
void samplerlist_pastsets (Sampler *s, AccountPart part, uint64_t all);
/* Prints messages about the end of a session and its lost samples, once. Returns t->error. */
int samplerlist_report (Sampler *s, const ProfileTotals *t);
/* Stores the sums over all states that share a profile. 'isexit' 1: first publishes the numbers of
   this thread's states. The lock is held, except at exit if it could not be taken. */
void samplerlist_addup (SharedTotals *t, int isexit);

#endif
