/* SPDX-License-Identifier: MIT */
/*
** Merges several profiles into one, the result, which has format 4 (files of many states) and every
** state of every profile. unite_check reads the head of each profile; then unite_add copies the
** profiles one after the other. The times of a profile are shifted by the durations of the profiles
** before it. Memory: that of transcode.h for one profile, all names, and the states open in the
** result. Invariants:
**   UN1  functions, native functions and classes with equal names, and equal label sets, have one
**        number in all profiles; states have separate numbers;
**   UN2  a closed state ends in the result when the next state of its profile starts, and its live
**        objects die then, as in the profile. If no state of the profile starts after it, it ends
**        after all profiles, so that its leaks are still reported as leaks. Native memory can
**        outlive its state (orphans); its deaths are written when they occur in the profile, before
**        or after the state's end in the result;
**   UN3  at most READER_MAXSTREAMS states are open in the result at a time. With more, the profiles
**        cannot be merged.
*/
#ifndef asamp_unite_h
#define asamp_unite_h

#include "origin.h"
#include "output.h"
#include "transcode.h"

/* A Lua state that is still open in the merged profile when its own profile has been read, because
   no state of that profile has started after its end (UN2). */
typedef struct UniteRest {
  uint32_t id;              /* number of the Lua state in the merged profile */
  int ended;                /* 1: the Lua state was closed in its own profile, at the time 'end' */
  uint64_t end, allocated, orphans;  /* end of the state (ns), exact bytes allocated, and number of
                                        live orphans, as in TranscodeState */
} UniteRest;

typedef struct Unite {
  Output *o;
  EncoderConfig config;     /* data for the head of the merged profile, common to all profiles */
  char *command;            /* command line of the first profile; NULL: it has none */
  Bytes sources;            /* identities of all recordings (readprofile_source) */
  /* 1 if: 'checked': 'config' has the head of a profile; 'othercommand': the profiles have
     different commands; 'othermallocs': they have different sampling periods of native memory. */
  int checked, othercommand, othermallocs;
  /* Start of the run, us. 'clock': by the monotonic clock, of the first profile. 'started': since
     the epoch, the earliest of all profiles. */
  uint64_t clock, started;
  Encoder *encoder;         /* NULL before the first unite_add */
  TranscodeInto into;
  Origins names;            /* names of functions and classes; equal names have one number (UN1) */
  StrTab natives, labels;   /* names of native functions; texts of label sets */
  uint32_t nsets;           /* number of label sets whose text is in 'labels' */
  ProfileLeft left;         /* data dropped by the profiles' writers or by limits of the merge */
  uint64_t texts, lost;     /* sums over the read profiles. 'texts': number of texts that were cut.
                               'lost': number of samples that were lost */
  uint64_t ring[4];         /* sums of ReadProfile.ring over the profiles of flight recorders */
  int isring;               /* 1: at least one of the profiles is of a flight recorder */
  uint64_t shift;           /* total duration, us, of the profiles that were read completely; added
                               to the times of the next profile */
  uint32_t nstates;         /* number of Lua states in the merged profile */
  UniteRest *rest;
  size_t nrest, restsize;
  /* The following members belong to the profile that is being read. */
  Transcode t;
  const char *path;
  TranscodeState **open;    /* Lua states of the current profile that have not ended in the merged
                               profile, in any order */
  size_t nopen, opensize;
  TranscodeState *ended;    /* list of the states in 'open' that were closed in the profile,
                               the state closed last first */
  IdMap places;             /* maps the key of a state (placekey: its number in the profile + 1) to
                               its index in 'open' */
  /* Maps the key (placekey) of a Lua state that has ended in the merged profile, but whose native
     memory lives on (orphans), to its number in the merged profile. */
  IdMap orphaned;
  IdMap sets;               /* maps label sets of the profile to numbers in 'labels' */
  uint32_t set;             /* argument of the last call of the callback 'labels': number of a label
                               set in the profile */
} Unite;

/*
** Initializes m to write to an open output. Returns 0 if there is not enough memory. unite_free
** must be called in both cases.
*/
int unite_start (Unite *m, Output *o);
/*
** Reads the head of one profile; must be called for all profiles before the first unite_add.
** Returns 0 if the profile cannot be merged, with the reason in 'err'. The caller may still merge
** the other profiles.
*/
int unite_check (Unite *m, const char *path, char *err, size_t errsize);
/*
** Adds one profile for which unite_check has returned 1. Returns its contents, which the caller
** frees. On failure returns NULL, with the reason in 'err', and sets *fatal: to 1 if the result is
** unusable, to 0 if only this profile is missing in it. 'progress' and 'ud' are for ReaderClient.
*/
ReadProfile *unite_add (Unite *m, const char *path, void (*progress) (void *ud, double fraction),
                    void *ud, int *fatal, char *err, size_t errsize);
/* Completes the merged profile, after the last unite_add. Returns NULL, or the reason why it is
   incomplete. */
const char *unite_finish (Unite *m);
/*
** Sets the counts (LEFT_N) of functions, classes, label sets and states that are lost because all
** profiles together exceed a limit. Functions and classes are missing in the result; label sets and
** states are in it, but its readers leave them out. Called after unite_finish.
*/
void unite_left (const Unite *m, uint64_t *counts);
void unite_free (Unite *m);

#endif
