/* SPDX-License-Identifier: MIT */
/*
** Lines and holes: where the next bytes lie, and which lines are free again.
*/
#ifndef luaN_holes_h
#define luaN_holes_h

#include "heap.h"

/* A heap of so few bytes uses all of its holes before it grows. */
#define LUAN_DENSEHEAP	((size_t)64 * 1024)

/*
** Finds a hole of at least n bytes (n <= LUAN_LARGE, rounded) for 'r', whose old rest
** is forgotten. 'desperate' looks at every block. Returns 0 when lua_Alloc gives no
** more. Never collects.
*/
LUAI_FUNC int luaN_nexthole (struct global_State *g, luaN_Region *r,
                             size_t n, int desperate);

/* Takes the next hole of the current block, or returns 0 (no hole there). */
LUAI_FUNC int luaN_holehere (struct global_State *g, luaN_Region *r, size_t n);

/*
** Ends the nursery: holes that were taken and bear no mark are free again.
** All regions must be empty.
*/
LUAI_FUNC void luaN_recycle (luaN_Blocks *h);

/* Lines of b may have lost their last mark: then they are free. */
LUAI_FUNC void luaN_relist (luaN_Blocks *h, luaN_Block *b);

/* A sweep of all lines begins. */
#define luaN_beginlines(h)  ((h)->sweptchunk = (h)->chunks, (h)->sweptblock = 0)

/*
** Takes all marks but those of 'bit' off the lines of at most n blocks. Returns how
** many it did; fewer than n at the end.
*/
LUAI_FUNC unsigned luaN_sweeplines (luaN_Blocks *h, lu_byte bit, unsigned n);

/* n bytes at p, a vector in lines, are garbage: frees the lines it fills. */
LUAI_FUNC void luaN_forget (luaN_Blocks *h, char *p, size_t n);

/* The same of n bytes of whole lines, that had the same marks. The block that is returned, unless
   it is NULL, needs luaN_relist: once for all that is freed there. */
LUAI_FUNC luaN_Block *luaN_freelines (luaN_Blocks *h, char *p, size_t n);

#endif
