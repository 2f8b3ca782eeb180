/* SPDX-License-Identifier: MIT */
/*
** The host's memory (host.h), and the allocator of luaL_newstate's states.
*/
#define LUA_CORE
#define _DEFAULT_SOURCE  /* sbrk */

#include "lprefix.h"

#include <stdlib.h>
#include <unistd.h>

#include "lstate.h"

#include "host.h"
#include "seam.h"


/* lua_Alloc runs on this OS thread: what it asks the system for is a heap's. Of the thread, not
   of the state, which is not known there while it is made, nor where a host calls the API
   without a protected call. */
static __thread int lending __attribute__((tls_model("initial-exec")));


LUA_API int luaN_isallocating (void) {
  return lending;
}


void *luaN_callalloc (global_State *g, void *p, size_t osize, size_t nsize) {
  int before = lending;  /* it may be what another state's lua_Alloc runs */
  void *q;
  lending = 1;
  q = (*g->frealloc)(g->ud, p, osize, nsize);
  lending = before;
  return q;
}


/* Blocks of these sizes may be the one that stays. */
#define MIN_LAST	((size_t)32 * 1024)
#define MAX_LAST	((size_t)4096 * 1024)


/* Puts the block of *n bytes at p in the place of the one that stays, if it lies behind that, and
   takes that one for it. Returns 0: there was none. */
static int swaplast (global_State *g, void **p, size_t *n) {
  luaN_Blocks *h = &g->heap.blocks;
  void *last = h->last;
  size_t lastsize = h->lastsize;
  h->lastfreed = luaN_milliseconds(g);
  if ((char *)*p < (char *)last || (char *)*p >= (char *)sbrk(0)) return 1;  /* or it is mapped */
  h->last = *p;
  h->lastsize = *n;
  *p = last;
  *n = lastsize;
  return last != NULL;
}


void luaN_givelast (global_State *g) {
  luaN_Blocks *h = &g->heap.blocks;
  if (h->last == NULL) return;
  free(h->last);
  h->held -= h->lastsize;
  h->last = NULL;
  h->lastsize = 0;
}


void *luaN_ask (global_State *g, void *p, size_t osize, size_t nsize) {
  void *q;
  if (nsize == 0 && osize - MIN_LAST <= MAX_LAST - MIN_LAST && g->frealloc == luaN_alloc &&
      !swaplast(g, &p, &osize))
    return NULL;
  q = luaN_callalloc(g, p, osize, nsize);
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
