/* SPDX-License-Identifier: MIT */
/*
** Several of our profiles as one, of format 4: each state of each of them is a state of
** it. Two passes: a look at each head, then one profile after the other, in a clock that
** goes on from the end of the one before. Memory: what transcode.h says, of one profile at
** a time, and the names of all. Invariants:
**   UN1  what is called alike in two profiles (functions, native code, classes, sets of
**        labels) has one number, whatever numbers it had; states have numbers of their own;
**   UN2  a state that was closed ends here when the next state of its profile begins, and
**        what was alive in it dies there, as in that profile. If no state began after it, it
**        ends after all states of all profiles, so that its leaks stay leaks. Orphans' deaths
**        are told where they are found, before that end or behind it;
**   UN3  therefore at most READER_MAXSTREAMS states may be open at the ends of the profiles.
*/
#ifndef asamp_unite_h
#define asamp_unite_h

#include "origin.h"
#include "output.h"
#include "transcode.h"

/* A state that was left when its profile ended (UN2). */
typedef struct UniteRest {
  uint32_t id;
  int ended;
  uint64_t end, allocated, orphans;
} UniteRest;

typedef struct Unite {
  Output *o;
  EncoderConfig config;     /* of all heads */
  char *command;            /* if it is that of all */
  int looked, othercommand, othermallocs;
  uint64_t clock, started;  /* us; the earliest start */
  Encoder *encoder;         /* NULL before the first profile */
  TranscodeInto into;
  Origins names;            /* UN1 */
  StrTab natives, labels;
  uint32_t nsets;           /* in 'labels' */
  ProfileLeft left;         /* what limits of the writers have left out, ... */
  uint64_t texts, lost;
  uint64_t ring[4];         /* as of ReadProfile, added up */
  int isring;
  uint64_t shift;           /* us that the profiles before have lasted */
  uint32_t nstates;         /* numbers given */
  UniteRest *rest;
  size_t nrest, restsize;
  /* of the profile that is read */
  Transcode t;
  const char *path;
  TranscodeState **open;    /* its states that were met, and have not ended */
  size_t nopen, opensize;
  TranscodeState *ended;    /* those of them that were closed, the last one first */
  IdMap places;             /* id there (+ 1) -> place in 'open' */
  IdMap orphaned;           /* id there (+ 1) -> number here, of those that have ended here
                               and have orphans */
  IdMap sets;               /* set of labels there -> number in 'labels' */
  uint32_t set;             /* that the encoder may ask for */
} Unite;

/* The output is open. 0 without memory. */
int unite_start (Unite *m, Output *o);
/* Before all unite_add: the head of one of them. 0: it cannot be merged, 'err' is a line
   that says why. */
int unite_look (Unite *m, const char *path, char *err, size_t errsize);
/* One profile. NULL: nothing of it could be read, 'err' says why; *fatal is 1 when the
   result is none either. Else what it comes to, the caller's. 'progress' and its 'ud': as
   of ReaderClient. */
ReadProfile *unite_add (Unite *m, const char *path, void (*progress) (void *ud, double fraction),
                    void *ud, int *fatal, char *err, size_t errsize);
/* Ends the result, after the last unite_add. Returns NULL, or the reason why it is incomplete. */
const char *unite_finish (Unite *m);
/* Behind that: what readers of the result will leave out that no profile has told, LEFT_N
   counts: there are more functions, classes, sets of labels and states in all together. */
void unite_left (const Unite *m, uint64_t *counts);
void unite_free (Unite *m);

#endif
