/* SPDX-License-Identifier: MIT */
/*
** Merges several profiles into one of format 4 in which each state of each profile is a state.
** The first pass reads each head, the second one copies the profiles one after the other. The
** times of a profile are shifted by the durations of the profiles before it. Memory: that of
** transcode.h for one profile, and all names. Invariants:
**   UN1  functions, native functions, classes and sets of labels with equal names in two profiles
**        have one number; states have separate numbers;
**   UN2  a closed state ends in the result when the next state of its profile starts, and its live
**        objects die then, as in the profile. If no state starts after it, it ends after all
**        profiles, so that its leaks are still reported as leaks. Deaths of orphans are written
**        when they occur in the profile, before or after that end;
**   UN3  therefore up to READER_MAXSTREAMS states may be open at the ends of the profiles.
*/
#ifndef asamp_unite_h
#define asamp_unite_h

#include "origin.h"
#include "output.h"
#include "transcode.h"

/*
** A state that is still open at the end of its profile (UN2). 'ended': it was closed, at 'end'
** (ns).
*/
typedef struct UniteRest {
  uint32_t id;
  int ended;
  uint64_t end, allocated, orphans;
} UniteRest;

typedef struct Unite {
  Output *o;
  EncoderConfig config;     /* the common head */
  char *command;            /* NULL if the profiles have different commands */
  int checked, othercommand, othermallocs;
  uint64_t clock, started;  /* us: the clock of the first profile; the earliest start */
  Encoder *encoder;         /* NULL before the first profile */
  TranscodeInto into;
  Origins names;            /* functions and classes (UN1) */
  StrTab natives, labels;
  uint32_t nsets;           /* number of sets in 'labels' */
  ProfileLeft left;         /* data omitted by limits of the profiles' writers */
  uint64_t texts, lost;
  uint64_t ring[4];         /* sums of ReadProfile's 'ring' */
  int isring;
  uint64_t shift;           /* total duration of the finished profiles, us */
  uint32_t nstates;         /* numbers assigned to states */
  UniteRest *rest;
  size_t nrest, restsize;
  /* The rest is about the profile that is being read. */
  Transcode t;
  const char *path;
  TranscodeState **open;    /* its states in the result that have not ended there */
  size_t nopen, opensize;
  TranscodeState *ended;    /* list of the closed ones of them, the last one first */
  IdMap places;             /* placekey of a state -> index in 'open' */
  IdMap orphaned;  /* placekey of a state that has ended in the result and has orphans -> its
                      number there */
  IdMap sets;               /* set of labels in the profile -> number in 'labels' */
  uint32_t set;             /* the profile's set that 'labels' was called with last */
} Unite;

/*
** Initializes m to write to an open output. Returns 0 if there is not enough memory. unite_free
** must be called in both cases.
*/
int unite_start (Unite *m, Output *o);
/*
** Reads the head of one profile; must be called for all profiles before the first unite_add.
** Returns 0 if the profile cannot be merged; 'err' is a line with the reason.
*/
int unite_check (Unite *m, const char *path, char *err, size_t errsize);
/*
** Adds one profile. Returns its contents, which the caller frees, or NULL with the reason in
** 'err'; *fatal is 1 if the result is unusable too. 'progress' and 'ud' are those of
** ReaderClient.
*/
ReadProfile *unite_add (Unite *m, const char *path, void (*progress) (void *ud, double fraction),
                    void *ud, int *fatal, char *err, size_t errsize);
/* Ends the result, after the last unite_add. Returns NULL, or the reason why it is incomplete. */
const char *unite_finish (Unite *m);
/*
** Counts the data (LEFT_N counts) that readers of the result will omit although no single profile
** exceeded a limit: functions, classes, sets of labels and states of all profiles together.
** Called after unite_finish.
*/
void unite_left (const Unite *m, uint64_t *counts);
void unite_free (Unite *m);

#endif
