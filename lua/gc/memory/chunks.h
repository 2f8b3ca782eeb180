/* SPDX-License-Identifier: MIT */
/* Chunks: where the blocks of a heap come from, and how chunks and pages are returned. */
#pragma once

#include "heap.h"

/*
** Returns 0 if the heap should not grow by n bytes before a collection has run, else 1. Reason: C
** modules and the host call lua_Alloc directly, and cannot run a collection if it refuses memory.
** So after the growth lua_Alloc must still be able to provide a reserve: half of the bytes obtained
** from it, at most SMALL_HEAP (1 MiB).
**
** Returns 1 without a check
** - if lua_Alloc is luaN_alloc, the allocator of luaL_newstate
** - if no collection may run now
** - if little was allocated since the last major collection ('unchecked', heap.h)
**
** After a result of 0, the next nurseries are smaller, and all later calls return 0 until a major
** collection ends.
*/
LUAI_FUNC int luaN_leavesroom (struct global_State *g, size_t n);

/* Adds a chunk of one or more empty blocks, and returns 1. Each block can contain an allocation of
   n bytes (n <= LUAN_LARGE + 8). Returns 0 if there is no memory. Does not collect. */
LUAI_FUNC int luaN_newchunk (struct global_State *g, size_t n);

/* Frees all chunks of a closed state, with the objects in them. May keep mappings for other states
   (mapped.h). */
LUAI_FUNC void luaN_freechunks (struct global_State *g);

/*
** Frees chunks whose blocks are all empty, while the empty blocks of the heap have more than
** 'reserve' bytes.
** - 'all' is 1: visits all chunks. The last chunk freed may reduce the empty blocks to fewer than
**   'reserve' bytes.
** - 'all' is 0: visits a bounded number of chunks, from the one at which the last call has stopped.
**   Frees no chunk if the empty blocks would then have fewer than 'reserve' bytes.
*/
LUAI_FUNC void luaN_trim (struct global_State *g, size_t reserve, int all);

/* LUAN_PAGE    bytes of a page of the operating system
   luaN_pageof  index in a block of the page that contains the line with the index 'line' */
#define LUAN_PAGE	4096u
#define luaN_pageof(line)  ((line) / (LUAN_PAGE / LUAN_LINE))

/*
** If 'releasing' is set (by major.c), returns free pages of mapped chunks to the system. Visits a
** bounded number of chunks, from the one at which the last call has stopped. Clears 'releasing'
** - when all chunks were visited
** - when the bytes of all blocks, without the pages returned already, are at most 'most'
** - if the system has refused madvise, or LUA_GC has no-madvise, or pages exceed LUAN_PAGE bytes
*/
LUAI_FUNC void luaN_releasepages (struct global_State *g, size_t most);

/* Clears the bits in b->released of the pages that contain lines i to j - 1. To be called before
   these lines are used, because the first access to a page that was returned to the system makes it
   memory of the process again. */
LUAI_FUNC void luaN_usepages (luaN_Blocks *h, luaN_Block *b, unsigned i, unsigned j);
