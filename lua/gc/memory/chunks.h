/* SPDX-License-Identifier: MIT */
/* Chunks: where the blocks of a heap come from, and how chunks and pages are returned. */
#ifndef luaN_chunks_h
#define luaN_chunks_h

#include "heap.h"

/* Adds a chunk, whose blocks are in 'empty'; at least one block has capacity for n bytes (n <=
   LUAN_LARGE + 8). Returns 0 if there is no memory. Does not collect. */
LUAI_FUNC int luaN_newchunk (struct global_State *g, size_t n);

/* Frees all chunks of a closed state, whatever is in them. Mappings may become spares
   (mapped.h). */
LUAI_FUNC void luaN_freechunks (struct global_State *g);

/* Frees empty chunks while the blocks in 'empty' have more than 'reserve' bytes. If 'all' is set,
   may visit every chunk, and may leave less than 'reserve' bytes. Otherwise visits some chunks,
   after those of the last call, and leaves at least 'reserve' bytes. */
LUAI_FUNC void luaN_trim (struct global_State *g, size_t reserve, int all);

/* Bytes of a page: a block that is not small has eight. luaN_pageof: the page that contains a
   line. */
#define LUAN_PAGE	4096u
#define luaN_pageof(line)  ((line) / (LUAN_PAGE / LUAN_LINE))

/*
** If 'releasing' is set, releases free pages of some mapped chunks to the system, as long as the
** blocks occupy more than 'most' bytes (room - released). Clears 'releasing' when they do not, when
** all chunks were visited once, or if pages cannot be released. Otherwise pages that a program uses
** at intervals would be released and faulted in repeatedly.
*/
LUAI_FUNC void luaN_releasepages (struct global_State *g, size_t most);

/* Clears the released state of the pages with the lines i to j - 1 of b. To be called before the
   lines are used. */
LUAI_FUNC void luaN_usepages (luaN_Blocks *h, luaN_Block *b, unsigned i,
                              unsigned j);

#endif
