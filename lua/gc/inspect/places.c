/* SPDX-License-Identifier: MIT */
/* Reports how the memory of a state is used (luaN_places, luaN_beside of seam.h): the lines of
   memory in its chunks, and the memory from lua_Alloc outside chunks. Reads the marks of all lines,
   but no object. */

#include "lgc.h"

#include "chunks.h"
#include "holes.h"


/* Returns the bytes of the free lines of b. */
static uint64_t freebytes (const luaN_Block *b) {
  unsigned largest;
  return (uint64_t)luaN_survey(b, &largest) * LUAN_LINE;
}


/* Returns the bytes of all lists of the collector (luaN_Vec), and of the list of small blocks. */
static uint64_t listbytes (global_State *g) {
  uint64_t n = g->heap.blocks.small.size;
  int i;
  for (i = 0; i < LUAN_VECS; i++) n += luaN_vecat(g, i)->size;
  return n * sizeof(void *);
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
      uint64_t unused = freebytes(b);
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
  p->large = h->held - p->chunks - p->lists;
}


LUA_API void luaN_beside (lua_State *L, const void *object, uint64_t *used, uint64_t *unused) {
  const luaN_Block *b = luaN_blockof(&G(L)->heap.blocks, object);
  uint64_t bytes = freebytes(b);
  *unused = bytes - (uint64_t)__builtin_popcount(b->released) * LUAN_PAGE;
  *used = (uint64_t)b->nusable * LUAN_LINE - bytes;
}
