/* SPDX-License-Identifier: MIT */
/*
** The samplers of all states of the process, which their files share: sessions of a state
** of its own (session.c), states that share a profile (shared.c). Here are the list, what
** all do, and what becomes of them at exit and fork. The rules are in sampler.h.
*/
#ifndef asamp_samplers_h
#define asamp_samplers_h

#include "heldpaths.h"
#include "resident.h"
#include "sampler.h"
#include "timing.h"
#include "tracker.h"

#include <sys/stat.h>
#include <sys/types.h>

struct Sampler {
  Tracker tracker;		/* its client is the profile */
  Sampler *next, *before;	/* all samplers of the process */
  ProfileState state;		/* its profile: the session's, or NULL */
  const SamplerShared *shared;	/* ... which is not its own (SS4); NULL: it is */
  uint64_t since;		/* shared: when it began */
  uint64_t period;		/* bytes, that was asked for: samplers_restrain never goes below */
  uint64_t ratetime, ratesamples;  /* the last look at how many it takes, and how many it
				   had taken then (samplers_restrain) */
  char *script;			/* of the outermost function of its first sample, ... */
  int named;			/* ... which was told as the state's name */
  unsigned name;		/* the number of that (seen.h) */
  Seen seen;			/* shared: what other threads may know */
  int forked;			/* this is the child of a fork, and nothing was told */
  int counted;			/* shared: once among past.states, whatever number of files */
  int ended;			/* shared: its profile has ended, and was told of so many ... */
  uint64_t toldbytes;		/* ... bytes allocated, ... */
  uint64_t toldlost;		/* ... and samples lost; all under the lock, 'ended' atomic */
  SamplerAsked *asked;		/* shared: by another thread, to be done by its own; atomic */
  SamplerOptions options;
  char *path;			/* of the session or the last one */
  struct stat file;		/* ... whose device and inode these are */
  pid_t pid;			/* of the process whose session it is */
  int told;			/* how the session ended is told */
  Timing timing;
  HeldPaths heldpaths;		/* that the profile knows */
  Resident resident;		/* where the memory of the state is */
  uint64_t starved, starvings;	/* memory ran out: when that was told last; how often */
  uint64_t timeperiod;		/* ns, of the session; 0: time is not sampled */
  int wall;			/* that period is of wall time */
  ProfileCollection leftout;	/* since the last that was told: counts, bytes */
};

/* For exit and fork (SS1); under the lock. */
extern struct Samplers {
  Sampler *all;
  const SamplerShared *shared;	/* of all that are, or NULL; atomic */
  SamplerAsked *asked;		/* request of any state, which the first one that collects takes;
				   atomic */
  SharedTotals past;		/* told to profiles that were left; 'states': all that were */
} samplers __attribute__((visibility("hidden")));

void samplers_lock (void);
void samplers_unlock (void);

/* Once in a process: forks and exits are seen. */
void samplers_watch (void);
/* At exit, and of a signal that ends the process. */
void samplers_exiting (void);

/* Into the list of all (lock held), and out of it. */
void samplers_enlist (Sampler *s);
void samplers_delist (Sampler *s);

/* What the state's own thread lets others know (SE1). */
void samplers_publish (Sampler *s);
/* Time is not sampled on this thread: a mark in the profile gives the reason, once for each
   thread of a profile. */
void samplers_untimed (Sampler *s, const char *why);
/* The tracker's client: a point for samples of time. */
void samplers_point (void *ud, lua_State *L);
/* Adapts the period of a state to the option 'rate'. Called after a collection. */
void samplers_restrain (Sampler *s, lua_State *L);
/* Where memory is, where that is due. */
void samplers_look (Sampler *s, lua_State *L, int last);

/* Before a profile ends: what was allocated, which samples only estimate; and what
   limits have left out. Of a state of another thread, as it has told. */
uint64_t samplers_ending (const Sampler *s, ProfileLeft *left);
/*
** The file is whole: says so when the session was to end with a summary, and what was
** lost. Once a session.
*/
int samplers_report (Sampler *s, const ProfileTotals *t);
/* Sums over the states that the process has and had. With the lock, unless another thread
   keeps it at exit. At exit the states of this OS thread have already told all. */
void samplers_addup (SharedTotals *t, int isexit);

#endif
