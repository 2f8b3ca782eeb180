/* SPDX-License-Identifier: MIT */
/*
** The lua_Alloc of a state: counts requests and bytes, checks that the core follows the rules for
** calling a lua_Alloc, and refuses requests as the spec has set. It stores the size of each block
** in a header before the block, and overwrites new and freed memory so that a use of
** uninitialized or freed memory is detected.
*/
#include "states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC		0x6b636f6c62206120u

/* The header of each block. It is as large as malloc's alignment. */
typedef struct Head {
  uint64_t size, magic;
} Head;

static void wrong (State *s, const char *what, size_t given, size_t known) {
  if (s->wrong[0] == '\0')
    snprintf(s->wrong, sizeof(s->wrong), "call %llu: %s, given %llu, known %llu",
             (unsigned long long)s->calls, what, (unsigned long long)given,
             (unsigned long long)known);
}

/*
** Returns 1 if a request must fail. 'all' is the new size of the block, 'more' the number of
** bytes by which it grows.
*/
static int refused (State *s, size_t all, size_t more) {
  s->requests++;
  if (s->requests == s->fail || s->requests > s->failall || all > s->largest ||
      more > s->limit || s->bytes > s->limit - more) {
    s->refused++;
    return 1;
  }
  return 0;
}

static void *serve (State *s, void *block, size_t osize, size_t nsize) {
  Head *h = (block == NULL) ? NULL : (Head *)block - 1, *n;
  size_t old = 0;
  s->calls++;
  if (h == NULL) {
    if (nsize > 0) s->tags[osize < INTAGS ? osize : 0]++;
  }
  else {
    if (h->magic != MAGIC) {
      wrong(s, "block that was not handed out", osize, 0);
      /* ends the process here, because the core would use memory that does not belong to it */
      abort();
    }
    old = (size_t)h->size;
    if (old != osize) wrong(s, "wrong size of a block", osize, old);
  }
  if (nsize > old && refused(s, nsize, nsize - old)) return NULL;
  n = NULL;
  /* every change of the size moves the block, because callers must not rely on the old address */
  if (nsize > 0) {
    char *block = malloc(s->skew + sizeof(Head) + nsize);
    if (block == NULL) return NULL;
    n = (Head *)(block + s->skew);
    n->size = nsize;
    n->magic = MAGIC;
    memset(n + 1, 0xA5, nsize);
    if (h != NULL) memcpy(n + 1, h + 1, old < nsize ? old : nsize);
  }
  if (h != NULL) {
    memset(h, 0x5A, sizeof(Head) + old);
    free((char *)h - s->skew);
  }
  s->bytes += nsize - old;
  if (s->bytes > s->peak) s->peak = s->bytes;
  return (n == NULL) ? NULL : n + 1;
}

void *states_allocate (void *ud, void *block, size_t osize, size_t nsize) {
  State *s = ud;
  if (s->later > 0) wrong(s, "a function that was replaced", osize, nsize);
  return serve(s, block, osize, nsize);
}

void *states_later (void *ud, void *block, size_t osize, size_t nsize) {
  State *s = ud;
  s->later++;
  return serve(s, block, osize, nsize);
}
