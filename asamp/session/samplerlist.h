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
  const SamplerShared *shared;	/* data of the shared profile (SS4); NULL: own profile.
                                   "shared:" fields are for the first case */
  uint64_t since;		/* shared: time of joining the profile, ns */
  uint64_t period;		/* requested sampling period, bytes; samplerlist_restrain may
                                   use a larger one */
  /* Values at the last check of the option 'rate': clock_now; CPU time of the process, ns;
     number of samples. */
  uint64_t ratetime, ratecpu, ratesamples;
  char *script;			/* shared: source of the outermost function of the first sample */
  int named;			/* 1: 'script' was emitted */
  unsigned name;		/* number of the state's name (seen.h) */
  Seen seen;			/* shared: numbers for other threads */
  int forked;			/* 1: forked child in which the state has reported nothing */
  int counted;			/* shared: 1: counted in samplers.past.states */
  int ended;			/* shared: 1: the process has switched to another profile;
                                   atomic */
  uint64_t reportedbytes;	/* with 'ended': bytes that the ended profile has; lock held */
  uint64_t reportedlost;	/* with 'ended': lost samples that the ended profile has; lock
                                   held */
  SamplerRequest *request;	/* shared: request of another thread; atomic */
  SamplerOptions options;
  char *path;			/* file of the last session */
  struct stat file;		/* device and inode of the file at 'path' */
  pid_t pid;			/* process of the session */
  int reported;			/* 1: the end was reported to the user */
  Timing timing;
  HeldPaths heldpaths;		/* paths of references to live samples that are in the profile */
  Resident resident;		/* last measurement of the heap */
  uint64_t starved, starvings;	/* When memory last ran out and was reported, ns; how often it
                                   did. */
  uint64_t timeperiod;		/* period of time samples, ns; 0: none */
  int wall;			/* 1: 'timeperiod' is of wall time, 0: of CPU time */
  ProfileCollection leftout;	/* sums over the collections without a record, since the last
                                   record (oncollection) */
};

/* The list, and data of the shared profile. Changed with the lock held unless atomic. */
extern struct Samplers {
  Sampler *all;
  const SamplerShared *shared;	/* data of the shared profile, or NULL; atomic */
  SamplerRequest *request;	/* request to any state; atomic */
  SharedTotals past;		/* sums over the states that have left; past.states: all that
                                   ever joined */
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
/* Adds a mark with the reason why this thread's time is not sampled, once per thread in a
   shared profile. */
void samplerlist_untimed (Sampler *s, const char *why);
/* Completes time samples at a safepoint, for the tracker. */
void samplerlist_point (void *ud, lua_State *L);
/* Adapts the sampling period to the option 'rate'. Called after a collection. */
void samplerlist_restrain (Sampler *s, lua_State *L);
/* Measures resident memory if due. 'last' 1: the state or its profile is about to end. */
void samplerlist_measure (Sampler *s, lua_State *L, int last);

/* Returns the exact bytes allocated by a state, and stores its counts of dropped data. On
   another thread, uses published numbers. Call it before the profile ends. */
uint64_t samplerlist_ending (const Sampler *s, ProfileLeft *left);
/* Emits the bytes by label set not emitted before. Returns their sum. 'all' is the expected
   sum. */
uint64_t samplerlist_emitsets (Sampler *s, ProfileState *state, uint64_t all);
/* Adds the state's bytes by label set (ACCOUNT_WHOLE) to the sums over states that have left,
   or subtracts those for its next profile (ACCOUNT_REST). Lock held. */
void samplerlist_pastsets (Sampler *s, AccountPart part, uint64_t all);
/* Reports the end of a session and losses to the user, once. Returns t->error. */
int samplerlist_report (Sampler *s, const ProfileTotals *t);
/* Stores the sums over all shared states. 'isexit' 1: first updates the states of this thread.
   Lock held if possible. */
void samplerlist_addup (SharedTotals *t, int isexit);

#endif
