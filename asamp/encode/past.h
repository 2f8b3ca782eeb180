/* SPDX-License-Identifier: MIT */
/*
** Data that a flight recorder (ring.h) still needs of events that it no longer keeps: names,
** stacks and periods that later events refer to, and the samples still alive. The recorder
** passes its oldest events here one by one. Written to an encoder, this data forms the start of
** the profile, as if it had just happened.
**
** For each state: its names, stack, periods and last collection, and a list of its samples, in
** the sampler's order (P7 of profile.h). Used by one thread. Invariants:
**
**   PA1  list[0] to list[followed - 1] are the followed samples, in the sampler's order;
**        list[followed] to list[n - 1] are the undecided ones. Run lengths of later deaths and
**        outcomes refer to these positions;
**   PA2  a stack is stored once for all samples of a state that have it, and freed with the last of
**        these. Beyond PAST_STACKS bytes, or without memory, a new stack is not stored: its sample
**        has none, and is counted;
**   PA3  a state that has ended is dropped: all its samples died before the recorder's oldest
**        event. If it has orphans (samples of native memory that is not freed), its list
**        consists of these until they are dead.
*/
#ifndef asamp_past_h
#define asamp_past_h

#include "event.h"

typedef struct Past Past;

/* Totals of past_emit. */
typedef struct PastTotals {
  uint64_t samples;     /* allocation samples, in periods */
  uint64_t bytes;       /* bytes that they represent */
} PastTotals;

/*
** Makes an empty Past. One period of an allocation sample represents 'period' bytes until its state
** has another period; of a sample of native memory, 'mallocs' bytes. Returns NULL if there is not
** enough memory.
*/
Past *past_new (uint64_t period, uint64_t mallocs);
void past_free (Past *p);

/* Takes the event that follows the last one taken. */
void past_take (Past *p, const Event *event);

/* Writes the data to a new encoder. */
void past_emit (Past *p, Encoder *e, PastTotals *totals);

/*
** Returns the sum of the samples without a stack (PA2), the names beyond PAST_TEXTS, and the
** survivors that are left out because they are not followed, although they may be alive.
*/
uint64_t past_left (const Past *p);
/* Returns 1 if memory ran out: samples or names are missing. */
int past_failed (const Past *p);

#endif
