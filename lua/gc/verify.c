/* SPDX-License-Identifier: MIT */
/*
** Checks of the heap: the verifier, which every build has and which the seam
** exports, and the bitmap of granules in use, which only the debug build keeps
** (debug.h).
*/
#define LUA_CORE

#include "lprefix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua.h"

#include "lobject.h"
#include "lstate.h"

#include "seam.h"


#if defined(LUAN_DEBUG)

static void die (const char *what, void *p, size_t n) {
  fprintf(stderr, "heap: H3 broken: %s: %p, %lu bytes\n", what, p,
          (unsigned long)n);
  abort();
}


void luaN_setused (void *p, size_t n) {
  luaN_Block *b = luaN_blockof(p);
  size_t i = ((uintptr_t)p & (LUAN_BLOCK - 1)) / LUAN_GRANULE;
  size_t end = i + n / LUAN_GRANULE;
  if (end > LUAN_BLOCK / LUAN_GRANULE) die("handed out past a block", p, n);
  for (; i < end; i++) {
    uint64_t bit = UINT64_C(1) << (i % 64);
    if (b->used[i / 64] & bit) die("handed out twice", p, n);
    b->used[i / 64] |= bit;
  }
}


void luaN_setunused (void *p, size_t n) {
  luaN_Block *b = luaN_blockof(p);
  size_t i = ((uintptr_t)p & (LUAN_BLOCK - 1)) / LUAN_GRANULE;
  size_t end = i + n / LUAN_GRANULE;
  if (end > LUAN_BLOCK / LUAN_GRANULE) die("freed past a block", p, n);
  for (; i < end; i++) {
    uint64_t bit = UINT64_C(1) << (i % 64);
    if (!(b->used[i / 64] & bit)) die("freed, but not in use", p, n);
    b->used[i / 64] &= ~bit;
  }
  memset(p, LUAN_DEADBYTE, n);
}


/* Bytes in use of line i, by the bitmap. */
static unsigned inuse (const luaN_Block *b, unsigned i) {
  unsigned half = (unsigned)(b->used[i / 4] >> (16 * (i % 4))) & 0xFFFFu;
  return LUAN_GRANULE * (unsigned)__builtin_popcount(half);
}

#endif


static const char *broken (const char *invariant, const void *where,
                           unsigned long got, unsigned long want) {
  static char message[160];
  snprintf(message, sizeof(message), "%s does not hold at %p: %lu, not %lu",
           invariant, where, got, want);
  return message;
}


/* Bytes of line i of b that the region r has not handed out yet. */
static unsigned reserved (const luaN_Block *b, unsigned i, const char *from,
                          const char *to) {
  const char *line = (const char *)b + (size_t)i * LUAN_LINE;
  if (from < line) from = line;
  if (to > line + LUAN_LINE) to = line + LUAN_LINE;
  return (from < to) ? (unsigned)(to - from) : 0;
}


static const char *checkblock (const luaN_Heap *h, const luaN_Block *b) {
  unsigned i, nfree = 0, hand = 0;
  const char *first = (const char *)b, *end = first + LUAN_BLOCK;
  hand += (h->end > first && h->end <= end);
  hand += (h->medium.end > first && h->medium.end <= end);
  if (b->inhand != hand) return broken("H4 (in hand)", b, b->inhand, hand);
  for (i = LUAN_HEADLINES; i < LUAN_LINES; i++) {
    unsigned live = b->live[i];
    unsigned rest = reserved(b, i, h->free, h->end) +
                    reserved(b, i, h->medium.free, h->medium.end);
    nfree += (live == 0);
    if (live > LUAN_LINE || live < rest)
      return broken("H1", b, live, rest);
#if defined(LUAN_DEBUG)
    if (live != rest + inuse(b, i))
      return broken("H1 (bytes in use)", (const char *)b + i * LUAN_LINE,
                    live, rest + inuse(b, i));
#endif
  }
  if (nfree != b->freelines)
    return broken("H4 (free lines)", b, b->freelines, nfree);
  if ((b->where == LUAN_EMPTY) !=
      (nfree == LUAN_LINES - LUAN_HEADLINES && hand == 0))
    return broken("H4 (empty)", b, b->where, LUAN_EMPTY);
  if (b->where == LUAN_HOLED && (nfree == 0 || hand > 0))
    return broken("H4 (holed)", b, nfree, 1);
  return NULL;
}


const char *luaN_verify (lua_State *L) {
  global_State *g = G(L);
  const luaN_Heap *h = &g->heap;
  const luaN_Chunk *c;
  size_t held = 0, nblocks = 0, nempty = 0;
  if (!(h->free <= h->limit && h->limit <= h->end))
    return broken("N1", h->free, (unsigned long)(h->limit - h->free), 0);
  if (h->mark > h->free)
    return broken("N2", h->mark, (unsigned long)(h->mark - h->free), 0);
  if (h->point <= (uint64_t)(uintptr_t)h->limit)
    return broken("S1", h->free, (unsigned long)h->point, 0);
  if (h->sampler == NULL &&
      h->point - (uint64_t)(uintptr_t)h->free < LUAN_INFINITY / 2)
    return broken("S1 (no sampler)", h->free, (unsigned long)h->point, 0);
  for (c = h->chunks; c != NULL; c = c->next) {
    unsigned i, empty = 0;
    for (i = 0; i < c->nblocks; i++) {
      const luaN_Block *b =
          (const luaN_Block *)(c->first + (size_t)i * LUAN_BLOCK);
      const char *bad = checkblock(h, b);
      if (bad != NULL) return bad;
      empty += (b->where == LUAN_EMPTY);
    }
    if (empty != c->nempty) return broken("H5 (empty)", c, c->nempty, empty);
    held += c->size;
    nblocks += c->nblocks;
    nempty += empty;
  }
  if (nblocks != h->nblocks) return broken("H5 (blocks)", h, h->nblocks, nblocks);
  if (nempty != h->nempty) return broken("H5 (empty)", h, h->nempty, nempty);
  if (held > h->held) return broken("H5 (held)", h, h->held, held);
  return NULL;
}


#if defined(LUAN_DEBUG)
void luaN_mustverify (lua_State *L) {
  const char *broken = luaN_verify(L);
  if (broken == NULL) return;
  fprintf(stderr, "heap: %s\n", broken);
  abort();
}
#endif


LUA_API const char *luaN_check (lua_State *L) {
  return luaN_verify(L);
}
