/* SPDX-License-Identifier: MIT */
/* Chunks: where the blocks of a heap come from, and how chunks and pages are returned. */
#ifndef luaN_chunks_h
#define luaN_chunks_h

#include "heap.h"

/* Adds a chunk, whose blocks are in 'empty'; at least one has capacity for n bytes (n <=
   LUAN_LARGE). Returns 0 if there is no memory. Does not collect. */
LUAI_FUNC int luaN_newchunk (struct global_State *g, size_t n);

/* Returns all chunks to lua_Alloc or the system, whatever is in them. */
LUAI_FUNC void luaN_freechunks (struct global_State *g);

/* Returns empty chunks while the empty blocks have more than 'reserve' bytes. If 'all' is set, may
   visit every chunk; else visits some chunks and keeps at least 'reserve' bytes. */
LUAI_FUNC void luaN_trim (struct global_State *g, size_t reserve, int all);

/* The page, of 4 KiB, that contains a line. A block has eight. */
#define LUAN_PAGE	4096u
#define luaN_pageof(line)  ((line) / (LUAN_PAGE / LUAN_LINE))

/*
** Releases some free pages of mapped chunks to the system, until the blocks occupy at most 'most'
** bytes. When that is reached, or all chunks were visited once, it does nothing until 'releasing'
** is set again: pages that a program uses at intervals would be released and faulted in repeatedly.
*/
LUAI_FUNC void luaN_releasepages (struct global_State *g, size_t most);

/* Clears the released state of the pages with the lines i to j - 1 of b. To be called before the
   lines are used. */
LUAI_FUNC void luaN_usepages (luaN_Blocks *h, luaN_Block *b, unsigned i,
                              unsigned j);

#endif
