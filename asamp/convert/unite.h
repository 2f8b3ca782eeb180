/* SPDX-License-Identifier: MIT */
/*
** Merges several profiles into one profile of many states, the result. unite_check reads the head
** of each profile. Then unite_add copies the profiles one after the other. In the result, each
** profile starts at the time when the previous one ends.
**
**   UN1  in the result, functions with equal names have one number; so have equal names of classes,
**        and equal label sets. Each state has its own number;
**   UN2  the end of a closed state is written to the result when the next state of its profile
**        starts. The end makes the state's live objects dead. If no state starts, the end is
**        written after all profiles, so that the state's leaks are still reported. Native memory
**        may outlive its state; its death is written when the reader reports it;
**   UN3  at most READER_MAXSTREAMS states have no written end at a time. If there were more, the
**        profiles cannot be merged.
*/
#ifndef asamp_unite_h
#define asamp_unite_h

#include "origin.h"
#include "output.h"
#include "transcode.h"

/* A state whose end is not written yet although its whole profile was copied. */
typedef struct UniteRest {
  uint32_t id;              /* number of the state in the result */
  int ended;                /* 1: closed in its profile, at the time 'end' */
  /* end: time of the state's end, ns. allocated: exact bytes that it has allocated. orphans: number
     of its samples of native memory that outlive it. */
  uint64_t end, allocated, orphans;
} UniteRest;

typedef struct Unite {
  Output *o;
  EncoderConfig config;     /* data for the head of the result */
  char *command;            /* command line of the first profile, or NULL */
  Bytes sources;            /* text that identifies the merged profiles (readprofile_source) */
  /* 'checked' 1: 'config' is filled. 'othercommand' 1: the profiles have different commands.
     'othermallocs' 1: they have different sampling periods of native memory. */
  int checked, othercommand, othermallocs;
  /* Start of the merged profile. 'clock': CLOCK_MONOTONIC at the start of the first profile, us.
     'started': earliest start of all profiles, us since 1970. */
  uint64_t clock, started;
  Encoder *encoder;         /* writes the result; NULL before the first unite_add */
  TranscodeInto into;
  Origins names;            /* names of Lua functions and classes; equal names have one number */
  StrTab natives, labels;   /* names of native functions; texts of label sets */
  uint32_t nsets;           /* number of label sets whose text is in 'labels' */
  ProfileLeft left;         /* counts of the data that the profiles' writers or the merge dropped */
  uint64_t texts, lost;     /* numbers of truncated texts and of lost samples in all profiles */
  /* Sums of ReadProfile.ring over all profiles of flight recorders:
     - number of sampling periods of the samples that are older than the recorded part and were
       alive at its start
     - bytes that these samples represent
     - length of the recorded part, us
     - requested length, us */
  uint64_t ring[4];
  int isring;               /* 1: a flight recorder wrote at least one of the profiles */
  uint64_t shift;           /* sum of the durations of the profiles added so far, us */
  uint32_t nstates;         /* number of states in the result */
  UniteRest *rest;
  size_t nrest, restsize;
  /* The following members are for the profile being read. */
  Transcode t;
  const char *path;
  TranscodeState **open;    /* states of this profile whose ends are not written yet, in any
                               order */
  size_t nopen, opensize;
  TranscodeState *ended;    /* list of the closed states in 'open', last closed first */
  IdMap places;             /* maps each state of this profile that is in 'open' to its index in
                               'open' */
  /* Maps a state whose end is written and that has live native memory to the state's number in the
     merged profile. */
  IdMap orphaned;
  IdMap sets;               /* maps a label set of this profile to the number of its text in
                               'labels' */
  /* The label set that was last passed to labels(). If its text is new in the output, the encoder
     calls labelsof() next. That function receives only the set's number in the output, but needs
     this set. */
  uint32_t set;
} Unite;

/* Initializes m, which will write to the open output 'o'. Returns 0 if out of memory; call
   unite_free in either case. */
int unite_start (Unite *m, Output *o);
/* Reads the head of a profile. Call it for all profiles before the first unite_add. Returns 0 with
   the reason in 'err' if the profile cannot be merged. */
int unite_check (Unite *m, const char *path, char *err, size_t errsize);
/* Adds a profile that unite_check has accepted. Returns its data, which the caller frees. On
   failure returns NULL with the reason in 'err', and sets *fatal to 1 if the result is unusable. */
ReadProfile *unite_add (Unite *m, const char *path, void (*progress) (void *ud, double fraction),
                    void *ud, int *fatal, char *err, size_t errsize);
/* Writes the ends of the remaining states and of the result. Returns NULL, or why the result is
   incomplete. */
const char *unite_finish (Unite *m);
/* Sets elements of counts[LEFT_N] to the numbers of items that limits have dropped: functions and
   classes whose names are missing in the result, and label sets and states that readers of the
   result will leave out. Call it after unite_finish. */
void unite_left (const Unite *m, uint64_t *counts);
void unite_free (Unite *m);

#endif
