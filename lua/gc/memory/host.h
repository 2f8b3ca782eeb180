/* SPDX-License-Identifier: MIT */
/* Memory of the host: calls of lua_Alloc, and the account of reserved bytes ('held'). */
#ifndef luaN_host_h
#define luaN_host_h

#include <stddef.h>

#include "lua.h"

struct global_State;

/* Calls lua_Alloc; does not update 'held'. During the call luaN_isallocating (seam.h) returns true
   on this OS thread. */
LUAI_FUNC void *luaN_callalloc (struct global_State *g, void *p, size_t osize,
                                size_t nsize);

#if defined(LUAN_DEBUG)
/* Sets the result of luaN_isallocating on this OS thread. Returns the previous one. */
LUAI_FUNC int luaN_lend (int on);
#endif

/* Like realloc, through lua_Alloc; updates 'held'. Returns NULL if there is no memory. nsize 0:
   frees p, or keeps p and frees another block (endblock.h). Never collects. */
LUAI_FUNC void *luaN_ask (struct global_State *g, void *p, size_t osize,
                          size_t nsize);

/*
** If the state has luaN_alloc, frees the block that is kept at the end of malloc's heap
** (endblock.h) if no block was offered to luaN_keepend for a second, or if 'now' is set. Frees the
** spare mappings (mapped.h) if no state was closed for a second, whatever 'now' is. Reports the
** bytes that the state has freed to giveback.h.
*/
LUAI_FUNC void luaN_freeend (struct global_State *g, int now);

/* If the state has luaN_alloc and LUA_GC=no-madvise is not set, calls luaN_giveback (giveback.h)
   and returns its result; else returns 0. To be called after luaN_freeend. */
LUAI_FUNC int luaN_trimmalloc (struct global_State *g, int now);

/*
** Like luaN_ask, for memory that the heap can do without: the caller can search for a hole instead,
** leave a list incomplete, or collect. A request for growth that would raise 'held' to 'ceiling'
** (heap.h) or above returns NULL without calling lua_Alloc; otherwise a full heap would call
** lua_Alloc for each object that it marks. Refused growth sets 'refused' and, if lua_Alloc has
** refused it, 'ceiling'.
*/
LUAI_FUNC void *luaN_askmore (struct global_State *g, void *p, size_t osize,
                              size_t nsize);

#endif
