/* SPDX-License-Identifier: MIT */
/*
** What a flight recorder (ring.h) still needs of the events that it keeps no more: names,
** stacks and periods that later events refer to, and the samples that are still alive. The
** recorder hands its oldest events over one by one. Told to an encoder, what is kept here
** stands at the head of the profile as if it had just happened.
**
** Of each state: its names, its stack, its periods, its last collection, and a list of its
** samples, as the sampler counts them (P7 of profile.h). Used by one thread. Invariants:
**   PA1  list[0] to list[followed - 1] are the samples that the sampler follows, in its
**        order; list[followed] to list[n - 1] those that wait for their fate. Runs of deaths
**        and fates that come later mean these places;
**   PA2  a stack is there once, for all samples that have it, and goes with the last of
**        them. More than PAST_STACKS bytes are not kept: the sample has no stack then, and
**        is counted;
**   PA3  a state that has ended is forgotten: whatever was alive in it has died before the
**        recorder's oldest event. If it has left orphans, samples of native memory that is
**        not freed, these alone are its list until they are dead.
*/
#ifndef asamp_past_h
#define asamp_past_h

#include "event.h"

typedef struct Past Past;

/* What past_tell has told. */
typedef struct PastTold {
  uint64_t samples;     /* of allocation, counts added up, ... */
  uint64_t bytes;       /* ... and what they stand for */
} PastTold;

/* Of samples that stand for 'period' bytes, until a state's own says otherwise, and of
   native memory's, for 'mallocs'. NULL: no memory. */
Past *past_new (uint64_t period, uint64_t mallocs);
void past_free (Past *p);

/* It is the event after the last one that was taken. */
void past_take (Past *p, const Event *event);

/* To an encoder that was told nothing yet. */
void past_tell (Past *p, Encoder *e, PastTold *told);

/* Stacks and names that have found no room, and samples that survived and are not
   followed, so that nobody knows whether they are alive. */
uint64_t past_left (const Past *p);
/* 1: memory has run out, and samples are missing. */
int past_failed (const Past *p);

#endif
