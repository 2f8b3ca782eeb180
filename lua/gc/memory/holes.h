/* SPDX-License-Identifier: MIT */
/* Lines and holes: taking holes for allocation, and making lines free again. */
#pragma once

#include "heap.h"

/* In a heap whose blocks have up to this number of bytes, all blocks are searched for a hole before
   a chunk is added. A higher limit saves memory in small states and costs time in larger ones. */
#define LUAN_DENSEHEAP	((size_t)64 * 1024)

/* Takes a hole (run of free lines) of at least n bytes, sets *r to it, and returns 1. n is a
   multiple of 8 up to LUAN_LARGE + 8. Returns 0, with *r unchanged, if there is no memory. May add
   a chunk to the heap; if 'desperate' is 1, searches every block before that. Never collects. */
LUAI_FUNC int luaN_nexthole (struct global_State *g, luaN_Region *r, size_t n, int desperate);

/* Sets *r to the next hole (run of free lines) of at least n bytes in the block of *r, at or above
   the address r->end. Returns 0, with *r unchanged, if the block has no such hole or *r has no
   hole. */
LUAI_FUNC int luaN_holehere (struct global_State *g, luaN_Region *r, size_t n);

/* Frees the lines of the nursery in which no object has survived: removes LUAN_YOUNG from all
   marks, so that lines without other marks are free. Moves each block of the list 'used' to the
   list for its number of free lines. To be called at the end of a collection, after luaN_retire has
   given up the current hole. */
LUAI_FUNC void luaN_recycle (luaN_Blocks *h);

/*
** To be called when lines of b have become free. Moves b to the list for its number of free lines:
** to 'empty', to 'holed', or to no list if few lines are free. A block in 'used' stays there.
*/
LUAI_FUNC void luaN_relist (luaN_Blocks *h, luaN_Block *b);

/* Returns the number of free lines of b, and sets *largest to the number of lines of its largest
   hole. */
LUAI_FUNC unsigned luaN_survey (const luaN_Block *b, unsigned *largest);

/* Starts a sweep of all lines: the next call of luaN_sweeplines starts with the first block. */
#define luaN_beginlines(h)  ((h)->sweptchunk = (h)->chunks, (h)->sweptblock = 0)

/* Sweeps the lines of up to n more blocks: removes all marks except 'bit' (the current epoch),
   LUAN_YOUNG, LUAN_HELD and LUAN_HEAD. Moves blocks with freed lines to the lists for their numbers
   of free lines. Returns the number of blocks visited; if it is below n, the sweep is finished. */
LUAI_FUNC unsigned luaN_sweeplines (luaN_Blocks *h, lu_byte bit, unsigned n);

/* Frees the lines that are completely in the n bytes at p: the memory of a vector, or the end of
   this memory after the vector was shortened. Lines with LUAN_YOUNG, which belong to a hole taken
   since the last minor collection, stay in use until luaN_recycle frees them. */
LUAI_FUNC void luaN_forget (luaN_Blocks *h, char *p, size_t n);

/* Frees the n bytes at p: whole lines with equal marks. Lines with LUAN_YOUNG, which belong to a
   hole taken since the last minor collection, stay in use until luaN_recycle frees them. Returns
   the block of the lines if it must move to the list for its new number of free lines. The caller
   must then call luaN_relist for the block, after the last call that frees lines of it. Returns
   NULL if the block need not move now. */
LUAI_FUNC luaN_Block *luaN_freelines (luaN_Blocks *h, char *p, size_t n);
