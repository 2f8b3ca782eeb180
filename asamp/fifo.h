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

#include <stddef.h>
#include <stdint.h>

#define FIFO_MOST	(2u << 20)

struct ReadSample;

typedef struct Fifo {
  struct ReadSample *list;
  size_t head, n, size;  /* 'n' from list[head], around the end; size: a power of 2 */
  uint64_t passed;
} Fifo;

/* Puts a copy at the end; 0 without memory. The queue is not full. */
int fifo_put (Fifo *f, const struct ReadSample *s);
/* The oldest, taken out; NULL when there is none. Holds until the next put. */
struct ReadSample *fifo_take (Fifo *f);
void fifo_free (Fifo *f);

#endif
