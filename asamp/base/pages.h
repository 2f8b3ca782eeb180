/* SPDX-License-Identifier: MIT */
/*
** Memory in pages, for the child of a fork, where the parent's malloc may be in any state with
** its lock held. Independent of Lua.
*/
#ifndef asamp_pages_h
#define asamp_pages_h

#include <stddef.h>

/*
** Like lua_Alloc: resizes 'block' from 'old' bytes (NULL: none) to 'size' bytes (0: frees it and
** returns NULL). Returns NULL if there is not enough memory; the block is then unchanged.
*/
void *pages_realloc (void *ud, void *block, size_t old, size_t size);

#endif
