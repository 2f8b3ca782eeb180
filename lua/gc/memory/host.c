/* SPDX-License-Identifier: MIT */
/* Calls of lua_Alloc (host.h), and the allocator of luaL_newstate (luaN_alloc). */

#include <stdlib.h>

#include "lstate.h"

#include "giveback.h"
#include "host.h"
#include "mapped.h"
#include "seam.h"


/* 1 while lua_Alloc runs on this OS thread. Memory that malloc provides meanwhile belongs to a Lua
   heap. Each OS thread has its own variable, because a hook of malloc does not know the Lua
   state. */
static __thread int lending __attribute__((tls_model("initial-exec")));


LUA_API int luaN_isallocating (void) {
  return lending;
}


void *luaN_callalloc (global_State *g, void *p, size_t osize, size_t nsize) {
  int before = lending;  /* 1 if lua_Alloc of another state is running */
  void *q;
  lending = 1;
  q = (*g->frealloc)(g->ud, p, osize, nsize);
  lending = before;
  return q;
}


#if defined(LUAN_DEBUG)
int luaN_lend (int on) {
  int before = lending;
  lending = on;
  return before;
}
#endif


/* Returns the start of the last pause of the collector, in milliseconds modulo 2^32: exact enough
   for limits of a second. */
static unsigned milliseconds (const global_State *g) {
  return (unsigned)(g->heap.gc.pause.began / 1000000);
}


void luaN_freeend (global_State *g, int now) {
  void *p = (g->frealloc == luaN_alloc) ? luaN_takeend(milliseconds(g), now) : NULL;
  if (p != NULL) luaN_callalloc(g, p, 0, 0);
  luaN_freespares(milliseconds(g), 0);
  if (g->heap.blocks.freed > 0) luaN_countfreed(g->heap.blocks.freed);
  g->heap.blocks.freed = 0;
}


int luaN_trimmalloc (global_State *g, int now) {
  /* LUA_GC=no-madvise forbids madvise, which malloc_trim calls */
  return g->frealloc == luaN_alloc && !g->heap.gc.pace.tuning.nomadvise &&
         luaN_giveback(milliseconds(g), now);
}


void *luaN_ask (global_State *g, void *p, size_t osize, size_t nsize) {
  void *q = p;
  if (nsize == 0 && g->frealloc == luaN_alloc) {
    g->heap.blocks.freed += osize;
    if (luaN_mayend(osize)) q = luaN_keepend(p, milliseconds(g));
  }
  if (nsize > 0 || q != NULL) q = luaN_callalloc(g, q, osize, nsize);
  if (q != NULL || nsize == 0)
    g->heap.blocks.held += nsize - ((p != NULL) ? osize : 0);
  return q;
}


void *luaN_askmore (global_State *g, void *p, size_t osize, size_t nsize) {
  luaN_Blocks *h = &g->heap.blocks;
  size_t all = h->held + nsize - osize;
  void *q = NULL;
  if (nsize <= osize) return luaN_ask(g, p, osize, nsize);
  if (h->ceiling == 0 || all < h->ceiling) q = luaN_ask(g, p, osize, nsize);
  if (q == NULL) {
    h->refused = 1;
    if (h->ceiling == 0 || all < h->ceiling) h->ceiling = all;
  }
  return q;
}


LUA_API void *luaN_alloc (void *ud, void *ptr, size_t osize, size_t nsize) {
  (void)ud; (void)osize;
  if (nsize == 0) {
    free(ptr);
    return NULL;
  }
  return realloc(ptr, nsize);
}
