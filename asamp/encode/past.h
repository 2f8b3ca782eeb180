/* SPDX-License-Identifier: MIT */
/*
** Keeps data of events that a flight recorder (ring.h) has dropped, as far as later events refer
** to them: names, stacks, periods, and live samples. They form the start of a written profile.
**
**   PA1  list[0] to list[followed - 1] are the survivors whose deaths will be reported,
**        list[followed] to list[n - 1] the undecided samples. Run lengths of later events refer to
**        these positions;
**   PA2  equal stacks of a state are stored once, up to PAST_STACKS bytes. Beyond, samples have no
**        stack and are counted in past_left;
**   PA3  an ended state is dropped when its native samples, which outlive it, are dead.
*/
#ifndef asamp_past_h
#define asamp_past_h

#include "event.h"

typedef struct Past Past;

/* Totals of past_emit. */
typedef struct PastTotals {
  uint64_t samples;     /* live allocation samples, in sampling periods */
  uint64_t bytes;       /* bytes that they represent */
} PastTotals;

/* Makes the data of a recorder that has dropped nothing. 'period' is that of allocation
   samples, 'mallocs' of native memory, bytes. Returns NULL if there is not enough memory. */
Past *past_new (uint64_t period, uint64_t mallocs);
void past_free (Past *p);

/* Takes the next dropped event. */
void past_take (Past *p, const Event *event);

/* Writes the kept data to a new encoder. */
void past_emit (Past *p, Encoder *e, PastTotals *totals);

/* Returns the number of samples without a stack (PA2), names beyond PAST_TEXTS, and survivors
   left out because their deaths are not reported. */
uint64_t past_left (const Past *p);
/* Returns 1 if memory ran out: samples or names are missing. */
int past_failed (const Past *p);

#endif
