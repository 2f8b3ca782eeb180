/* SPDX-License-Identifier: MIT */
/*
** The host's memory: what lua_Alloc gives, and the account of it ('held').
*/
#ifndef luaN_host_h
#define luaN_host_h

#include <stddef.h>

#include "lua.h"

struct global_State;

/* lua_Alloc; meanwhile luaN_isallocating (seam.h) says that it is the heap that asks. */
LUAI_FUNC void *luaN_callalloc (struct global_State *g, void *p, size_t osize,
                                size_t nsize);

#if defined(LUAN_DEBUG)
/* What this OS thread asks malloc for is a heap's, if 'on'. Returns whether it was. */
LUAI_FUNC int luaN_lend (int on);
#endif

/* The same with the accounts of 'held': as realloc; NULL when it has none. */
LUAI_FUNC void *luaN_ask (struct global_State *g, void *p, size_t osize,
                          size_t nsize);

/* Frees the block that stays at the end of malloc's heap (endblock.h), if it is time for that, or
   'now'; and the mappings that have stayed (mapped.h), if it is time for that. */
LUAI_FUNC void luaN_freeend (struct global_State *g, int now);

/* Behind that: what malloc keeps free goes back (giveback.h). Returns whether it has. */
LUAI_FUNC int luaN_trimmalloc (struct global_State *g, int now);

/*
** The same for what the heap can do without for a while: a hole may be found, a list be
** incomplete. What would come to as many bytes as lua_Alloc has refused since the last
** major collection is not asked for again: a heap that is full would ask for each
** object that it marks.
*/
LUAI_FUNC void *luaN_askmore (struct global_State *g, void *p, size_t osize,
                              size_t nsize);

#endif
