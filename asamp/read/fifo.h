/* SPDX-License-Identifier: MIT */
/*
** Queue of the allocation samples of one Lua state whose survival outcome was not read yet, oldest
** first. Invariants:
**
**   FI1  the queue has at most FIFO_MOST samples. If it is full, the caller gives up the oldest
**        sample before it adds another one: it calls fifo_take, delivers the sample as one without
**        an outcome, and increments 'passed';
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

/* The queue of allocation samples whose survival outcome was not read yet. All zero: empty. */
typedef struct Fifo {
  struct ReadSample *list;
  size_t head, n, size;  /* 'list' is a ring buffer: index of the oldest sample, number of samples,
			    and capacity, a power of 2 */
  uint64_t passed;       /* number of samples removed because the queue was full (FI1) whose
                            outcomes were not read yet; these outcomes will be ignored (FI2) */
} Fifo;

/* Appends a copy of *s to the queue, which must have less than FIFO_MOST samples (FI1). Returns 0
   if there is not enough memory. */
int fifo_put (Fifo *f, const struct ReadSample *s);
/* Removes the oldest sample and copies it to *to. Returns 0 if there is none. */
int fifo_take (Fifo *f, struct ReadSample *to);
/* Returns the oldest sample, which may be modified until the next call; NULL if there is none. */
struct ReadSample *fifo_oldest (Fifo *f);
/* Frees the memory of the queue, which is then empty. */
void fifo_free (Fifo *f);

#endif
