/* SPDX-License-Identifier: MIT */
/*
** Samples without a fate (pending.h).
*/
#include "pending.h"

#include <stdlib.h>
#include <string.h>


void pending_close (Pending *p) {
  free(p->samples);
  free(p->survived);
  free(p->classes);
  blocks_free(&p->watched);
  pending_forget(p);
}


void pending_forget (Pending *p) {
  memset(p, 0, sizeof(*p));
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
  if (!growlist(p) || (block != NULL && !blocks_room(&p->watched))) return 0;
  s = &p->samples[p->n++];
  s->owner = owner;
  s->block = block;
  s->died = 0;
  if (block != NULL) s->before = blocks_put(&p->watched, block, p->n - 1);
  return 1;
}


int pending_freed (Pending *p, const void *block) {
  size_t sample;
  if (!blocks_take(&p->watched, block, &sample)) return 0;
  do {
    p->samples[sample].died = 1;
    p->samples[sample].block = NULL;
    sample = p->samples[sample].before;
  } while (sample != BLOCKS_NONE);
  return 1;
}


PendingFates pending_fates (Pending *p, const PendingJudge *judge) {
  PendingFates f = {p->n, p->survived, NULL, p->samples};
  size_t i;
  for (i = 0; i < p->n; i++) {
    const PendingSample *s = &p->samples[i];
    p->survived[i] = !s->died &&
                     (s->owner == NULL || !judge->dead(judge->ud, s->owner));
    p->classes[i] = (s->owner == NULL) ? 0 : judge->classof(judge->ud, s->owner);
    if (p->classes[i] != 0) f.classes = p->classes;
  }
  blocks_clear(&p->watched);
  p->n = 0;
  return f;
}
