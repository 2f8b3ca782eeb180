/* SPDX-License-Identifier: MIT */
/*
** Hash table, with open addressing, from the addresses of watched blocks (sampled memory whose
** explicit free is to be noticed) to numbers of samples. If a block has several samples, the table
** has the number of the newest, and each sample that of the previous one. Independent of Lua and of
** samples.
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
    const void *block;	/* NULL: a free slot; address of 'tomb' (blocks.c): a deleted one. */
    size_t number;	/* Number (index in a list) of the block's newest sample. */
  } *entries;
  size_t size;		/* Number of slots: a power of two, or 0. */
  size_t n;		/* Number of blocks in the table. */
  size_t ntombs;	/* Number of deleted slots. */
} Blocks;

/*
** Reserves space for one more block. Returns 0 and changes nothing if there is not enough memory.
*/
int blocks_room (Blocks *b);

#define BLOCKS_NONE	((size_t)-1)	/* no number: the block is not in the table, or has no
					   earlier sample */

/*
** Sets the number of a block. Returns the number that the block had, or BLOCKS_NONE if it was not
** in the table. Call blocks_room before adding a new block.
*/
size_t blocks_put (Blocks *b, const void *block, size_t number);

/* Removes a block and stores its number in *number. Returns 0 if the table lacks the block. */
int blocks_take (Blocks *b, const void *block, size_t *number);

/* blocks_clear removes all blocks and keeps the memory; blocks_free frees it. */
void blocks_clear (Blocks *b);
void blocks_free (Blocks *b);

#endif
