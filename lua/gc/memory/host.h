/* SPDX-License-Identifier: MIT */
/* Calls of lua_Alloc, the allocation function that the host supplies, and the number of bytes
   obtained from it ('held'). */
#ifndef luaN_host_h
#define luaN_host_h

#include <stddef.h>

#include "lua.h"

struct global_State;

/* True if a collection may run now. */
#define luaN_maycollect(g)	(completestate(g) && !(g)->gcstopem)

/* Calls lua_Alloc and returns its result. Does not update 'held', the number of bytes obtained
   from lua_Alloc. During the call, luaN_isallocating (seam.h) returns 1 on this OS thread. */
LUAI_FUNC void *luaN_callalloc (struct global_State *g, void *p, size_t osize,
                                size_t nsize);

#if defined(LUAN_DEBUG)
/* Sets the value that luaN_isallocating returns on this OS thread. Returns the previous value. */
LUAI_FUNC int luaN_lend (int on);
#endif

/* Allocates, resizes or frees a block by lua_Alloc, as realloc does, and updates 'held', the
   number of bytes obtained from lua_Alloc. Returns NULL if there is no memory. If nsize is 0,
   frees p, or keeps p as the block at the end of malloc's heap and frees the previous one
   (endblock.h). Never collects. */
LUAI_FUNC void *luaN_ask (struct global_State *g, void *p, size_t osize,
                          size_t nsize);

/*
** Frees memory that the process keeps for later, and adds the bytes that the state has freed to
** the count of giveback.h. Memory that is kept:
**   - in a state whose lua_Alloc is luaN_alloc, the kept block at the end of malloc's heap;
**     freed if luaN_keepend (endblock.h) was not called for a second, or if 'now' is set
**   - the spare mappings (mapped.h); freed if no state was closed for a second
*/
LUAI_FUNC void luaN_freeend (struct global_State *g, int now);

/* Returns free memory of malloc to the system (luaN_giveback), if the lua_Alloc of the state is
   luaN_alloc and LUA_GC=no-madvise is not set. Returns 1 if malloc_trim was called, else 0. To
   be called after luaN_freeend. */
LUAI_FUNC int luaN_trimmalloc (struct global_State *g, int now);

/*
** Calls luaN_ask for memory that the heap can do without: if it is refused, the caller can
** search for a hole, leave a list incomplete, or run a collection. Returns NULL if there is no
** memory.
**
** Does not call lua_Alloc if 'held' would grow to 'ceiling' (heap.h) or above. Otherwise
** lua_Alloc would be called for each object that is marked, if there is no memory for longer
** lists. If growth is refused, sets 'refused' to 1; if lua_Alloc has refused it, also sets
** 'ceiling' to the size of 'held' that was refused.
*/
LUAI_FUNC void *luaN_askmore (struct global_State *g, void *p, size_t osize,
                              size_t nsize);

#endif
