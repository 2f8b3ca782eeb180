/* SPDX-License-Identifier: MIT */
/*
** Hash table with open addressing. Its keys are addresses of watched blocks: sampled blocks whose
** free must be noticed. The value is the index of the block's newest sample in a list of the
** caller.
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

/* Sets the sample index of a block to 'number'. Returns the old index; BLOCKS_NONE: the table
   lacked the block, and it was added. Call blocks_room before adding a block. */
size_t blocks_put (Blocks *b, const void *block, size_t number);

/* Removes a block and sets *number to its sample index. Returns 0 if the table lacks the block. */
int blocks_take (Blocks *b, const void *block, size_t *number);

/* Removes all blocks. Keeps the memory of the table for new blocks. */
void blocks_clear (Blocks *b);
/* Removes all blocks and frees the memory of the table. */
void blocks_free (Blocks *b);

#endif
