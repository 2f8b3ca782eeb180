/* SPDX-License-Identifier: MIT */
/*
** A queue of samples whose fate is open, oldest first.
** Invariants:
**   FI1  it holds at most FIFO_MOST samples. Who puts another one takes the
**        oldest out first and counts it in 'passed': its fate, when it comes,
**        is passed over;
**   FI2  fates are told to 'passed' samples first, then to those in the queue.
*/
#ifndef asamp_fifo_h
#define asamp_fifo_h

#include "bounds.h"

#include <stddef.h>
#include <stdint.h>

struct ReadSample;

typedef struct Fifo {
  struct ReadSample *list;
  size_t head, n, size;  /* 'n' from list[head], around the end; size: a power of 2 */
  uint64_t passed;
} Fifo;

/* Puts a copy at the end; 0 without memory. The queue is not full. */
int fifo_put (Fifo *f, const struct ReadSample *s);
/* Takes the oldest one out, to 'to'; 0 when there is none. */
int fifo_take (Fifo *f, struct ReadSample *to);
/* The oldest one, to be changed at once; NULL when there is none. */
struct ReadSample *fifo_oldest (Fifo *f);
void fifo_free (Fifo *f);

#endif
