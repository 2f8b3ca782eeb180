/* SPDX-License-Identifier: MIT */
/*
** Hash table from addresses of memory blocks to numbers of samples, with open addressing. It
** contains the watched blocks: sampled blocks whose free must be noticed. The number is that of the
** newest sample of the block.
**
**   BL1  a block is in the table at most once;
**   BL2  the table is at most half full, deleted slots included.
*/
#ifndef asamp_blocks_h
#define asamp_blocks_h

#include <stddef.h>

/* A table of blocks. All zero: empty. */
typedef struct Blocks {
  struct BlockEntry {
    const void *block;	/* NULL: free slot; address of 'tomb' (blocks.c): deleted slot. */
    size_t number;	/* Index of the block's newest sample. */
  } *entries;
  size_t size;		/* Number of slots: a power of two, or 0. */
  size_t n;		/* Number of blocks in the table. */
  size_t ntombs;	/* Number of deleted slots. */
} Blocks;

/* Reserves space for one more block. Returns 0 if out of memory. */
int blocks_room (Blocks *b);

#define BLOCKS_NONE	((size_t)-1)	/* result of blocks_put: the block was not in the table */

/* Sets the number of a block. Returns its old number, or BLOCKS_NONE. Call blocks_room before
   adding a block. */
size_t blocks_put (Blocks *b, const void *block, size_t number);

/* Removes a block and stores its number in *number. Returns 0 if the table lacks the block. */
int blocks_take (Blocks *b, const void *block, size_t *number);

/* Removes all blocks. Keeps the memory of the table for new blocks. */
void blocks_clear (Blocks *b);
/* Frees the memory. */
void blocks_free (Blocks *b);

#endif
