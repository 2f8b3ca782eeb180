/* SPDX-License-Identifier: MIT */
/* Totals by slice (a range of time or of allocated bytes), call tree node and kind of block
   (bins.h). */
#include "bins.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

void bins_init (Bins *b, uint32_t most) {
  memset(b, 0, sizeof(*b));
  b->most = most;
  b->width = 1;
}

void bins_free (Bins *b) {
  free(b->rows);
  idmap_free(&b->bykey);
}

#define NOROW	SIZE_MAX

/* Returns the key of a row in 'bykey': 14 bits for the bin, 22 for the node, 24 for the kind; + 1,
   because an IdMap cannot store 0. */
static uint64_t keyof (uint32_t bin, uint32_t node, uint32_t kind) {
  return ((uint64_t)bin << 46 | (uint64_t)node << 24 | kind) + 1;
}

/* Returns the index of the row of a bin, node and kind; creates the row if needed. If there are
   BINS_MAXROWS rows, adds 'count' (sampling periods) to 'left' and returns the index of a row of
   node 0 (B3). Returns NOROW if out of memory. */
static size_t rowof (Bins *b, uint32_t bin, uint32_t node, uint32_t kind, uint64_t count) {
  uint64_t key = keyof(bin, node, kind);
  uint32_t known = idmap_get(&b->bykey, key);
  if (known != IDMAP_NONE)
    return known;
  if (b->n >= BINS_MAXROWS && (node != 0 || kind > READER_TIMESAMPLE)) {
    b->left += count;
    return rowof(b, bin, 0, kind == READER_TIMESAMPLE, 0);
  }
  if (!list_grow(&b->rows, b->n, &b->size, sizeof(*b->rows)) ||
      !idmap_set(&b->bykey, key, (uint32_t)b->n))
    return NOROW;
  memset(&b->rows[b->n], 0, sizeof(*b->rows));
  b->rows[b->n].bin = bin;
  b->rows[b->n].node = node;
  b->rows[b->n].kind = kind;
  return b->n++;
}

static void bins_addrow (BinRow *to, const BinRow *from) {
  to->samples += from->samples;
  to->bytes += from->bytes;
  to->survived += from->survived;
  to->survivedbytes += from->survivedbytes;
  to->later += from->later;
  to->laterbytes += from->laterbytes;
  to->undecided += from->undecided;
  to->undecidedbytes += from->undecidedbytes;
  to->ns += from->ns;
  if (from->last > to->last)
    to->last = from->last;
}

/* Doubles the length of the slices (of time or of allocated bytes), so that the number of each
   slice (its bin) is halved. Merges rows that then have the same bin, node and kind. */
static void widen (Bins *b) {
  size_t i, n = b->n;
  b->width *= 2;
  b->n = 0;
  idmap_free(&b->bykey);
  for (i = 0; i < n; i++) {
    BinRow from = b->rows[i];
    size_t to = rowof(b, from.bin / 2, from.node, from.kind, 0);
    if (to == NOROW) {
      b->failed = 1;
      return;
    }
    bins_addrow(&b->rows[to], &from);
  }
}

/* Adds the totals 'from' to the slice (range of time or of allocated bytes) that contains the
   position 'at': to the row of the call tree node 'node' and the kind 'kind' in this slice. */
static void addto (Bins *b, uint64_t at, uint32_t node, uint32_t kind, const BinRow *from) {
  size_t to;
  while (at / b->width >= b->most && !b->failed)
    widen(b);
  to = b->failed ? NOROW : rowof(b, (uint32_t)(at / b->width), node, kind, from->samples);
  if (to == NOROW)
    b->failed = 1;
  else
    bins_addrow(&b->rows[to], from);
}

void bins_addat (Bins *b, const ReadSample *s, int fate, uint64_t at, uint32_t node,
                 uint32_t kind) {
  BinRow from = {.samples = s->count, .last = s->time};
  if (b->most == 0 || b->failed)
    return;
  if (s->kind == READER_TIMESAMPLE)
    from.ns = readsample_bytes(s);
  else {
    from.bytes = readsample_bytes(s);
    if (fate == READER_SURVIVED) {
      from.survived = from.samples;
      from.survivedbytes = from.bytes;
    }
    else if (fate == READER_UNDECIDED) {
      from.undecided = from.samples;
      from.undecidedbytes = from.bytes;
    }
  }
  addto(b, at, node, kind, &from);
}

void bins_add (Bins *b, const ReadSample *s, int fate) {
  bins_addat(b, s, fate, s->time, s->node, s->kind);
}

void bins_deathat (Bins *b, const ReadSample *s, uint64_t at) {
  BinRow from = {.later = s->count, .laterbytes = readsample_bytes(s)};
  uint32_t i;
  int isown;
  if (b->most == 0 || b->failed)
    return;
  /* The survivor may have been counted at node 0 without a kind, because there were BINS_MAXROWS
     rows (B3). A row of its own node may exist nevertheless: doubling the width merges rows, and
     later samples can then create rows again. So the death is counted in that row only if the row
     has s->count survivors that have not died. */
  i = idmap_get(&b->bykey, keyof((uint32_t)(at / b->width), s->node, s->kind));
  isown = i != IDMAP_NONE && b->rows[i].survived - b->rows[i].later >= s->count;
  addto(b, at, isown ? s->node : 0, isown ? s->kind : READER_UNKNOWN, &from);
}

void bins_death (Bins *b, const ReadSample *s) {
  bins_deathat(b, s, s->time);
}

/* Orders rows by bin, node and kind. */
static int order (const void *a, const void *b) {
  const BinRow *x = a, *y = b;
  if (x->bin != y->bin)
    return x->bin < y->bin ? -1 : 1;
  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  return x->kind < y->kind ? -1 : x->kind > y->kind;
}

void bins_finish (Bins *b, uint64_t scale) {
  size_t i;
  if (b->n > 0)
    qsort(b->rows, b->n, sizeof(*b->rows), order);
  for (i = 0; i < b->n; i++) {
    b->rows[i].bytes *= scale;
    b->rows[i].survivedbytes *= scale;
    b->rows[i].laterbytes *= scale;
    b->rows[i].undecidedbytes *= scale;
  }
}
