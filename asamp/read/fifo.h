/* SPDX-License-Identifier: MIT */
/*
** Queue of the undecided samples, oldest first. Invariants:
**
**   FI1  it holds at most FIFO_MOST samples. If it is full, the caller gives up the oldest one
**        before it adds another: calls fifo_take and increments 'passed';
**   FI2  outcomes come in the order of the samples, so the next 'passed' outcomes belong to
**        samples given up, and are ignored.
*/
#ifndef asamp_fifo_h
#define asamp_fifo_h

#include "bounds.h"

#include <stddef.h>
#include <stdint.h>

struct ReadSample;

typedef struct Fifo {
  struct ReadSample *list;
  size_t head, n, size;  /* 'n' samples from list[head] on, cyclically; size is a power of 2 */
  uint64_t passed;
} Fifo;

/* Appends a copy; the queue must not be full. Returns 0 if there is not enough memory. */
int fifo_put (Fifo *f, const struct ReadSample *s);
/* Removes the oldest sample and copies it to 'to'. Returns 0 if there is none. */
int fifo_take (Fifo *f, struct ReadSample *to);
/* Returns the oldest sample for modification; NULL if there is none. */
struct ReadSample *fifo_oldest (Fifo *f);
void fifo_free (Fifo *f);

#endif
