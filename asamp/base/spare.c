/* SPDX-License-Identifier: MIT */
/* Reserve of address space (spare.h). */
#define _GNU_SOURCE
#include "spare.h"

#include <stdlib.h>
#include <sys/mman.h>

/* This thread's reserve, or NULL. */
static __thread Spare *mine __attribute__((tls_model("initial-exec")));

int spare_keep (Spare *s) {
  void *at;
  if (s->parts == SPARE_PARTS)
    return 1;
  at = mmap(NULL, SPARE_PARTS * SPARE_PART, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return 0;
  spare_spend(s, 0);
  s->at = at;
  s->parts = SPARE_PARTS;
  return 1;
}

void spare_spend (Spare *s, unsigned left) {
  if (s->parts <= left)
    return;
  munmap(s->at + left * SPARE_PART, (s->parts - left) * SPARE_PART);
  s->parts = left;
}

void spare_use (Spare *s) {
  mine = s;
}

/* Unmaps a part of this thread's reserve. Returns 0 if there is none, or if munmap fails. */
static int more (void) {
  if (mine == NULL || mine->parts == 0)
    return 0;
  mine->parts--;
  return munmap(mine->at + mine->parts * SPARE_PART, SPARE_PART) == 0;
}

void *spare_malloc (size_t n) {
  void *block;
  while ((block = malloc(n)) == NULL && more()) { }
  return block;
}

void *spare_calloc (size_t n, size_t size) {
  void *block;
  while ((block = calloc(n, size)) == NULL && more()) { }
  return block;
}

void *spare_realloc (void *block, size_t n) {
  void *to;
  while ((to = realloc(block, n)) == NULL && more()) { }
  return to;
}
