/* SPDX-License-Identifier: MIT */
/* Lines and holes: where the next allocations are, and which lines are free again. */
#ifndef luaN_holes_h
#define luaN_holes_h

#include "heap.h"

/* Bytes of blocks up to which a heap uses every hole before it gets another chunk. A higher limit
   makes small states smaller, and larger heaps slower to find holes. */
#define LUAN_DENSEHEAP	((size_t)64 * 1024)

/*
** Finds a hole of at least n bytes (n <= LUAN_LARGE, rounded) and sets *r to it; the rest of its
** old hole is dropped. 'desperate': visits every block. Returns 0 if lua_Alloc has no more
** memory. Never collects.
*/
LUAI_FUNC int luaN_nexthole (struct global_State *g, luaN_Region *r,
                             size_t n, int desperate);

/* Takes the next hole of the current block that has n bytes. Returns 0 if there is none. */
LUAI_FUNC int luaN_holehere (struct global_State *g, luaN_Region *r, size_t n);

/* Ends the nursery: lines of its holes that have no mark become free. All regions must be empty. */
LUAI_FUNC void luaN_recycle (luaN_Blocks *h);

/* Puts b into the right list, if lines of it have become free. */
LUAI_FUNC void luaN_relist (luaN_Blocks *h, luaN_Block *b);

/* Starts a sweep of all lines. */
#define luaN_beginlines(h)  ((h)->sweptchunk = (h)->chunks, (h)->sweptblock = 0)

/* Removes all marks but those of 'bit', LUAN_YOUNG, LUAN_HELD and LUAN_HEAD from the lines of up
   to n blocks. Returns the number of blocks visited, which is less than n at the end. */
LUAI_FUNC unsigned luaN_sweeplines (luaN_Blocks *h, lu_byte bit, unsigned n);

/* Frees the lines that n bytes at p, a dead vector, fill completely. */
LUAI_FUNC void luaN_forget (luaN_Blocks *h, char *p, size_t n);

/* Frees the whole lines of n bytes at p, which have equal marks. Returns their block if it must
   be relisted (luaN_relist), once for all lines that are freed there; else NULL. */
LUAI_FUNC luaN_Block *luaN_freelines (luaN_Blocks *h, char *p, size_t n);

#endif
