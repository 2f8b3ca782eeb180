/* SPDX-License-Identifier: MIT */
/* Memory of the host: calls of lua_Alloc, and the account of reserved bytes ('held'). */
#ifndef luaN_host_h
#define luaN_host_h

#include <stddef.h>

#include "lua.h"

struct global_State;

/* Calls lua_Alloc. During the call luaN_isallocating (seam.h) returns true on this OS thread. */
LUAI_FUNC void *luaN_callalloc (struct global_State *g, void *p, size_t osize,
                                size_t nsize);

#if defined(LUAN_DEBUG)
/* Sets whether malloc calls of this OS thread count as those of a heap. Returns the previous
   value. */
LUAI_FUNC int luaN_lend (int on);
#endif

/* Like realloc, through lua_Alloc; updates 'held'. Returns NULL if there is no memory. Never
   collects. */
LUAI_FUNC void *luaN_ask (struct global_State *g, void *p, size_t osize,
                          size_t nsize);

/*
** Frees the block that is kept at the end of malloc's heap (endblock.h) if no large block was
** freed for a second, or if 'now' is set. Frees the spare mappings (mapped.h) if no state was
** closed for a second, whatever 'now' is. Reports the bytes that the state has freed to giveback.h.
*/
LUAI_FUNC void luaN_freeend (struct global_State *g, int now);

/* Calls luaN_giveback (giveback.h) and returns its result, if the state has luaN_alloc and madvise
   may be called; else returns 0. To be called after luaN_freeend. */
LUAI_FUNC int luaN_trimmalloc (struct global_State *g, int now);

/*
** Like luaN_ask, for memory that the heap can do without for a while: the caller can search for a
** hole instead, or leave a list incomplete. If the request would bring 'held' to 'ceiling' or
** above, returns NULL without calling lua_Alloc. 'ceiling' is the smallest total that lua_Alloc has
** refused here since the last major collection. Without it, a full heap would call lua_Alloc for
** each object that it marks.
*/
LUAI_FUNC void *luaN_askmore (struct global_State *g, void *p, size_t osize,
                              size_t nsize);

#endif
