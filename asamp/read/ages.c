/* SPDX-License-Identifier: MIT */
/* Survival by age (ages.h). */
#include "ages.h"
#include "list.h"

#include <math.h>
#include <stdlib.h>

int ages_add (Ages *a, uint64_t bytes, int survived) {
  if (a->n == AGES_OPEN)
    return 1;
  if (!list_grow(&a->open, a->n, &a->size, sizeof(*a->open)))
    return 0;
  a->open[a->n].bytes = bytes;
  a->open[a->n++].survived = survived;
  return 1;
}

/* Returns the bin of u or v: the number of bytes allocated after a byte until the next collection
   (u), or before it since the previous collection (v). The widths of the bins are given by AG1. */
static size_t binof (double length) {
  double k;
  if (!(length >= AGES_FIRST))
    return 0;
  k = 1 + AGES_DOUBLING * log2(length / AGES_FIRST);
  return k < AGES_BINS ? (size_t)k : AGES_BINS - 1;
}

/* Adds a sample to the table. The sample represents a run of successive bytes of a nursery. 'from'
   and 'to': number of bytes allocated after the last and after the first byte of this run, until
   the collection. 'all': bytes allocated in the whole nursery. 'weight': factor from bytes of the
   nursery to bytes that samples represent. 'survived' 1: the sample's block survived. */
static void spread (Ages *a, double from, double to, double all, double weight, int survived) {
  size_t k;
  for (k = binof(from); from < to; k++) {
    double end = k < AGES_BINS - 1 ? fmin(AGES_FIRST * exp2((double)k / AGES_DOUBLING), to) : to;
    if (end > from) {
      Age *cell = &a->cells[k * AGES_BINS + binof(all - (from + end) / 2)];
      cell->bytes += (end - from) * weight;
      if (survived)
        cell->survived += (end - from) * weight;
      from = end;
    }
  }
}

int ages_settle (Ages *a, uint64_t charged) {
  double sum = 0, all = (double)charged, sofar = 0;
  size_t i;
  for (i = 0; i < a->n; i++)
    sum += (double)a->open[i].bytes;
  if (sum > 0 && a->n < AGES_OPEN) {
    if (a->cells == NULL &&
        (a->cells = calloc((size_t)AGES_BINS * AGES_BINS, sizeof(*a->cells))) == NULL)
      return 0;
    if (charged == 0)
      all = sum;
    for (i = a->n; i-- > 0; ) {
      double part = (double)a->open[i].bytes / sum * all;
      spread(a, sofar, sofar + part, all, sum / all, a->open[i].survived);
      sofar += part;
    }
  }
  a->n = 0;
  return 1;
}

void ages_free (Ages *a) {
  free(a->open);
  free(a->cells);
}
