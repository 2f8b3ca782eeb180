/* SPDX-License-Identifier: MIT */
/*
** The core's memory interface (lmem.h) over the heap. Replaces upstream's lmem.c, with the same
** contract and messages, except the messages of limits (limit.h).
*/

#include "ldebug.h"
#include "ldo.h"
#include "lmem.h"

#include "mem.h"
#include "sampling.h"

/* smallest capacity, in elements, of a vector that luaM_growaux_ has grown */
#define FIRST_SIZE	4


l_noret luaM_toobig (lua_State *L) {
  luaG_runerror(L, "memory allocation error: block too big");
}


void *luaN_malloc (lua_State *L, size_t size, int kind) {
  return (size == 0) ? NULL
       : luaN_isexplicit(kind) ? luaN_slow(L, size, kind)
                               : luaN_new(L, size, kind);
}


void *luaN_saferesize (lua_State *L, void *block, size_t osize, size_t nsize, int kind) {
  void *p = luaN_resize(L, block, osize, nsize, kind);
  if (l_unlikely(p == NULL && nsize > 0))
    luaM_error(L);
  return p;
}


/*
** If *psize, the capacity of the vector 'block', is above 'nelems', returns 'block'. Otherwise
** doubles the capacity, up to 'limit', updates *psize, and returns the vector. If the capacity is
** 'limit' already, raises an error; 'elements' is the name of the elements in its message.
*/
void *luaN_grow (lua_State *L, void *block, int nelems, int *psize,
                 int size_elem, int limit, const char *elements, int kind) {
  int size = *psize;
  if (nelems < size) return block;
  if (size < limit / 2) {
    size = (2 * size < FIRST_SIZE) ? FIRST_SIZE : 2 * size;
  }
  else if (size < limit) size = limit;
  else luaG_runerror(L, "too many %s (limit is %d)", elements, limit);
  block = luaN_saferesize(L, block, (size_t)*psize * (size_t)size_elem,
                          (size_t)size * (size_t)size_elem, kind);
  *psize = size;
  return block;
}


void *luaN_shrink (lua_State *L, void *block, int *size, int final, int size_elem, int kind) {
  lua_assert(final <= *size);
  block = luaN_saferesize(L, block, (size_t)*size * (size_t)size_elem,
                          (size_t)final * (size_t)size_elem, kind);
  *size = final;
  return block;
}
