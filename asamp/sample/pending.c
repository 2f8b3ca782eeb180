/* SPDX-License-Identifier: MIT */
/* Keeps the list of samples whose survival is not decided yet (pending.h). */
#include "pending.h"
#include "list.h"

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

/* Enlarges the list. Returns 0 if out of memory. Not inlined, so that pending_add stays fast while
   there is space. */
static __attribute__((noinline)) int growlist (Pending *p) {
  size_t samples = p->capacity, survived = samples, classes = samples;
  if (!list_grow(&p->survived, p->n, &survived, sizeof(*p->survived)) ||
      !list_grow(&p->classes, p->n, &classes, sizeof(*p->classes)) ||
      !list_grow(&p->samples, p->n, &samples, sizeof(*p->samples)))
    return 0;
  p->capacity = samples;
  return 1;
}

int pending_add (Pending *p, const void *owner, const void *block) {
  PendingSample *s;
  if ((p->n == p->capacity && !growlist(p)) ||
      (block != NULL && !blocks_room(&p->watched)))
    return 0;
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

int pending_stays (const BlockResized *r) {
  return r->after >= r->before || interval_draw(r->random, r->before) < r->after;
}

int pending_resized (Pending *p, const BlockResized *r) {
  size_t sample, next;
  if (p->watched.n == 0 || !blocks_room(&p->watched)) return pending_freed(p, r->from);
  if (!blocks_take(&p->watched, r->from, &sample)) return 0;
  for (; sample != BLOCKS_NONE; sample = next) {
    PendingSample *s = &p->samples[sample];
    next = s->before;
    s->died = !pending_stays(r);
    s->block = s->died ? NULL : r->to;
    if (!s->died) s->before = blocks_put(&p->watched, r->to, sample);
  }
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
