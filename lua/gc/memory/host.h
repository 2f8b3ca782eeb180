/* SPDX-License-Identifier: MIT */
/* Memory of the host: calls of lua_Alloc, and the account of reserved bytes ('held'). */
#ifndef luaN_host_h
#define luaN_host_h

#include <stddef.h>

#include "lua.h"

struct global_State;

/* True if a collection may run now. */
#define luaN_maycollect(g)	(completestate(g) && !(g)->gcstopem)

/* Calls lua_Alloc, without an update of 'held'. During the call luaN_isallocating (seam.h) returns
   1 on this OS thread. */
LUAI_FUNC void *luaN_callalloc (struct global_State *g, void *p, size_t osize,
                                size_t nsize);

#if defined(LUAN_DEBUG)
/* Sets the value that luaN_isallocating returns on this OS thread. Returns the previous value. */
LUAI_FUNC int luaN_lend (int on);
#endif

/* Like realloc, through lua_Alloc; updates 'held'. Returns NULL if there is no memory. If nsize is
   0, frees p, or keeps it as the block at the end of malloc's heap and frees the previous one
   (endblock.h). Never collects. */
LUAI_FUNC void *luaN_ask (struct global_State *g, void *p, size_t osize,
                          size_t nsize);

/*
** Frees memory that the process keeps for later:
**   - in a state with luaN_alloc, the kept block at the end of malloc's heap (endblock.h), if it
**     was not used for a second or 'now' is set
**   - the spare mappings (mapped.h), if no state was closed for a second
** Then adds the bytes that the state has freed to the count of giveback.h.
*/
LUAI_FUNC void luaN_freeend (struct global_State *g, int now);

/* If the state has luaN_alloc and LUA_GC=no-madvise is not set, calls luaN_giveback (giveback.h)
   and returns its result; else returns 0. To be called after luaN_freeend. */
LUAI_FUNC int luaN_trimmalloc (struct global_State *g, int now);

/*
** Like luaN_ask, for memory that the heap can do without: if it is refused, the caller can search
** for a hole, leave a list incomplete, or collect. Returns NULL without a call of lua_Alloc if
** 'held' would grow to 'ceiling' (heap.h) or above; a full heap would otherwise call it for each
** object that it marks. If growth is refused, sets 'refused'; if lua_Alloc has refused it, also
** 'ceiling'.
*/
LUAI_FUNC void *luaN_askmore (struct global_State *g, void *p, size_t osize,
                              size_t nsize);

#endif
