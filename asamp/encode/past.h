/* SPDX-License-Identifier: MIT */
/*
** Keeps those data of the events dropped by a flight recorder (ring.h) to which later events refer:
** names, stacks, periods, and live samples. A written profile starts with these data.
**
**   PA1  in PastState.list, the elements 0 to followed - 1 are the survivors whose deaths will be
**        reported, and the elements followed to n - 1 are the undecided samples. Run lengths of
**        later events refer to these positions;
**   PA2  equal stacks of a state are stored once. Stacks take at most PAST_STACKS bytes; a sample
**        whose stack does not fit has no stack and is counted in past_left;
**   PA3  samples of native memory may outlive their state. So the data of an ended state are
**        dropped only when all these samples are dead.
*/
#ifndef asamp_past_h
#define asamp_past_h

#include "event.h"

typedef struct Past Past;

/* Totals of past_emit. */
typedef struct PastTotals {
  uint64_t samples;     /* number of sampling periods that the written samples represent */
  uint64_t bytes;       /* number of bytes that the written samples represent */
} PastTotals;

/* Makes an empty store for data of events that a flight recorder drops. 'period' and 'mallocs' are
   the sampling periods of allocations and of native memory at the start of the profile, in bytes.
   Returns NULL if out of memory. */
Past *past_new (uint64_t period, uint64_t mallocs);
void past_free (Past *p);

/* Stores those data of an event to which later events may refer. The flight recorder calls it for
   each event that it drops, oldest event first. */
void past_take (Past *p, const Event *event);

/* Writes the stored data of dropped events (past_take) to a new encoder, as if they were the first
   events of the profile. Sets *totals to the totals of the written allocation samples. */
void past_emit (Past *p, Encoder *e, PastTotals *totals);

/* Returns the number of items that limits have dropped: stacks, names, and survivors whose deaths
   are not reported. */
uint64_t past_left (const Past *p);
/* Returns 1 if memory ran out: samples or names are missing. */
int past_failed (const Past *p);

#endif
