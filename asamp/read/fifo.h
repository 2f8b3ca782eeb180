/* SPDX-License-Identifier: MIT */
/*
** Queue of the undecided samples of a stream, oldest first. Invariants:
**
**   FI1  the queue has at most FIFO_MOST samples. If it is full, the caller gives up the oldest
**        sample before it adds another one: it calls fifo_take and increments 'passed';
**   FI2  outcomes have the same order as the samples, so the next 'passed' outcomes belong to the
**        samples that were given up. For each of them, the caller ignores the outcome and
**        decrements 'passed'.
*/
#ifndef asamp_fifo_h
#define asamp_fifo_h

#include "bounds.h"

#include <stddef.h>
#include <stdint.h>

struct ReadSample;

/* The queue. All zero: empty. */
typedef struct Fifo {
  struct ReadSample *list;
  size_t head, n, size;  /* 'list' is a ring buffer: index of the oldest sample, number of samples,
			    and capacity, a power of 2 */
  uint64_t passed;       /* number of samples given up whose outcomes have not been read (FI2) */
} Fifo;

/* Appends a copy of *s to the queue, which must not be full (FI1). Returns 0 if there is not enough
   memory. */
int fifo_put (Fifo *f, const struct ReadSample *s);
/* Removes the oldest sample and copies it to *to. Returns 0 if there is none. */
int fifo_take (Fifo *f, struct ReadSample *to);
/* Returns the oldest sample, which may be modified until the next call; NULL if there is none. */
struct ReadSample *fifo_oldest (Fifo *f);
/* Frees the samples; the queue is then empty. */
void fifo_free (Fifo *f);

#endif
