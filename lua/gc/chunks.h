/* SPDX-License-Identifier: MIT */
/*
** Chunks: where the blocks of a heap come from, and how they and their pages go back.
*/
#ifndef luaN_chunks_h
#define luaN_chunks_h

#include "heap.h"

/* A new chunk, whose blocks are in 'empty', one of them with room for n bytes
   (n <= LUAN_LARGE) at least; 0: there is no memory for it. */
LUAI_FUNC int luaN_newchunk (struct global_State *g, size_t n);

/* Gives every chunk back to lua_Alloc, whatever lies in it. */
LUAI_FUNC void luaN_freechunks (struct global_State *g);

/* Looks at some chunks, and gives those that are wholly empty back as long as a
   reserve of so many bytes of empty blocks is left; all: at each, until no more
   than that is left. */
LUAI_FUNC void luaN_trim (struct global_State *g, size_t reserve, int all);

/* The page of 4 KiB of a line; a block of 32 KiB has eight. */
#define LUAN_PAGE	4096u
#define luaN_pageof(line)  ((line) / (LUAN_PAGE / LUAN_LINE))

/* Gives some wholly free pages of mapped chunks back to the system, until blocks take no
   more than 'most' bytes. After one round of all chunks it does nothing until 'releasing' is
   set again: pages that are used by turns would go and come. */
LUAI_FUNC void luaN_releasepages (struct global_State *g, size_t most);

/* The lines i to j - 1 of b are about to be used. */
LUAI_FUNC void luaN_usepages (luaN_Blocks *h, luaN_Block *b, unsigned i,
                              unsigned j);

#endif
