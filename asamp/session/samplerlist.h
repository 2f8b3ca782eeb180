/* SPDX-License-Identifier: MIT */
/* The list of all samplers (sampler.h), common operations, and handlers of exit and fork. */
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
  /* The state's stream of events in the profile. state.profile NULL: no session is open. */
  ProfileState state;
  /* Data of the shared profile, one file for all states of the process. NULL: the state has its own
     profile, and the fields for a shared profile are unused. */
  const SamplerShared *shared;
  uint64_t since;		/* time (clock_now, ns) when the state joined the shared profile */
  /* Requested period of allocation samples, bytes. samplerlist_restrain may use a larger period. */
  uint64_t period;
  /* Data of samplerlist_restrain.
     ratetime     time (clock_now, ns) of the last check of the rate
     ratecpu      CPU time of the process at that check, ns
     ratesamples  number of samples at that check
     ratedue      time (clock_now, ns) before which only new samples make the next check due */
  uint64_t ratetime, ratecpu, ratesamples, ratedue;
  /* In a shared profile: source (as in lua_Debug) of the outermost function of the state's first
     sample. */
  char *script;
  int named;			/* 1: 'script', the state's name, was emitted to the profile */
  unsigned name;		/* number of the state's name (seen.h) */
  Seen seen;			/* copies of the state's counts, such as its samples, for other
                                   threads */
  /* 1: this is a forked child in which the state has reported nothing yet. */
  int forked;
  /* 1: the number of states in the process's report (samplers.past.states) includes this state, so
     the state must not be counted again when it moves to another shared profile. */
  int counted;
  /* 1: the shared profile in 'state' has ended, because the process continues in another profile.
     Atomic. */
  int ended;
  /* Bytes and lost samples that the state had reported when its profile ended ('ended' 1). Lock
     held. */
  uint64_t reportedbytes;
  uint64_t reportedlost;
  /* Request of another thread to this state; only in a shared profile. Atomic. */
  SamplerRequest *request;
  SamplerOptions options;
  char *path;			/* path of the last session's file */
  struct stat file;		/* device and inode of the file at 'path' */
  pid_t pid;			/* process that started the session */
  unsigned forks;		/* value of samplers.forks at the start of the session */
  int reported;			/* 1: the end of the session was reported to the user */
  Timing timing;
  HeldPaths heldpaths;		/* the paths of references that were emitted */
  Resident resident;		/* last measurement of the heap's resident bytes */
  /* starved: time of the last report that memory ran out, ns. starvings: how often memory ran
     out. */
  uint64_t starved, starvings;
  uint64_t timeperiod;		/* period of time samples, ns; 0: none */
  int wall;			/* 1: 'timeperiod' is of wall time, 0: of CPU time */
  /* Sum of the collections that were not emitted. The next emitted collection includes this sum. */
  ProfileCollection leftout;
};

/* The list of samplers, and data of the shared profile. Fields that are not atomic change only
   with the lock held. */
extern struct Samplers {
  Sampler *all;
  const SamplerShared *shared;	/* data of the shared profile, or NULL; atomic */
  SamplerRequest *request;	/* request to the first state that collects; atomic */
  unsigned forks;		/* how often the process and its ancestors have forked; atomic */
  /* Sums over the states that have left the shared profile. Exception: past.states is the number of
     all states that have ever joined it. */
  SharedTotals past;
  /* Pauses of all states so far; in a forked child, those after the fork. 'bins' is a histogram,
     'longest' the longest pause (ns). The sums of SEEN_PAUSES (seen.h) include the same pauses.
     Atomic. */
  struct {
    uint64_t bins[SAMPLER_PAUSES], longest;
  } pauses;
} samplers __attribute__((visibility("hidden")));

void samplerlist_lock (void);
void samplerlist_unlock (void);

/* Registers the handlers of fork and exit, once. */
void samplerlist_watch (void);
/* Emits the final data of all states and ends all profiles, at exit or before a fatal signal. */
void samplerlist_exiting (void);

/* Adds a sampler to the list. Lock held. */
void samplerlist_enlist (Sampler *s);
/* Removes a sampler from the list. Lock held. */
void samplerlist_delist (Sampler *s);

/* Copies the state's numbers (seen.h), such as its samples and collections, to s->seen, where other
   threads read them. Call it on the state's thread. */
void samplerlist_publish (Sampler *s);
/* Adds a mark that the calling thread's time is not sampled, with the reason 'why'. In a shared
   profile, adds only one such mark per thread. */
void samplerlist_untimed (Sampler *s, const char *why);
/* Emits the time samples taken since the last call. The tracker calls it at safepoints. */
void samplerlist_point (void *ud, lua_State *L);
/* Adapts the period of allocation samples to the option 'rate'. Called after a collection. */
void samplerlist_restrain (Sampler *s, lua_State *L);
/* Measures resident memory if that is due (resident_measure). 'last' 1: the state, or its profile,
   is about to end. */
void samplerlist_measure (Sampler *s, lua_State *L, int last);

/* Emits for each label set how many bytes the state has allocated since it joined its profile. Call
   it once per profile. 'all': the state's bytes over all label sets (SEEN_BYTES). Returns the sum
   of the bytes. */
uint64_t samplerlist_emitsets (Sampler *s, ProfileState *state, uint64_t all);
/* Emits the totals of a state at the end of its session, or when it leaves a shared profile without
   being closed: bytes by label set, all bytes, counts of dropped data, and 'lost' lost samples.
   Takes the numbers from s->seen. Returns the bytes. */
uint64_t samplerlist_emittotals (Sampler *s, ProfileState *state, uint64_t lost);
/* Updates the process's sums, by label set, of the bytes that states allocated until they left the
   shared profile. Call it when 's' leaves the profile. Lock held.
   part  ACCOUNT_WHOLE: adds all bytes that 's' has allocated. ACCOUNT_REST, in a second call if 's'
         continues in another profile: subtracts the bytes that were not reported to the old
         profile, because the new profile will count them
   all   total of the bytes to add or subtract, over all label sets */
void samplerlist_pastsets (Sampler *s, AccountPart part, uint64_t all);
/* Prints messages about the end of a session and its lost samples, once. Returns t->error. */
int samplerlist_report (Sampler *s, const ProfileTotals *t);
/* Stores the sums over all states of the shared profile. Lock held, except at exit if
   samplerlist_exiting could not take the lock. */
void samplerlist_addup (SharedTotals *t);

#endif
