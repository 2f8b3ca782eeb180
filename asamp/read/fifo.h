/* SPDX-License-Identifier: MIT */
/*
** A queue of the samples that have no fate yet, oldest first.
** Invariants:
**   FI1  it holds at most FIFO_MOST samples. When it is full the caller gives the oldest
**        one up before it adds another: fifo_take, and 'passed' goes up by one;
**   FI2  fates come in the order of the samples, so the next 'passed' fates are those of
**        samples that were given up, and are ignored.
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
