/* SPDX-License-Identifier: MIT */
/* Lines and holes: taking holes for allocation, and making lines free again. */
#ifndef luaN_holes_h
#define luaN_holes_h

#include "heap.h"

/* A heap whose blocks have at most this number of bytes searches all of them for a hole before it
   gets another chunk. With a higher limit, small states need less memory, and the search in larger
   heaps takes longer. */
#define LUAN_DENSEHEAP	((size_t)64 * 1024)

/* Takes a hole, a run of free lines, of at least n bytes for the nursery, sets *r to the hole,
   and returns 1. Returns 0 and leaves *r unchanged if there is no memory. n is a multiple of 8,
   at most LUAN_LARGE + 8. The rest of the previous hole *r stays unused until the next minor
   collection. May get a new chunk; if 'desperate' is 1, searches every block before that. Never
   collects. */
LUAI_FUNC int luaN_nexthole (struct global_State *g, luaN_Region *r,
                             size_t n, int desperate);

/* Takes the next hole, a run of free lines, of at least n bytes in the block of *r, after
   r->end, sets *r to the hole, and returns 1. Returns 0 and leaves *r unchanged if there is no
   such hole, or if *r is not in a block (after luaN_retire). */
LUAI_FUNC int luaN_holehere (struct global_State *g, luaN_Region *r, size_t n);

/* Frees the lines of the nursery that have no survivors: removes LUAN_YOUNG, the mark of the
   nursery's lines, and moves the blocks of the list 'used' to the lists for their free lines. To
   be called at the end of a collection. luaN_retire must have given up the current hole and the
   overflow region before. */
LUAI_FUNC void luaN_recycle (luaN_Blocks *h);

/*
** Moves b to the list for its free lines. To be called after lines of b have become free.
**   - If all lines are free, the list is 'empty'.
**   - If b has few free lines (MIN_FREE_LINES), removes b from the lists.
**   - Otherwise the list is 'holed' for the size of its largest hole (its class).
**
** A block in 'used', of which the nursery has taken holes, stays there.
*/
LUAI_FUNC void luaN_relist (luaN_Blocks *h, luaN_Block *b);

/* Returns the number of free lines of b. Sets *largest to the number of lines of its largest
   hole. */
LUAI_FUNC unsigned luaN_survey (const luaN_Block *b, unsigned *largest);

/* Starts a sweep of all lines, which luaN_sweeplines continues. */
#define luaN_beginlines(h)  ((h)->sweptchunk = (h)->chunks, (h)->sweptblock = 0)

/* Sweeps the lines of up to n more blocks: removes all marks except 'bit' (the mark of the
   current epoch), LUAN_YOUNG, LUAN_HELD and LUAN_HEAD. A line without a mark is free. If lines
   become free, moves the block to the list for its free lines (luaN_relist). Returns the number
   of blocks visited; a result below n means that the sweep is finished. */
LUAI_FUNC unsigned luaN_sweeplines (luaN_Blocks *h, lu_byte bit, unsigned n);

/* Frees the lines that are completely in the n bytes at p: the memory of a vector, or its end
   after the vector has shrunk. A line that is part of a hole of the nursery (LUAN_YOUNG) only
   loses its other marks; luaN_recycle frees the line later. */
LUAI_FUNC void luaN_forget (luaN_Blocks *h, char *p, size_t n);

/* Frees the n bytes at p, which must be whole lines with equal marks. Returns their block if the
   caller must call luaN_relist for the block, else NULL. After several calls for one block, one
   call of luaN_relist is enough. If the lines are part of a hole of the nursery (LUAN_YOUNG),
   only removes their other marks; luaN_recycle frees them later. */
LUAI_FUNC luaN_Block *luaN_freelines (luaN_Blocks *h, char *p, size_t n);

#endif
