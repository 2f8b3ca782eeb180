/* SPDX-License-Identifier: MIT */
/* Chunks: where the blocks of a heap come from, and how chunks and pages are returned. */
#ifndef luaN_chunks_h
#define luaN_chunks_h

#include "heap.h"

/*
** Returns 0 if a collection should run before the heap grows by n bytes, else 1. The reason: C
** modules and the host call lua_Alloc directly, and cannot run a collection if it refuses. So
** after the growth, lua_Alloc must be able to provide half of 'held', the bytes obtained from
** it, but not more than SMALL_HEAP bytes. (Upstream's heap leaves that much if the limit of
** lua_Alloc is three times the live bytes.)
**
** Returns 1 without a check in each of these cases:
**   - the lua_Alloc of the state is luaN_alloc
**   - no collection may run
**   - the program has allocated less than half of the live bytes since the last major collection
**
** If the result is 0, sets 'refused'; the result is 0 then until the next major collection.
*/
LUAI_FUNC int luaN_leavesroom (struct global_State *g, size_t n);

/* Adds a chunk, new memory with one or more blocks, to the heap, and puts its blocks into the
   list 'empty'. At least one of the blocks has capacity for n bytes (n <= LUAN_LARGE + 8).
   Returns 0 if there is no memory. Does not collect. */
LUAI_FUNC int luaN_newchunk (struct global_State *g, size_t n);

/* Frees all chunks of a closed state, with the objects in them. Some mappings may be kept for
   the next states (spare mappings, mapped.h). */
LUAI_FUNC void luaN_freechunks (struct global_State *g);

/*
** Frees chunks whose blocks are all empty, as long as the empty blocks of the heap have more
** than 'reserve' bytes in total.
**   - If 'all' is 0, a call visits a bounded number of chunks, starting where the last call
**     stopped, and leaves at least 'reserve' bytes in empty blocks.
**   - If 'all' is 1, a call may visit every chunk, and may leave less than 'reserve' bytes.
*/
LUAI_FUNC void luaN_trim (struct global_State *g, size_t reserve, int all);

/* LUAN_PAGE: bytes of a page of the operating system. A block of LUAN_BLOCK bytes has eight pages.
   luaN_pageof: index, in its block, of the page that contains a line. */
#define LUAN_PAGE	4096u
#define luaN_pageof(line)  ((line) / (LUAN_PAGE / LUAN_LINE))

/*
** Returns free pages of some more mapped chunks to the system, if 'releasing' is set. Clears
** 'releasing' in each of these cases:
**   - the blocks have at most 'most' bytes in pages that were not returned (room - released)
**   - all chunks were visited once
**   - pages cannot be returned
**
** Only major.c sets 'releasing' again. So the system does not take back and clear, again and
** again, a page that the program uses from time to time.
*/
LUAI_FUNC void luaN_releasepages (struct global_State *g, size_t most);

/* Records that the pages of the lines i to j - 1 of b count as memory of the process again:
   updates 'released' of b and of h. To be called before these lines are used, because the first
   access makes the system provide the pages. */
LUAI_FUNC void luaN_usepages (luaN_Blocks *h, luaN_Block *b, unsigned i,
                              unsigned j);

#endif
