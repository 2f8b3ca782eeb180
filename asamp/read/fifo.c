/* SPDX-License-Identifier: MIT */
/* Queue of samples without a survival outcome, in a growing ring buffer (fifo.h). */
#include "fifo.h"
#include "readprofile.h"

#include <stdlib.h>
#include <string.h>

/* Doubles the capacity. Returns 0 if out of memory. */
static int fifo_grow (Fifo *f) {
  size_t size = f->size == 0 ? BOUND_FIRST(1024) : f->size * 2;
  ReadSample *list = malloc(size * sizeof(*list));
  size_t i;
  if (list == NULL)
    return 0;
  for (i = 0; i < f->n; i++)
    list[i] = f->list[(f->head + i) & (f->size - 1)];
  free(f->list);
  f->list = list;
  f->size = size;
  f->head = 0;
  return 1;
}

int fifo_put (Fifo *f, const ReadSample *s) {
  if (f->n == f->size && !fifo_grow(f))
    return 0;
  f->list[(f->head + f->n++) & (f->size - 1)] = *s;
  return 1;
}

ReadSample *fifo_oldest (Fifo *f) {
  return f->n > 0 ? &f->list[f->head] : NULL;
}

int fifo_take (Fifo *f, ReadSample *to) {
  if (f->n == 0)
    return 0;
  *to = f->list[f->head];
  f->head = (f->head + 1) & (f->size - 1);
  f->n--;
  return 1;
}

void fifo_free (Fifo *f) {
  free(f->list);
  memset(f, 0, sizeof(*f));
}
