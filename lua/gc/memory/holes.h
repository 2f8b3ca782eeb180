/* SPDX-License-Identifier: MIT */
/* Lines and holes: where the next allocations are, and which lines are free again. */
#ifndef luaN_holes_h
#define luaN_holes_h

#include "heap.h"

/* Bytes of blocks up to which a heap searches all blocks for a hole before it gets another chunk. A
   higher limit makes small states smaller, and the search in larger heaps slower. */
#define LUAN_DENSEHEAP	((size_t)64 * 1024)

/*
** Takes a hole of at least n bytes (a multiple of 8, n <= LUAN_LARGE + 8) and sets *r to it; the
** rest of the previous hole of *r is dropped. 'desperate': searches every block first. Returns 0,
** and keeps *r, if there is no such hole and no memory for a chunk. Never collects.
*/
LUAI_FUNC int luaN_nexthole (struct global_State *g, luaN_Region *r,
                             size_t n, int desperate);

/* Takes the first hole of at least n bytes after r->end in the same block and sets *r to it.
   Returns 0, and keeps *r, if there is none or *r has no hole. */
LUAI_FUNC int luaN_holehere (struct global_State *g, luaN_Region *r, size_t n);

/* Ends the nursery: removes LUAN_YOUNG from all lines, so that lines without another mark become
   free, and moves the blocks of 'used' to other lists as luaN_relist does. The current hole and the
   overflow region must have been given up (luaN_retire). */
LUAI_FUNC void luaN_recycle (luaN_Blocks *h);

/* Moves b, of which lines have become free, to 'empty', to the 'holed' list of its class, or, if it
   has few free lines (MIN_FREE_LINES), to no list. A block in 'used' stays there. */
LUAI_FUNC void luaN_relist (luaN_Blocks *h, luaN_Block *b);

/* Starts a sweep of all lines. */
#define luaN_beginlines(h)  ((h)->sweptchunk = (h)->chunks, (h)->sweptblock = 0)

/* Continues the sweep of all lines: removes all bits but 'bit', LUAN_YOUNG, LUAN_HELD and LUAN_HEAD
   from the marks of up to n blocks, and moves blocks as luaN_relist does if lines become free.
   Returns the number of blocks visited; if it is less than n, the sweep is finished. */
LUAI_FUNC unsigned luaN_sweeplines (luaN_Blocks *h, lu_byte bit, unsigned n);

/* Frees the lines that n bytes at p fill completely: a vector, or the end of one that was shrunk.
   Of a line with LUAN_YOUNG only removes the other marks, so that luaN_recycle frees the line. */
LUAI_FUNC void luaN_forget (luaN_Blocks *h, char *p, size_t n);

/* Frees the n bytes at p, whole lines with equal marks. If the lines have LUAN_YOUNG, removes only
   their other marks, so that luaN_recycle frees them. Returns their block if luaN_relist must be
   called, once after all lines of that block were freed; else NULL. */
LUAI_FUNC luaN_Block *luaN_freelines (luaN_Blocks *h, char *p, size_t n);

#endif
