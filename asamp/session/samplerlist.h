/* SPDX-License-Identifier: MIT */
/*
** The samplers of all states of the process, used by sessions of a single state
** (samplersession.c) and by states that share a profile (samplershared.c): the list of samplers,
** common operations, exit and fork. The rules are in sampler.h.
*/
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
  Tracker tracker;		/* its client is the profile */
  Sampler *next, *before;	/* list of all samplers of the process */
  ProfileState state;		/* the state's stream in a profile; without a profile outside
				   sessions */
  const SamplerShared *shared;	/* common data of a shared profile (SS4); NULL: the profile is
				   the state's own */
  uint64_t since;		/* shared: time at which it joined the profile, ns */
  uint64_t period;		/* requested one, bytes; the lower bound of samplerlist_restrain */
  uint64_t ratetime, ratecpu, ratesamples;  /* Time of the last rate check, CPU time of the
				   process and samples taken by then (samplerlist_restrain). */
  char *script;			/* source of the outermost function of its first sample */
  int named;			/* 1: 'script' was emitted as the state's name */
  unsigned name;		/* number of that name (seen.h) */
  Seen seen;			/* shared: data for other threads */
  int forked;			/* 1: this is the child of a fork, and the state has reported
				   nothing yet */
  int counted;			/* shared: 1: counted in past.states, once for any number of
				   files */
  int ended;			/* shared: 1: its profile has ended; atomic */
  uint64_t reportedbytes;	/* bytes allocated that were reported to that profile; lock held */
  uint64_t reportedlost;	/* lost samples that were reported to that profile; lock held */
  SamplerRequest *request;	/* shared: request of another thread, to be served by its own;
				   atomic */
  SamplerOptions options;
  char *path;			/* path of the session's file, or of the last one */
  struct stat file;		/* device and inode of that file */
  pid_t pid;			/* process that has the session */
  int reported;			/* 1: the end of the session was reported to the user */
  Timing timing;
  HeldPaths heldpaths;		/* paths already in the profile */
  Resident resident;		/* the state's part of resident memory */
  uint64_t starved, starvings;	/* time of the last report that memory ran out, ns; number of
				   times that it did */
  uint64_t timeperiod;		/* period of time samples in the session, ns; 0: none */
  int wall;			/* 1: that period is of wall time */
  ProfileCollection leftout;	/* counts and bytes of collections not reported since the last
				   reported one */
};

/* Data for exit and fork (SS1). Changed with the lock held. */
extern struct Samplers {
  Sampler *all;
  const SamplerShared *shared;	/* of all states that share a profile, or NULL; atomic */
  SamplerRequest *request;	/* request to any state, served by the first that collects;
				   atomic */
  SharedTotals past;		/* sums of states that have left their profiles; 'states': all
				   that ever joined */
} samplers __attribute__((visibility("hidden")));

void samplerlist_lock (void);
void samplerlist_unlock (void);

/* Registers the handlers of fork and exit, once in a process. */
void samplerlist_watch (void);
/* Finishes all profiles at exit, or before a signal ends the process. */
void samplerlist_exiting (void);

/* Add a sampler to the list of all, or remove it. Lock held. */
void samplerlist_enlist (Sampler *s);
void samplerlist_delist (Sampler *s);

/* Publishes the state's numbers for other threads, on the state's own thread (SE1). */
void samplerlist_publish (Sampler *s);
/*
** Adds a mark with the reason why time is not sampled on this thread; in a shared profile, once for
** each thread.
*/
void samplerlist_untimed (Sampler *s, const char *why);
/* Callback of the tracker: a safepoint for time samples. */
void samplerlist_point (void *ud, lua_State *L);
/* Adapts the period of a state to the option 'rate'. Called after a collection. */
void samplerlist_restrain (Sampler *s, lua_State *L);
/* Measures resident memory if it is due (resident_measure). */
void samplerlist_measure (Sampler *s, lua_State *L, int last);

/*
** Before a profile ends: returns the exact bytes allocated, and in *left the counts of data that
** limits dropped. For a shared state of another thread, returns its published numbers.
*/
uint64_t samplerlist_ending (const Sampler *s, ProfileLeft *left);
/*
** Emits the bytes by label that were not emitted before; 'all' is the total of bytes. Returns the
** total, which exceeds 'all' if the state of another thread has newer numbers.
*/
uint64_t samplerlist_emitsets (Sampler *s, ProfileState *state, uint64_t all);
/*
** Adds the bytes by label of a state ('part' ACCOUNT_WHOLE) to those of past states; ACCOUNT_REST:
** subtracts those that the state is going to keep. Lock held.
*/
void samplerlist_pastsets (Sampler *s, AccountPart part, uint64_t all);
/*
** Reports the end of a session to the user, once: the summary if requested, and losses. Returns
** the file's errno.
*/
int samplerlist_report (Sampler *s, const ProfileTotals *t);
/*
** Adds up all present and past states that share a profile. Lock held, unless at exit another
** thread keeps it. At exit, publishes the numbers of this thread's states first.
*/
void samplerlist_addup (SharedTotals *t, int isexit);

#endif
