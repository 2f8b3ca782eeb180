/* SPDX-License-Identifier: MIT */
/* Checks of the debug build (debug.h). No memory may be allocated twice: a bit for each 8 bytes of
   the heap records which bytes are in use. A sampler's functions must not call the Lua API. */

#include <stdio.h>
#include <stdlib.h>

#include "lgc.h"

#include "debug.h"


#if defined(LUAN_DEBUG)

void (*luaN_verifier) (lua_State *L, int exact);


static void die (const char *fault, void *p, size_t n) {
  fprintf(stderr, "heap: invariant H3 is violated: %s: memory at %p, %lu bytes\n", fault, p,
          (unsigned long)n);
  abort();
}


void luaN_setused (luaN_Blocks *h, void *p, size_t n) {
  luaN_Block *b = luaN_blockof(h, p);
  size_t i = luaN_granuleof(b, p), end = i + n / LUAN_GRANULE;
  uint64_t *used = luaN_usedbits(b);
  if (end > luaN_bytesof(b) / LUAN_GRANULE) die("memory past a block was handed out", p, n);
  for (; i < end; i++) {
    uint64_t bit = UINT64_C(1) << (i % 64);
    if (used[i / 64] & bit) die("memory in use was handed out again", p, n);
    used[i / 64] |= bit;
  }
}


void luaN_setunused (luaN_Blocks *h, void *p, size_t n) {
  luaN_Block *b = luaN_blockof(h, p);
  size_t i = luaN_granuleof(b, p), end = i + n / LUAN_GRANULE;
  for (; i < end; i++)
    luaN_usedbits(b)[i / 64] &= ~(UINT64_C(1) << (i % 64));
  luaN_asanopen(p, n);
  memset(p, LUAN_DEADBYTE, n);
}


void luaN_mayenter (lua_State *L, const char *function) {
  if (!G(L)->heap.asking || strcmp(function, "lua_getinfo") == 0 ||
      strcmp(function, "lua_getstack") == 0)
    return;
  fprintf(stderr, "sampler: %s called in the middle of an allocation or a "
          "collection\n", function);
  abort();
}

#endif
