/* SPDX-License-Identifier: MIT */
/* Lines and holes: taking holes for allocation, and making lines free again. */
#ifndef luaN_holes_h
#define luaN_holes_h

#include "heap.h"

/* A heap whose blocks have at most this number of bytes searches all of them for a hole before it
   gets another chunk. With a higher limit, small states need less memory, and the search in larger
   heaps takes longer. */
#define LUAN_DENSEHEAP	((size_t)64 * 1024)

/*
** Takes a hole of at least n bytes, sets *r to the hole, and returns 1. n is a multiple of 8, at
** most LUAN_LARGE + 8. The rest of the previous hole *r stays unused until the next minor
** collection. May get a new chunk; if 'desperate' is set, searches every block before that. Returns
** 0 and leaves *r unchanged if there is no memory. Never collects.
*/
LUAI_FUNC int luaN_nexthole (struct global_State *g, luaN_Region *r,
                             size_t n, int desperate);

/* Takes the first hole of at least n bytes that is after r->end in the same block, and sets *r to
   it. Returns 0 and leaves *r as it is if there is no such hole, or if *r is not in a block (after
   luaN_retire). */
LUAI_FUNC int luaN_holehere (struct global_State *g, luaN_Region *r, size_t n);

/* Ends the nursery: removes LUAN_YOUNG, the mark of its lines, so that lines without another mark
   become free, and moves the blocks of 'used' to other lists as luaN_relist does. The current hole
   and the overflow region must have been given up (luaN_retire). */
LUAI_FUNC void luaN_recycle (luaN_Blocks *h);

/* To be called after lines of b have become free. Moves b to the list for its free lines: to
   'empty' if all lines are free, or to the list 'holed' for the size of its largest hole (its
   class). If b has few free lines (MIN_FREE_LINES), removes it from the lists. A block in 'used',
   of which the nursery has taken holes, stays there. */
LUAI_FUNC void luaN_relist (luaN_Blocks *h, luaN_Block *b);

/* Returns the number of free lines of b, and sets *largest to the lines of its largest hole. */
LUAI_FUNC unsigned luaN_survey (const luaN_Block *b, unsigned *largest);

/* Starts a sweep of all lines, which luaN_sweeplines continues. */
#define luaN_beginlines(h)  ((h)->sweptchunk = (h)->chunks, (h)->sweptblock = 0)

/* Sweeps the lines of up to n more blocks: keeps only the bits 'bit', LUAN_YOUNG, LUAN_HELD and
   LUAN_HEAD of their marks. If lines become free, moves the block as luaN_relist does. Returns the
   number of blocks visited; less than n means that the sweep is finished. */
LUAI_FUNC unsigned luaN_sweeplines (luaN_Blocks *h, lu_byte bit, unsigned n);

/* Frees the lines that are completely in the n bytes at p: those of a vector, or of the end that a
   vector has lost. A line that is part of a hole of the nursery (LUAN_YOUNG) only loses its other
   marks; luaN_recycle frees it later. */
LUAI_FUNC void luaN_forget (luaN_Blocks *h, char *p, size_t n);

/* Frees the n bytes at p, which must be whole lines with equal marks. If they are part of a hole of
   the nursery (LUAN_YOUNG), only removes their other marks; luaN_recycle frees them later. Returns
   their block if the caller must call luaN_relist for it, else NULL. After several calls for one
   block, one call of luaN_relist is enough. */
LUAI_FUNC luaN_Block *luaN_freelines (luaN_Blocks *h, char *p, size_t n);

#endif
