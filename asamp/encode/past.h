/* SPDX-License-Identifier: MIT */
/*
** Keeps the data that a flight recorder (ring.h) still needs of events that it no longer keeps:
** the names, stacks and periods that later events refer to, and the samples that are still alive.
** The recorder passes its oldest events here one by one. When a profile is written, this data
** forms its start, as if all of it had just happened.
**
** For each state there are its names, stack, periods and last collection, and a list of its
** samples in the sampler's order (P7 of profile.h). Used by one thread. Invariants:
**
**   PA1  list[0] to list[followed - 1] are the followed samples (survivors whose deaths will be
**        reported), in the sampler's order; list[followed] to list[n - 1] are those whose survival
**        is not decided yet. Run lengths of later deaths and outcomes refer to these positions;
**   PA2  a stack is stored once for all samples of a state that have it, and freed with the last
**        of them. A new stack is not stored if all stacks would take more than PAST_STACKS bytes,
**        or if there is not enough memory. Then its sample has no stack and is counted in
**        past_left;
**   PA3  a state that has ended is dropped, because all its samples died before the recorder's
**        oldest event. Exception: if it has orphans (samples of native memory that is not freed),
**        it is kept with these in its list until they are dead.
*/
#ifndef asamp_past_h
#define asamp_past_h

#include "event.h"

typedef struct Past Past;

/* Totals of past_emit. */
typedef struct PastTotals {
  uint64_t samples;     /* number of sampling periods of the allocation samples that are still
			   alive */
  uint64_t bytes;       /* bytes that these samples represent */
} PastTotals;

/* Makes the data for a flight recorder that has dropped no event yet. 'period' is the number of
   bytes that one period of an allocation sample represents, until an event changes it for a state;
   'mallocs' the same for samples of native memory. Returns NULL if there is not enough memory. */
Past *past_new (uint64_t period, uint64_t mallocs);
void past_free (Past *p);

/* Takes the next event. Events must be passed in their order. */
void past_take (Past *p, const Event *event);

/* Writes the data that are stored of dropped events (see the head) to an encoder that has no events
   yet. */
void past_emit (Past *p, Encoder *e, PastTotals *totals);

/* Returns how much is missing: the number of samples without a stack (PA2), of names beyond
   PAST_TEXTS, and of survivors that are left out because their deaths are not reported, although
   they may still be alive. */
uint64_t past_left (const Past *p);
/* Returns 1 if memory ran out: samples or names are missing. */
int past_failed (const Past *p);

#endif
