/* SPDX-License-Identifier: MIT */
/* Keeps the list of samples that have survived a collection and are still alive (followed.h). */
#include "followed.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

/* followed_deaths, at element i of the list, prefetches the owner of the sample at element i +
   PREFETCH_DISTANCE. */
#define PREFETCH_DISTANCE	16

void followed_close (Followed *f) {
  free(f->samples);
  free(f->runs);
  blocks_free(&f->watched);
  followed_forget(f);
}

void followed_forget (Followed *f) {
  memset(f, 0, sizeof(*f));
}

/* Enlarges the list. Returns 0 if it has FOLLOWED_MOST samples or if out of memory. Not inlined, so
   that followed_add stays fast while there is space. */
static __attribute__((noinline)) int growlist (Followed *f) {
  size_t samples = f->capacity, runs = samples;
  if (f->n == FOLLOWED_MOST) return 0;
  if (!list_room(&f->runs, 2 * f->capacity + 257, &runs, sizeof(*f->runs)) ||
      !list_grow(&f->samples, f->n, &samples, sizeof(*f->samples)))
    return 0;
  f->capacity = samples;
  return 1;
}

int followed_add (Followed *f, const void *owner, const void *block) {
  if (f->n == f->capacity && !growlist(f)) return 0;
  if (block != NULL && !blocks_room(&f->watched)) return 0;
  f->samples[f->n].owner = owner;
  f->samples[f->n].block = block;
  f->samples[f->n].queried = 0;
  if (block != NULL) f->samples[f->n].before = (uint32_t)blocks_put(&f->watched, block, f->n);
  f->n++;
  return 1;
}

int followed_freed (Followed *f, const void *block) {
  size_t sample;
  if (!blocks_take(&f->watched, block, &sample)) return 0;
  do {
    f->samples[sample].owner = f->samples[sample].block = NULL;
    f->nfreed++;
    sample = f->samples[sample].before;
  } while (sample != FOLLOWED_NONE);
  return 1;
}

int followed_resized (Followed *f, const BlockResized *r) {
  size_t sample;
  uint32_t next;
  if (f->watched.n == 0 || !blocks_room(&f->watched)) return followed_freed(f, r->from);
  if (!blocks_take(&f->watched, r->from, &sample)) return 0;
  for (; sample != FOLLOWED_NONE; sample = next) {
    FollowedSample *s = &f->samples[sample];
    next = s->before;
    if (pending_stays(r)) {
      s->block = r->to;
      s->before = (uint32_t)blocks_put(&f->watched, r->to, sample);
    }
    else {
      s->owner = s->block = NULL;
      f->nfreed++;
    }
  }
  return 1;
}

/* Rebuilds the table of watched blocks after samples were removed, because their indexes have
   changed. Allocates nothing: the table only shrinks. */
static void renumber (Followed *f) {
  size_t i;
  if (f->watched.n == 0) return;
  blocks_clear(&f->watched);
  for (i = 0; i < f->n; i++)
    if (f->samples[i].block != NULL)
      f->samples[i].before = (uint32_t)blocks_put(&f->watched, f->samples[i].block, i);
}

FollowedDeaths followed_deaths (Followed *f, const PendingJudge *judge) {
  FollowedDeaths d = {f->runs, 0};
  size_t i, from = 0, n = 0;
  int dead = 0;  /* state of the samples from index 'from' to i - 1: 1: dead, 0: alive */
  for (i = 0; i < f->n; i++) {
    const FollowedSample *s = &f->samples[i];
    int died = (s->owner == NULL) ? (s->block == NULL)
                                  : judge->dead(judge->ud, s->owner);
    if (i + PREFETCH_DISTANCE < f->n) __builtin_prefetch(s[PREFETCH_DISTANCE].owner);
    if (died != dead) {
      f->runs[d.n++] = (uint32_t)(i - from);
      from = i;
      dead = died;
    }
    if (!died) f->samples[n++] = *s;
  }
  if (dead) f->runs[d.n++] = (uint32_t)(i - from);
  f->nfreed = 0;
  if (n < f->n) {
    f->n = n;
    renumber(f);
  }
  return d;
}
