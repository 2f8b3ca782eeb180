/* SPDX-License-Identifier: MIT */
/*
** The host's memory: what lua_Alloc gives, and the account of it ('held').
*/
#ifndef luaN_host_h
#define luaN_host_h

#include <stddef.h>

#include "lua.h"

struct global_State;

/* lua_Alloc, which knows by 'lending' that it is the heap that asks. */
LUAI_FUNC void *luaN_callalloc (struct global_State *g, void *p, size_t osize,
                                size_t nsize);

/* The same with the accounts of 'held': as realloc; NULL when it has none. */
LUAI_FUNC void *luaN_ask (struct global_State *g, void *p, size_t osize,
                          size_t nsize);

#endif
