/* SPDX-License-Identifier: MIT */
/*
** Memory in pages, for the child of a fork: the parent's malloc may have been in any
** state, and its lock anybody's. Knows no Lua.
*/
#ifndef asamp_pages_h
#define asamp_pages_h

#include <stddef.h>

/*
** As lua_Alloc: 'block' of 'old' bytes (NULL: none) to 'size' bytes (0: freed, NULL
** returned). NULL when there is no memory; the block is as it was.
*/
void *pages_realloc (void *ud, void *block, size_t old, size_t size);

#endif
