/* SPDX-License-Identifier: MIT */
/*
** Where the memory of a state is (luaN_places, luaN_beside of seam.h): chunks by what
** their lines are used for, and what came from lua_Alloc one by one. A walk over the
** marks of all blocks, 512 bytes each; looks at no object.
*/
#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "lgc.h"
#include "lstate.h"

#include "chunks.h"
#include "seam.h"


/* Free lines of b. (Of marks[] whole words, which lines of a block are.) */
static unsigned freelines (const luaN_Block *b) {
  unsigned i, n = 0;
  for (i = 0; i < b->nlines; i++) n += (b->marks[i] == 0);
  return n;
}


/* Bytes of the collector's own lists. */
static uint64_t listbytes (const global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  const luaN_Vec *const lists[] = {
    &c->mark.young, &c->mark.old, &c->remset.objects, &c->remset.whole, &c->remset.slots,
    &c->weak.discovered, &c->weak.inmajor, &c->weak.unresolved, &c->weak.doubtful,
    &c->strings.young, &c->finalize.finalizable.v, &c->finalize.tobefinalized,
    &c->lists.fixed, &c->lists.large.v, &c->lists.tables.v, &c->lists.threads.v,
    &c->lists.standins.v, &g->heap.blocks.small
  };
  uint64_t n = 0;
  size_t i;
  for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
    n += lists[i]->size * sizeof(void *);
  return n;
}


LUA_API void luaN_places (lua_State *L, luaN_Places *p,
                          void (*chunk) (void *ud, const luaN_ChunkPlace *c), void *ud) {
  global_State *g = G(L);
  const luaN_Blocks *h = &g->heap.blocks;
  const luaN_Chunk *c;
  memset(p, 0, sizeof(*p));
  p->inuse = (uint64_t)gettotalbytes(g);
  p->living = (uint64_t)(g->heap.gc.bytes.living > 0 ? g->heap.gc.bytes.living : 0);
  p->lists = listbytes(g);
  for (c = h->chunks; c != NULL; c = c->next) {
    unsigned i;
    p->chunks += c->size;
    for (i = 0; i < c->nblocks; i++) {
      const luaN_Block *b = luaN_blockat(c, i);
      uint64_t bytes = luaN_bytesof(b);
      uint64_t unused = (uint64_t)freelines(b) * LUAN_LINE;
      uint64_t released = (uint64_t)__builtin_popcount(b->released) * LUAN_PAGE;
      p->heads += bytes - (uint64_t)b->nusable * LUAN_LINE;
      if (b->where == LUAN_EMPTY) p->empty += unused - released;
      else {
        p->lines += (uint64_t)b->nusable * LUAN_LINE - unused;
        p->unused += unused - released;
      }
    }
    if (!c->mapped) p->lent += c->size;
    if (chunk != NULL) {
      luaN_ChunkPlace at;
      at.from = c->mapped ? (const void *)c->first : (const void *)c;
      at.size = c->size;
      at.first = c->first;
      at.bytes = c->small ? luaN_bytesof(luaN_blockat(c, 0)) : (size_t)c->nblocks * LUAN_BLOCK;
      at.mapped = c->mapped;
      (*chunk)(ud, &at);
    }
  }
  p->apart = h->held - p->chunks - p->lists;
}


LUA_API void luaN_beside (lua_State *L, const void *object, uint64_t *used, uint64_t *unused) {
  const luaN_Block *b = luaN_blockof(&G(L)->heap.blocks, object);
  *unused = (uint64_t)freelines(b) * LUAN_LINE -
            (uint64_t)__builtin_popcount(b->released) * LUAN_PAGE;
  *used = (uint64_t)b->nusable * LUAN_LINE - (uint64_t)freelines(b) * LUAN_LINE;
}
