/* SPDX-License-Identifier: MIT */
/*
** The memory functions that lmem.h declares; replaces upstream's lmem.c. They are inline, so that
** the calls of each source file pass the kind of memory that the file allocates (LUAN_VECTOR of
** kind.h).
*/
#pragma once

#include "kind.h"

/* Allocates a block of 'size' bytes and this kind (kind.h); returns NULL if 'size' is 0. May run an
   emergency collection. Raises a memory error if there is no memory or a limit of the state would
   be exceeded. */
LUAI_FUNC void *luaN_malloc (lua_State *L, size_t size, int kind);

/* Resizes a block of the kind 'kind' (kind.h) from 'osize' to 'nsize' bytes, like
   luaM_saferealloc_. May run an emergency collection; raises a memory error. */
LUAI_FUNC void *luaN_saferesize (lua_State *L, void *block, size_t osize, size_t nsize, int kind);

/* Grows a vector of the kind 'kind' (kind.h), like luaM_growaux_. Raises an error if there is no
   memory, or if the vector has 'limit' elements already. elements: name of the elements in the
   message. */
LUAI_FUNC void *luaN_grow (lua_State *L, void *block, int nelems, int *psize,
                           int size_elem, int limit, const char *elements,
                           int kind);

/* Shrinks a vector of the kind 'kind' (kind.h) from *size to 'final' elements, like
   luaM_shrinkvector_. */
LUAI_FUNC void *luaN_shrink (lua_State *L, void *block, int *size, int final,
                             int size_elem, int kind);

/* Raises a memory error. First calls the sampler's function 'starved', unless a limit of the state
   has refused the allocation. */
LUAI_FUNC l_noret luaN_nomemory (lua_State *L);

/* A protected call saves the limits of the state (the result of luaN_limitsof) and restores them at
   its end (luaN_relimit, with this result as 'l'), because the called function may have set other
   limits. */
#define luaN_limitsof(L)	((const void *)G(L)->heap.limits)
#define luaN_relimit(L,l) \
  (l_unlikely(G(L)->heap.limits != (l)) ? luaN_setlimits(L, l) : cast_void(0))

/* The message of memory errors: if a limit of the state has refused the last failed allocation, the
   message of that limit (LM2 of limit.h); else upstream's message. */
#define luaN_memerrmsg(g) \
  ((g)->heap.refusal != NULL ? (TString *)(g)->heap.refusal : (g)->memerrmsg)

#define LUAN_HERE	extern inline __attribute__((gnu_inline, always_inline))

LUAN_HERE void *luaM_malloc_ (lua_State *L, size_t size, int tag) {
  UNUSED(tag);
  return luaN_malloc(L, size, LUAN_VECTOR);
}

LUAN_HERE void luaM_free_ (lua_State *L, void *block, size_t osize) {
  luaN_release(L, block, osize, LUAN_VECTOR);
}

LUAN_HERE void *luaM_realloc_ (lua_State *L, void *block, size_t osize, size_t nsize) {
  return luaN_resize(L, block, osize, nsize, LUAN_REALLOCED);
}

LUAN_HERE void *luaM_saferealloc_ (lua_State *L, void *block, size_t osize, size_t nsize) {
  return luaN_saferesize(L, block, osize, nsize, LUAN_BUFFER);
}

LUAN_HERE void *luaM_growaux_ (lua_State *L, void *block, int nelems,
                                 int *psize, int size_elem, int limit,
                                 const char *elements) {
  return luaN_grow(L, block, nelems, psize, size_elem, limit, elements, LUAN_REALLOCED);
}

LUAN_HERE void *luaM_shrinkvector_ (lua_State *L, void *block, int *size,
                                      int final, int size_elem) {
  return luaN_shrink(L, block, size, final, size_elem, LUAN_REALLOCED);
}
