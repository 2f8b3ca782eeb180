/* SPDX-License-Identifier: MIT */
/* Measures the memory of a state by area and source line (footprint.h). */
#define _GNU_SOURCE
#include "footprint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"
#include "idmap.h"
#include "list.h"
#include "mallocs.h"
#include "mappings.h"

typedef struct Range {
  uintptr_t from, to;
} Range;

/* The address ranges of the blocks of all chunks of the heap, sorted by address. resident: resident
   bytes of the mapped chunks. */
typedef struct Ranges {
  Range *all;
  size_t n, size;
  uint64_t resident;
} Ranges;

/* Sum of the bytes that samples of one source line represent. */
typedef struct Sum {
  uint32_t function, line;
  double bytes;
} Sum;

typedef struct Sums {
  Sum *all;
  size_t n, size;
  IdMap byline;
} Sums;

static void chunk (void *ud, const luaN_ChunkPlace *c) {
  Ranges *r = ud;
  if (c->mapped) r->resident += mappings_resident(c->from, c->size);
  if (!list_grow(&r->all, r->n, &r->size, sizeof(*r->all))) return;
  r->all[r->n].from = (uintptr_t)c->first;
  r->all[r->n++].to = (uintptr_t)c->first + c->bytes;
}

static int byaddress (const void *a, const void *b) {
  const Range *x = a, *y = b;
  return (x->from > y->from) - (x->from < y->from);
}

/* Returns 1 if the address p is in one of the ranges. */
static int isinside (const Ranges *r, const void *p) {
  size_t low = 0, high = r->n;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (r->all[middle].to <= (uintptr_t)p) low = middle + 1;
    else high = middle;
  }
  return low < r->n && r->all[low].from <= (uintptr_t)p;
}

static void footprint_add (Sums *s, const Birth *b, double bytes) {
  uint64_t key = ((uint64_t)b->function << 32 | b->line) + 1;
  uint32_t at = idmap_get(&s->byline, key);
  if (at == IDMAP_NONE) {
    at = (uint32_t)s->n;
    if (!list_grow(&s->all, s->n, &s->size, sizeof(*s->all)) ||
        !idmap_set(&s->byline, key, at)) return;
    s->all[s->n].function = b->function;
    s->all[s->n].line = b->line;
    s->all[s->n++].bytes = 0;
  }
  s->all[at].bytes += bytes;
}

static void addup (Sums sums[FOOTPRINT_SORTS], lua_State *L, const Followed *followed,
                   const Ranges *ranges) {
  size_t i;
  for (i = 0; i < followed->n; i++) {
    const FollowedSample *s = &followed->samples[i];
    const void *at = (s->block != NULL) ? s->block : s->owner;
    uint64_t used, unused;
    if (s->owner == NULL && s->block == NULL) continue;
    if (mallocs_isowner(s->owner)) {
      if (!mallocs_isfreed(s->owner))  /* the sample of a freed block stays in the list until the
                                          next collection, but is not counted */
        footprint_add(&sums[FOOTPRINT_NATIVE], &s->birth, (double)s->birth.bytes);
    }
    else if (isinside(ranges, at)) {
      luaN_beside(L, at, &used, &unused);
      if (used > 0 && unused > 0)
        footprint_add(&sums[FOOTPRINT_FREE], &s->birth,
                      (double)s->birth.bytes * (double)unused / (double)used);
    }
  }
}

static int bybytes (const void *a, const void *b) {
  const Sum *x = a, *y = b;
  if (x->bytes != y->bytes) return (x->bytes < y->bytes) - (x->bytes > y->bytes);
  if (x->function != y->function) return (x->function > y->function) - (x->function < y->function);
  return (x->line > y->line) - (x->line < y->line);
}

char *footprint_where (const BirthFunctions *functions, uint32_t function, uint32_t line) {
  const BirthFunction *f = births_named(functions, function);
  char *text;
  if (f == NULL || f->source == NULL) return strdup("?");
  return (asprintf(&text, "%s:%u", f->source, (unsigned)line) < 0) ? NULL : text;
}

/* Copies the FOOTPRINT_LINES source lines with most bytes to f->lines[sort]. Adds the bytes of the
   other lines to f->rest[sort]. */
static void lines (Footprint *f, int sort, Sums *s, const BirthFunctions *functions) {
  size_t i, n = (s->n < FOOTPRINT_LINES) ? s->n : FOOTPRINT_LINES;
  if (s->n == 0) return;
  qsort(s->all, s->n, sizeof(*s->all), bybytes);
  f->lines[sort] = calloc(n, sizeof(*f->lines[sort]));
  for (i = 0; i < s->n; i++) {
    char *where = (i < n && f->lines[sort] != NULL)
                    ? footprint_where(functions, s->all[i].function, s->all[i].line) : NULL;
    if (where == NULL) {
      f->rest[sort] += (uint64_t)s->all[i].bytes;
      continue;
    }
    f->lines[sort][f->n[sort]].where = where;
    f->lines[sort][f->n[sort]++].bytes = (uint64_t)s->all[i].bytes;
  }
}

void footprint_take (Footprint *f, lua_State *L, const Followed *followed,
                     const BirthFunctions *functions) {
  Ranges ranges = {NULL, 0, 0, 0};
  Sums sums[FOOTPRINT_SORTS];
  luaN_Memory m;
  int sort;
  memset(f, 0, sizeof(*f));
  memset(sums, 0, sizeof(sums));
  luaN_places(L, &f->places, chunk, &ranges);
  luaN_memory(L, &m);
  f->resident = ranges.resident;
  f->outside = m.outside;
  if (ranges.n > 0) qsort(ranges.all, ranges.n, sizeof(*ranges.all), byaddress);
  addup(sums, L, followed, &ranges);
  for (sort = 0; sort < FOOTPRINT_SORTS; sort++) {
    lines(f, sort, &sums[sort], functions);
    free(sums[sort].all);
    idmap_free(&sums[sort].byline);
  }
  free(ranges.all);
}

void footprint_free (Footprint *f) {
  int sort;
  size_t i;
  for (sort = 0; sort < FOOTPRINT_SORTS; sort++) {
    for (i = 0; i < f->n[sort]; i++) free(f->lines[sort][i].where);
    free(f->lines[sort]);
  }
  memset(f, 0, sizeof(*f));
}
