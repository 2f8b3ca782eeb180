/* SPDX-License-Identifier: MIT */
/* Calls of lua_Alloc, the host's allocation function, and the count of bytes obtained from it
   ('held'). */
#pragma once

#include <stddef.h>

#include "lua.h"

struct global_State;

/* True if an emergency collection may run now: the state is complete, and gcstopem is 0 (it is 1
   while a collection runs, for example). */
#define luaN_maycollect(g)	(completestate(g) && !(g)->gcstopem)

/* Calls lua_Alloc, without updating the count of bytes obtained from it ('held' of luaN_Blocks).
   During the call, luaN_isallocating returns 1 on this OS thread, so that a sampler of malloc omits
   the memory. */
LUAI_FUNC void *luaN_callalloc (struct global_State *g, void *p, size_t osize, size_t nsize);

#if defined(LUAN_DEBUG)
/* Sets the result of luaN_isallocating on this OS thread, and returns the previous result. While it
   is 1, a sampler of malloc omits the memory that this OS thread obtains. The verifier of the heap
   sets it to 1 while it allocates its own memory, which the program has not requested. */
LUAI_FUNC int luaN_lend (int on);
#endif

/* Allocates, resizes or frees a block by lua_Alloc, like realloc, and updates the count of bytes
   obtained from lua_Alloc ('held' of luaN_Blocks). Returns NULL if there is no memory. May keep a
   freed block instead of freeing it (giveback.h). Never collects. */
LUAI_FUNC void *luaN_ask (struct global_State *g, void *p, size_t osize, size_t nsize);

/*
** Frees memory that the process keeps for later use:
** - the freed block at the end of malloc's heap, if no other such block was freed for a second, or
**   if 'now' is set
** - mappings left by closed states, if no state was closed for a second
**
** Also adds the bytes that the state has freed by lua_Alloc to the count of the process
** (luaN_countfreed).
*/
LUAI_FUNC void luaN_freeend (struct global_State *g, int now);

/* Returns free memory of malloc to the system (luaN_giveback). Does nothing if lua_Alloc is not
   luaN_alloc, or if LUA_GC has no-madvise, because malloc_trim calls madvise. If 'now' is 0, calls
   malloc_trim at most once a second. Returns 1 if malloc_trim was called. To be called after
   luaN_freeend. */
LUAI_FUNC int luaN_trimmalloc (struct global_State *g, int now);

/*
** Like luaN_ask, for memory whose lack the caller can handle. If lua_Alloc refuses it, returns NULL
** and sets 'refused' and 'ceiling' (heap.h). If 'held' would grow to 'ceiling', returns NULL
** without calling lua_Alloc. Without this limit, a list that cannot grow would call lua_Alloc again
** for each marked object.
*/
LUAI_FUNC void *luaN_askmore (struct global_State *g, void *p, size_t osize, size_t nsize);
