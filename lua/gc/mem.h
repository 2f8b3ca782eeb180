/* SPDX-License-Identifier: MIT */
/*
** lmem.h includes this last: upstream's names for memory, with the kind of memory that
** the file which includes it makes (LUAN_VECTOR of nursery.h, whose functions these are).
*/
#ifndef luaN_mem_h
#define luaN_mem_h

LUAI_FUNC void *luaN_malloc (lua_State *L, size_t size, int what);
LUAI_FUNC void *luaN_saferesize (lua_State *L, void *block, size_t osize,
                                 size_t nsize, int what);
LUAI_FUNC void *luaN_grow (lua_State *L, void *block, int nelems, int *psize,
                           int size_elem, int limit, const char *what,
                           int kind);
LUAI_FUNC void *luaN_shrink (lua_State *L, void *block, int *size, int final,
                             int size_elem, int kind);

/* Raises a memory error; the sampler is told before (sampling.c). */
LUAI_FUNC l_noret luaN_nomemory (lua_State *L);

#define luaM_malloc_(L,s,tag)		luaN_malloc(L, s, LUAN_VECTOR)
#define luaM_free_(L,b,os)		luaN_release(L, b, os, LUAN_VECTOR)
#define luaM_realloc_(L,b,os,ns)	luaN_resize(L, b, os, ns, LUAN_REALLOCED)
#define luaM_saferealloc_(L,b,os,ns) \
	luaN_saferesize(L, b, os, ns, LUAN_BUFFER)
#define luaM_growaux_(L,b,n,s,e,l,w) \
	luaN_grow(L, b, n, s, e, l, w, LUAN_REALLOCED)
#define luaM_shrinkvector_(L,b,s,f,e) \
	luaN_shrink(L, b, s, f, e, LUAN_REALLOCED)

#endif
