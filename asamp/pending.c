/* SPDX-License-Identifier: MIT */
/*
** Samples without a fate (pending.h).
*/
#include "pending.h"

#include <stdlib.h>
#include <string.h>

#define TOMB	SIZE_MAX	/* a given-up slot of the index */


void pending_close (Pending *p) {
  free(p->samples);
  free(p->survived);
  free(p->classes);
  free(p->index);
  memset(p, 0, sizeof(*p));
}


/* First slot to look at: Fibonacci hashing of the granule number. */
static size_t slotof (const Pending *p, const void *block) {
  uint64_t h = ((uint64_t)(uintptr_t)block >> 3) * UINT64_C(0x9E3779B97F4A7C15);
  return (size_t)(h >> 32) & (p->indexsize - 1);
}


static void put (Pending *p, size_t sample) {
  size_t i = slotof(p, p->samples[sample].block);
  while (p->index[i] != 0 && p->index[i] != TOMB)
    i = (i + 1) & (p->indexsize - 1);
  if (p->index[i] == TOMB) p->ntombs--;
  p->index[i] = sample + 1;
}


/* Makes the index at most half full, given-up slots included. */
static int growindex (Pending *p) {
  size_t *old = p->index, *index;
  size_t oldsize = p->indexsize, i;
  size_t size = (oldsize == 0) ? 64 : oldsize;
  if (2 * (p->nwatched + p->ntombs + 1) <= oldsize) return 1;
  while (4 * (p->nwatched + 1) > size) size *= 2;
  index = calloc(size, sizeof(*index));
  if (index == NULL) return 0;
  p->index = index;
  p->indexsize = size;
  p->ntombs = 0;
  for (i = 0; i < oldsize; i++)
    if (old[i] != 0 && old[i] != TOMB) put(p, old[i] - 1);
  free(old);
  return 1;
}


static int growlist (Pending *p) {
  if (p->n == p->capacity) {
    size_t capacity = (p->capacity == 0) ? 64 : 2 * p->capacity;
    PendingSample *samples = realloc(p->samples, capacity * sizeof(*samples));
    unsigned char *survived;
    uint32_t *classes;
    if (samples == NULL) return 0;
    p->samples = samples;
    survived = realloc(p->survived, capacity);
    if (survived == NULL) return 0;
    p->survived = survived;
    classes = realloc(p->classes, capacity * sizeof(*classes));
    if (classes == NULL) return 0;
    p->classes = classes;
    p->capacity = capacity;
  }
  return 1;
}


int pending_add (Pending *p, const void *owner, const void *block) {
  PendingSample *s;
  if (!growlist(p) || (block != NULL && !growindex(p))) return 0;
  s = &p->samples[p->n++];
  s->owner = owner;
  s->block = block;
  s->died = 0;
  if (block != NULL) {
    put(p, p->n - 1);
    p->nwatched++;
  }
  return 1;
}


int pending_freed (Pending *p, const void *block) {
  size_t i;
  if (p->nwatched == 0) return 0;
  for (i = slotof(p, block); p->index[i] != 0;
       i = (i + 1) & (p->indexsize - 1)) {
    size_t sample = p->index[i] - 1;
    if (p->index[i] != TOMB && p->samples[sample].block == block) {
      p->samples[sample].died = 1;
      p->samples[sample].block = NULL;
      p->index[i] = TOMB;
      p->ntombs++;
      p->nwatched--;
      return 1;
    }
  }
  return 0;
}


PendingFates pending_fates (Pending *p, const PendingJudge *judge) {
  PendingFates f = {p->n, p->survived, NULL};
  size_t i;
  for (i = 0; i < p->n; i++) {
    const PendingSample *s = &p->samples[i];
    p->survived[i] = !s->died &&
                     (s->owner == NULL || !judge->dead(judge->ud, s->owner));
    p->classes[i] = (s->owner == NULL) ? 0 : judge->classof(judge->ud, s->owner);
    if (p->classes[i] != 0) f.classes = p->classes;
  }
  if (p->nwatched + p->ntombs > 0)
    memset(p->index, 0, p->indexsize * sizeof(*p->index));
  p->n = p->nwatched = p->ntombs = 0;
  return f;
}
