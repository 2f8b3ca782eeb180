/* SPDX-License-Identifier: MIT */
/* The list of live survivors whose death the file records (readerfollow.h). */
#include "readerfollow.h"
#include "spare.h"

#include <stdlib.h>
#include <string.h>

/* In the leaf of the slot and in all nodes above it, adds 'more' to the number of live samples and
   'native' to the number of live samples of native memory. */
static void count (ReaderFollow *f, size_t slot, uint32_t more, uint32_t native) {
  size_t i;
  for (i = f->size + slot; i > 0; i /= 2) {
    f->tree[i].n[READERFOLLOW_ALL] += more;
    f->tree[i].n[READERFOLLOW_NATIVE] += native;
  }
}

/* Returns the slot of the sample that readerfollow_at returns for 'which' and 'rank'. This sample
   must exist. */
static size_t seek (const ReaderFollow *f, int which, size_t rank) {
  size_t i = 1;
  while (i < f->size) {
    i *= 2;
    if (rank >= f->tree[i].n[which])
      rank -= f->tree[i++].n[which];
  }
  return i - f->size;
}

/* Call it when all slots are used. Removes the dead samples from the slots. Doubles the number of
   slots if more than half of them have live samples. Returns 0 if out of memory. */
static int compact (ReaderFollow *f) {
  size_t n = readerfollow_n(f, READERFOLLOW_ALL), i, k = 0;
  size_t size = f->size == 0 ? BOUND_FIRST(16) : n > f->size / 2 ? f->size * 2 : f->size;
  FollowNode *tree = spare_calloc(2 * size, sizeof(*tree));
  ReadFollowed *list = tree == NULL ? NULL : spare_realloc(f->list, size * sizeof(*list));
  if (list == NULL) {
    free(tree);
    return 0;
  }
  f->list = list;
  for (i = 0; i < f->used; i++) {
    if (f->tree[f->size + i].n[READERFOLLOW_ALL] > 0) {
      tree[size + k] = readerfollow_held(f, &list[i]);
      list[k++] = list[i];
    }
  }
  free(f->tree);
  f->tree = tree;
  f->size = size;
  f->used = k;
  for (i = size - 1; i > 0; i--) {
    tree[i].n[0] = tree[2 * i].n[0] + tree[2 * i + 1].n[0];
    tree[i].n[1] = tree[2 * i].n[1] + tree[2 * i + 1].n[1];
  }
  return 1;
}

int readerfollow_room (ReaderFollow *f, int *failed) {
  int full = readerfollow_n(f, READERFOLLOW_ALL) >= READERFOLLOW_MOST;
  readerfollow_settle(f);
  *failed |= !full && f->used == f->size && !compact(f);
  return !full && f->used < f->size;
}

void readerfollow_add (ReaderFollow *f, const ReadFollowed *sample, int native) {
  f->list[f->used] = *sample;
  f->tree[f->size + f->used].walk = f->walks;
  count(f, f->used++, 1, (uint32_t)native);
}

const ReadFollowed *readerfollow_at (const ReaderFollow *f, int which, size_t rank) {
  return rank < readerfollow_n(f, which) ? &f->list[seek(f, which, rank)] : NULL;
}

void readerfollow_remove (ReaderFollow *f, const ReadFollowed *sample) {
  count(f, (size_t)(sample - f->list), UINT32_MAX, -(uint32_t)readerfollow_isnative(f, sample));
}

void readerfollow_stay (ReaderFollow *f, uint64_t n) {
  size_t left = readerfollow_n(f, READERFOLLOW_ALL) - f->to;
  left = n < left ? (size_t)n : left;
  f->to += left;
  f->at += left;
}

const ReadFollowed *readerfollow_die (ReaderFollow *f) {
  const ReadFollowed *dead = readerfollow_at(f, READERFOLLOW_ALL, f->to);
  if (dead != NULL) {
    readerfollow_remove(f, dead);
    f->at++;
  }
  return dead;
}

void readerfollow_hold (ReaderFollow *f, size_t from, size_t n, uint32_t holder) {
  size_t i = f->size + seek(f, READERFOLLOW_ALL, from);
  size_t end = f->size + seek(f, READERFOLLOW_ALL, from + n - 1) + 1;
  for (; i < end; i /= 2, end /= 2) {  /* sets the roots of the largest subtrees in the range */
    if (i % 2 == 1) {
      f->tree[i].holder = holder;
      f->tree[i++].walk = f->walks;
    }
    if (end % 2 == 1) {
      f->tree[--end].holder = holder;
      f->tree[end].walk = f->walks;
    }
  }
}

FollowNode readerfollow_held (const ReaderFollow *f, const ReadFollowed *sample) {
  size_t i = f->size + (size_t)(sample - f->list);
  FollowNode found = f->tree[i];
  while ((i /= 2) > 0) {
    if (f->tree[i].holder != 0 && f->tree[i].walk >= found.walk) {
      found.holder = f->tree[i].holder;
      found.walk = f->tree[i].walk;
    }
  }
  return found;
}

void readerfollow_free (ReaderFollow *f) {
  free(f->list);
  free(f->tree);
  memset(f, 0, sizeof(*f));
}
