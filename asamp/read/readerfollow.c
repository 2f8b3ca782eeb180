/* SPDX-License-Identifier: MIT */
/* The list of live survivors whose death the file records (readerfollow.h). */
#include "readerfollow.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

int readerfollow_room (ReaderFollow *f, int *failed) {
  readerfollow_settle(f);
  if (f->n == READERFOLLOW_MOST)
    return 0;
  if (!list_grow(&f->list, f->n, &f->size, sizeof(*f->list))) {
    *failed = 1;
    return 0;
  }
  return 1;
}

void readerfollow_add (ReaderFollow *f, const ReadFollowed *sample) {
  f->list[f->n++] = *sample;
}

void readerfollow_stay (ReaderFollow *f, uint64_t n) {
  size_t m = n < f->n - f->at ? (size_t)n : f->n - f->at;
  if (f->to < f->at && m > 0)
    memmove(f->list + f->to, f->list + f->at, m * sizeof(*f->list));
  f->to += m;
  f->at += m;
}

int readerfollow_die (ReaderFollow *f, ReadFollowed *sample) {
  if (f->at == f->n)
    return 0;
  *sample = f->list[f->at++];
  return 1;
}

void readerfollow_settle (ReaderFollow *f) {
  readerfollow_stay(f, UINT64_MAX);
  f->n = f->to;
  f->at = f->to = 0;
}

void readerfollow_free (ReaderFollow *f) {
  free(f->list);
  memset(f, 0, sizeof(*f));
}
