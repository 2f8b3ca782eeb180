/* SPDX-License-Identifier: MIT */
/* Lines and holes: where the next allocations are, and which lines are free again. */
#ifndef luaN_holes_h
#define luaN_holes_h

#include "heap.h"

/* Bytes of blocks up to which a heap uses every hole before it gets another chunk. A higher limit
   makes small states smaller, and larger heaps slower to find holes. */
#define LUAN_DENSEHEAP	((size_t)64 * 1024)

/*
** Finds a hole of at least n bytes (n <= LUAN_LARGE, rounded) and sets *r to it; the rest of the
** hole that *r had is dropped. 'desperate': searches every block first. Returns 0 if there is no
** such hole and no memory for a chunk. Never collects.
*/
LUAI_FUNC int luaN_nexthole (struct global_State *g, luaN_Region *r,
                             size_t n, int desperate);

/* Sets *r to the next hole of at least n bytes in the block that *r is in. Returns 0 if there is
   none. */
LUAI_FUNC int luaN_holehere (struct global_State *g, luaN_Region *r, size_t n);

/* Ends the nursery: removes LUAN_YOUNG from all lines, so that lines without another mark become
   free, and moves the blocks of 'used' to other lists as luaN_relist does. All regions must be
   empty. */
LUAI_FUNC void luaN_recycle (luaN_Blocks *h);

/* Moves b, of which lines have become free, to 'empty', to the 'holed' list of its class, or, if it
   has few free lines (MIN_FREE_LINES), to no list. Leaves b in 'used' if it is there. */
LUAI_FUNC void luaN_relist (luaN_Blocks *h, luaN_Block *b);

/* Starts a sweep of all lines. */
#define luaN_beginlines(h)  ((h)->sweptchunk = (h)->chunks, (h)->sweptblock = 0)

/* Removes all marks but those of 'bit', LUAN_YOUNG, LUAN_HELD and LUAN_HEAD from the lines of up
   to n blocks. Returns the number of blocks visited; less than n if no block is left. */
LUAI_FUNC unsigned luaN_sweeplines (luaN_Blocks *h, lu_byte bit, unsigned n);

/* Frees the lines that n bytes at p, a dead vector, fill completely. The next minor collection
   frees those that have LUAN_YOUNG. */
LUAI_FUNC void luaN_forget (luaN_Blocks *h, char *p, size_t n);

/* Frees the n bytes at p, whole lines with equal marks; if these have LUAN_YOUNG, the running minor
   collection frees the lines at its end. Returns their block if luaN_relist must be called, once
   for all lines that are freed there; else NULL. */
LUAI_FUNC luaN_Block *luaN_freelines (luaN_Blocks *h, char *p, size_t n);

#endif
