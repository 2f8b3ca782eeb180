/* SPDX-License-Identifier: MIT */
/*
** Blocks of memory by address, each with a number: those whose free must be noticed. Open
** addressing. Knows neither Lua nor samples. Where several things share a block they are a
** chain: the block has the number of the last one, which knows the one before.
**
**   BL1  a block is there at most once;
**   BL2  the table is at most half full, given-up slots included.
*/
#ifndef asamp_blocks_h
#define asamp_blocks_h

#include <stddef.h>

/* All zero: empty. */
typedef struct Blocks {
  struct BlockEntry {
    const void *block;	/* NULL: free */
    size_t number;
  } *entries;
  size_t size;		/* a power of two, or 0 */
  size_t n;		/* blocks that are there */
  size_t ntombs;	/* slots that were given up */
} Blocks;

/* Room for one more; 0: no memory (nothing has changed then). */
int blocks_room (Blocks *b);

#define BLOCKS_NONE	((size_t)-1)

/* There is room: 'number' is the block's from here on. Returns the one it had, or
   BLOCKS_NONE. */
size_t blocks_put (Blocks *b, const void *block, size_t number);

/* Takes a block out. 0: it was not there. */
int blocks_take (Blocks *b, const void *block, size_t *number);

/* Takes all out, keeps the memory. */
void blocks_clear (Blocks *b);
void blocks_free (Blocks *b);

#endif
