/* SPDX-License-Identifier: MIT */
/*
** The samplers of all states of the process: the list of samplers, operations that several parts
** use, exit and fork. Used by sessions of a single state (samplersession.c) and by states that
** share a profile (samplershared.c). The rules are in sampler.h.
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
  Tracker tracker;		/* takes the state's samples and passes them to the profile */
  Sampler *next, *before;	/* list of all samplers of the process */
  ProfileState state;		/* the state's stream in a profile; state.profile is NULL if no
				   session is open */
  const SamplerShared *shared;	/* common data of a shared profile (SS4); NULL: the profile is the
				   state's own. Comments of fields that are used only if this one
				   is not NULL start with "shared:" */
  uint64_t since;		/* shared: time at which the state joined the profile, ns */
  uint64_t period;		/* requested sampling period in bytes; samplerlist_restrain may set
				   a larger one, but no smaller one */
  /* Values at the last check of the rate (samplerlist_restrain): clock_now; CPU time of the
     process, ns; number of samples of the state. */
  uint64_t ratetime, ratecpu, ratesamples;
  char *script;			/* of a state in a shared profile only ("shared:"): source of the
				   outermost function in the state's first sample */
  int named;			/* 1: 'script' was emitted as the state's name */
  unsigned name;		/* number of the state's name (seen.h) */
  Seen seen;			/* shared: the state's numbers, for other threads to read */
  int forked;			/* 1: this process is the child of a fork, and the state has
				   reported nothing in it yet */
  int counted;			/* shared: 1: the state is counted in samplers.past.states. It is
				   counted once, however many files it writes */
  int ended;			/* shared: 1: the profile to which the state reports has ended,
				   because the process switched to another one; atomic */
  uint64_t reportedbytes;	/* if 'ended' is 1: allocated bytes that the ended profile
				   received; changed with the lock held */
  uint64_t reportedlost;	/* if 'ended' is 1: lost samples that the ended profile received;
				   changed with the lock held */
  SamplerRequest *request;	/* shared: request of another thread, to be served by the state's
				   own thread; atomic */
  SamplerOptions options;
  char *path;			/* path of the file of the session, or of the last session */
  struct stat file;		/* device and inode of the file at 'path' */
  pid_t pid;			/* process that has the session */
  int reported;			/* 1: the end of the session was reported to the user */
  Timing timing;
  HeldPaths heldpaths;		/* paths of references that keep samples alive (holders.h) and that
			   are already in the profile */
  Resident resident;		/* last measurement of the state's heap, for snapshots of resident
				   memory */
  uint64_t starved, starvings;	/* 'starved': time of the last report that memory ran out, ns.
				   'starvings': how often memory ran out */
  uint64_t timeperiod;		/* period of time samples in the session, ns; 0: none */
  int wall;			/* 1: 'timeperiod' is of wall time, 0: of CPU time */
  ProfileCollection leftout;	/* sums over the collections without a record of their own
				   (oncollection), since the last one with a record */
};

/* The list of all samplers of the process, and data of the shared profile. Fields that are not
   atomic are changed only with the lock of all samplers held. */
extern struct Samplers {
  Sampler *all;
  const SamplerShared *shared;	/* common data of the states that share a profile, or NULL;
				   atomic */
  SamplerRequest *request;	/* request to any state, which the first state that collects
				   serves; atomic */
  SharedTotals past;		/* sums over the states that have left their profiles. past.states
				   is the number of states that ever joined one */
} samplers __attribute__((visibility("hidden")));

void samplerlist_lock (void);
void samplerlist_unlock (void);

/* Registers the handlers of fork and exit, once in a process. */
void samplerlist_watch (void);
/* Reports the last data of all states and finishes all profiles, at exit or before a signal ends
   the process. */
void samplerlist_exiting (void);

/* Adds a sampler to samplers.all. Lock held. */
void samplerlist_enlist (Sampler *s);
/* Removes a sampler from samplers.all. Lock held. */
void samplerlist_delist (Sampler *s);

/* Stores the state's numbers where other threads may read them (s->seen). Called on the state's own
   thread. */
void samplerlist_publish (Sampler *s);
/*
** If the state has a profile, adds a mark with the reason why time is not sampled on this thread.
** In a shared profile, a thread adds only one such mark.
*/
void samplerlist_untimed (Sampler *s, const char *why);
/* Callback 'point' of the tracker: completes time samples at a safepoint. */
void samplerlist_point (void *ud, lua_State *L);
/* Adapts the sampling period of a state to the option 'rate'. Called after a collection. */
void samplerlist_restrain (Sampler *s, lua_State *L);
/*
** Measures resident memory if a measurement is due (resident_measure). 'last' 1: the state is about
** to leave a shared profile, or its own profile is about to end.
*/
void samplerlist_measure (Sampler *s, lua_State *L, int last);

/* Returns the exact number of bytes that a state has allocated, and stores in *left the counts of
   data that limits dropped. For a state that shares a profile and runs on another thread, these are
   the numbers that it has published. Call it before the state's profile ends. */
uint64_t samplerlist_ending (const Sampler *s, ProfileLeft *left);
/* Emits, for each label set, the allocated bytes that were not emitted before. Returns their total.
   'all' is the expected total; the result exceeds it if the state runs on another thread and has
   allocated more since 'all' was read. */
uint64_t samplerlist_emitsets (Sampler *s, ProfileState *state, uint64_t all);
/* Changes the sums, by label set, of the bytes of states that have left the shared profile. 'part'
   ACCOUNT_WHOLE adds all bytes of the state; ACCOUNT_REST subtracts the bytes that it will report
   to its next profile. 'all' is as for account_each. Lock held. */
void samplerlist_pastsets (Sampler *s, AccountPart part, uint64_t all);
/*
** Reports the end of a session to the user, once: the summary, if requested, and losses. Returns
** t->error.
*/
int samplerlist_report (Sampler *s, const ProfileTotals *t);
/* Stores in *t the sums over all present and past states that share a profile. Called with the lock
   held, if possible (samplerlist_exiting). If 'isexit' is 1, first updates the numbers (Seen) of
   the states that run on this thread. */
void samplerlist_addup (SharedTotals *t, int isexit);

#endif
