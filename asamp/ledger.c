/* SPDX-License-Identifier: MIT */
/*
** Totals per site, and the queue of samples whose fate is open. The
** invariants are in ledger.h.
*/
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

typedef struct OpenSample {
  uint32_t node;
  uint32_t kind;
  uint64_t count;
  uint64_t period;
} OpenSample;

static Site *site (Ledger *l, uint32_t node, uint32_t kind) {
  int isnew = 0;
  uint64_t key = ((uint64_t)node + 1) << 16 | kind;  /* never 0 */
  uint32_t *index;
  if (l->nsites >= LEDGER_MAXSITES && idmap_find(&l->bykey, key) == NULL) {
    node = 0;
    key = (uint64_t)1 << 16 | kind;
  }
  index = idmap_at(&l->bykey, key, &isnew);
  if (index == NULL) {
    l->failed = 1;
    return NULL;
  }
  if (isnew) {
    if (l->nsites == l->sitesize) {
      size_t size = l->sitesize == 0 ? 256 : l->sitesize * 2;
      Site *sites = realloc(l->sites, size * sizeof(*sites));
      if (sites == NULL) {
        l->failed = 1;
        *index = UINT32_MAX;
        return NULL;
      }
      l->sites = sites;
      l->sitesize = size;
    }
    memset(&l->sites[l->nsites], 0, sizeof(*l->sites));
    l->sites[l->nsites].node = node;
    l->sites[l->nsites].kind = kind;
    *index = (uint32_t)l->nsites++;
  }
  return *index == UINT32_MAX ? NULL : &l->sites[*index];
}

/* Counts a sample; 'fate' is 1 survived, 0 died, -1 undecided. */
static void count (Ledger *l, const OpenSample *s, uint32_t kind, int fate) {
  Site *at = site(l, s->node, kind);
  if (at == NULL)
    return;
  at->samples += s->count;
  at->bytes += s->count * s->period;
  if (fate > 0) {
    at->survived += s->count;
    at->survivedbytes += s->count * s->period;
  }
  else if (fate < 0)
    at->undecided += s->count;
}

/* Room at the queue's end: moves it to the front, or doubles it. */
static int makeroom (Ledger *l) {
  if (l->head > l->opensize / 2) {
    memmove(l->open, l->open + l->head,
            (l->tail - l->head) * sizeof(*l->open));
    l->tail -= l->head;
    l->head = 0;
  }
  else {
    size_t size = l->opensize == 0 ? 1024 : l->opensize * 2;
    OpenSample *open = realloc(l->open, size * sizeof(*open));
    if (open == NULL)
      return 0;
    l->open = open;
    l->opensize = size;
  }
  return 1;
}

void ledger_open (Ledger *l, uint32_t node, uint32_t kind, uint64_t n,
                  uint64_t period) {
  OpenSample s = {node, kind, n, period};
  if (l->tail - l->head == LEDGER_MAXOPEN) {
    const OpenSample *oldest = &l->open[l->head++];
    count(l, oldest, oldest->kind, -1);
    l->passed++;
  }
  if (l->tail == l->opensize && !makeroom(l)) {
    l->failed = 1;
    return;
  }
  l->open[l->tail++] = s;
}

uint64_t ledger_decide (Ledger *l, int kind, int survived) {
  const OpenSample *s;
  if (l->passed > 0) {
    l->passed--;
    return 0;
  }
  if (l->head == l->tail)
    return 0;
  s = &l->open[l->head++];
  count(l, s, kind >= 0 ? (uint32_t)kind : s->kind, survived);
  return s->count;
}

void ledger_add (Ledger *l, uint32_t node, uint32_t kind, uint64_t n,
                 uint64_t period) {
  OpenSample s = {node, kind, n, period};
  count(l, &s, kind, 0);
}

void ledger_settle (Ledger *l) {
  for (; l->head < l->tail; l->head++)
    count(l, &l->open[l->head], l->open[l->head].kind, -1);
  l->head = l->tail = 0;
}

void ledger_free (Ledger *l) {
  free(l->sites);
  free(l->open);
  idmap_free(&l->bykey);
  memset(l, 0, sizeof(*l));
}
