/* SPDX-License-Identifier: MIT */
/*
** Queue of the allocation samples of one Lua state for which the reader has not read yet whether
** they died or survived ("outcome"), oldest first.
**
**   FI1  at most FIFO_MOST samples. If the queue is full, the caller takes out the oldest one,
**        delivers it without an outcome and increments 'passed';
**   FI2  the file has outcomes in the order of the samples. So the next 'passed' outcomes in the
**        file are of samples that the caller has taken out of the full queue. For each of these
**        outcomes, the caller only decrements 'passed'.
*/
#ifndef asamp_fifo_h
#define asamp_fifo_h

#include "bounds.h"

#include <stddef.h>
#include <stdint.h>

struct ReadSample;

/* The queue. If all bytes are 0, it is empty. */
typedef struct Fifo {
  struct ReadSample *list;
  size_t head, n, size;  /* ring buffer: index of the oldest sample, number of samples, capacity
                            (a power of 2) */
  uint64_t passed;       /* number of samples that were taken out of the full queue and whose
                            outcome was not read yet */
} Fifo;

/* Appends a copy of *s. The queue must not be full. Returns 0 if out of memory. */
int fifo_put (Fifo *f, const struct ReadSample *s);
/* Removes the oldest sample and copies it to *to. Returns 0 if there is none. */
int fifo_take (Fifo *f, struct ReadSample *to);
/* Returns the oldest sample, which may be modified; NULL: none. */
struct ReadSample *fifo_oldest (Fifo *f);
/* Frees the memory of the queue. The queue is then empty. */
void fifo_free (Fifo *f);

#endif
