/* SPDX-License-Identifier: MIT */
/* Stacks whose samples have no details yet (repairruns.h). */
#include "repairruns.h"
#include "bounds.h"
#include "list.h"

int repairruns_add (RepairRuns *r, uint64_t what) {
  if (r->n > 0 && r->list[r->n - 1].what == what) {
    r->list[r->n - 1].copies++;
    return 1;
  }
  if (r->n == READER_MAXRUNS)  /* readers then give them up */
    r->n = 0;
  if (!list_grow(&r->list, r->n, &r->size, sizeof(*r->list)))
    return 0;
  r->list[r->n].what = what;
  r->list[r->n++].copies = 1;
  return 1;
}

/* Reads the next triple of Details.counts: number of a sample, periods, equal stacks; triple[0]
   0: none. */
static void nextcount (Fields *f, uint64_t triple[3]) {
  int i;
  for (i = 0; i < 3; i++) {
    if (!details_number(f, &triple[i]))
      triple[0] = 0;
  }
}

int repairruns_fit (RepairRuns *r, const Details *d) {
  Fields counts = d->counts;
  uint64_t i, count[3] = {0, 0, 0};
  size_t at = 0, n = r->n;
  r->n = 0;
  nextcount(&counts, count);
  for (i = 1; i <= d->samples; i++) {
    uint64_t copies = count[0] == i ? count[2] : 1;
    if (at == n || copies == 0 || r->list[at].copies < copies ||
        (count[0] == i && count[1] < copies))
      return 0;
    r->list[at].copies -= copies;
    at += r->list[at].copies == 0;
    if (count[0] == i)
      nextcount(&counts, count);
  }
  return 1;
}

void repairruns_free (RepairRuns *r) {
  free(r->list);
  r->list = NULL;
  r->n = r->size = 0;
}
