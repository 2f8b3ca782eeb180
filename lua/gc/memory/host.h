/* SPDX-License-Identifier: MIT */
/* Memory of the host: calls of lua_Alloc, and the account of reserved bytes ('held'). */
#ifndef luaN_host_h
#define luaN_host_h

#include <stddef.h>

#include "lua.h"

struct global_State;

/* Calls lua_Alloc, without an update of 'held'. During the call luaN_isallocating (seam.h) returns
   1 on this OS thread. */
LUAI_FUNC void *luaN_callalloc (struct global_State *g, void *p, size_t osize,
                                size_t nsize);

#if defined(LUAN_DEBUG)
/* Sets the value that luaN_isallocating returns on this OS thread. Returns the previous value. */
LUAI_FUNC int luaN_lend (int on);
#endif

/* Like realloc, through lua_Alloc; updates 'held'. Returns NULL if there is no memory. If nsize is
   0, frees p, or keeps p at the end of malloc's heap and frees the block that was kept there
   (endblock.h). Never collects. */
LUAI_FUNC void *luaN_ask (struct global_State *g, void *p, size_t osize,
                          size_t nsize);

/*
** Frees memory that the process keeps for later and has not used for a second:
**   - in a state with luaN_alloc, the kept block at the end of malloc's heap (endblock.h). If 'now'
**     is set, this block is freed in any case.
**   - the spare mappings (mapped.h), if no state was closed for a second
** After that, adds the bytes that the state has freed to the count of giveback.h.
*/
LUAI_FUNC void luaN_freeend (struct global_State *g, int now);

/* If the state has luaN_alloc and LUA_GC=no-madvise is not set, calls luaN_giveback (giveback.h)
   and returns its result; else returns 0. To be called after luaN_freeend. */
LUAI_FUNC int luaN_trimmalloc (struct global_State *g, int now);

/*
** Like luaN_ask, for memory that the heap can do without: if it is refused, the caller can search
** for a hole, leave a list incomplete, or collect. A request for growth that would raise 'held' to
** 'ceiling' (heap.h) or above returns NULL without a call of lua_Alloc, because a full heap would
** otherwise call lua_Alloc for each object that it marks. If growth is refused, sets 'refused'; if
** lua_Alloc has refused it, also sets 'ceiling'.
*/
LUAI_FUNC void *luaN_askmore (struct global_State *g, void *p, size_t osize,
                              size_t nsize);

#endif
