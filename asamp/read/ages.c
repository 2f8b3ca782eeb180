/* SPDX-License-Identifier: MIT */
/*
** Survival by age. See ages.h.
*/
#include "ages.h"
#include "list.h"

#include <math.h>
#include <stdlib.h>

#define EIGHTHS	8

int ages_add (Ages *a, uint64_t bytes, uint64_t period, int survived) {
  if (a->n == AGES_OPEN)
    return 1;
  if (!list_grow(&a->open, a->n, &a->size, sizeof(*a->open)))
    return 0;
  a->open[a->n].bytes = bytes;
  a->open[a->n].square = (double)bytes * (double)period;
  a->open[a->n++].survived = survived;
  return 1;
}

static size_t binof (uint64_t age) {
  double k;
  if (age < AGES_FIRST)
    return 0;
  k = 1 + EIGHTHS * log2((double)age / AGES_FIRST);
  return k < AGES_BINS ? (size_t)k : AGES_BINS - 1;
}

void ages_settle (Ages *a, uint64_t n) {
  uint64_t behind = 0;
  size_t i = a->n;
  if (a->n < AGES_OPEN) {
    while (i-- > 0) {
      Age *to = &a->bins[binof(behind)];
      to->bytes += (double)a->open[i].bytes;
      to->squares += a->open[i].square;
      if (a->open[i].survived)
        to->survived += (double)a->open[i].bytes;
      behind += a->open[i].bytes;
    }
  }
  for (i = 0; i <= binof(behind); i++)
    a->bins[i].collections++;
  a->bins[0].collections += n;
  a->n = 0;
}

void ages_free (Ages *a) {
  free(a->open);
}
