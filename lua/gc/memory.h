/* SPDX-License-Identifier: MIT */
/*
** Blocks of memory by size, as luaM_ (mem.c) asks for them.
*/
#ifndef luaN_memory_h
#define luaN_memory_h

#include "lstate.h"

/*
** A block of 'size' > 0 bytes of kind 'what', of which 'oldsize' bytes are not
** new (a block that is being resized). Collects in an emergency; returns NULL
** when there is no memory then.
*/
LUAI_FUNC void *luaN_obtain (lua_State *L, size_t size, size_t oldsize,
                             int what);

/*
** As realloc: 'block' of osize bytes (NULL and 0: none) to nsize bytes (0:
** freed, NULL returned). Shrinks in place within the heap. NULL and the old
** block unharmed when there is no memory after an emergency collection.
*/
LUAI_FUNC void *luaN_resize (lua_State *L, void *block, size_t osize,
                             size_t nsize, int what);

#endif
