/* SPDX-License-Identifier: MIT */
/* An allocator that maps pages, for the child of a fork. The child must not call malloc: if another
   thread of the parent was inside malloc at the fork, malloc's lock is never released in the child.
   Independent of Lua. */
#ifndef asamp_pages_h
#define asamp_pages_h

#include <stddef.h>

/*
** Like lua_Alloc: resizes 'block' from 'old' bytes to 'size' bytes. 'block' NULL: allocates a new
** block, all zero. 'size' 0: frees the block and returns NULL. Returns NULL if there is not enough
** memory; the block is then unchanged. 'ud' is ignored.
*/
void *pages_realloc (void *ud, void *block, size_t old, size_t size);

#endif
