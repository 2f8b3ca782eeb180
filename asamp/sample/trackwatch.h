/* SPDX-License-Identifier: MIT */
/*
** The blocks that a tracker watches: those that the program can free or resize between collections,
** and that have a sample whose survival or death is still to be reported.
**
**   A6  the program frees millions of blocks per second, so the free of an unwatched block must
**       need no call and read little memory. For this, the bit set Tracker.watching has two bits
**       for each watched block: that of luaN_watchbit, and a second bit in the same word, which is
**       checked if the first one is set. After a collection, these bits are set for only few blocks
**       that are not watched.
*/
#ifndef asamp_trackwatch_h
#define asamp_trackwatch_h

#include "trackerstate.h"

#define TRACKWATCH_FEWLOG	14	/* log2 of the number of bits of Tracker.watching that are
					   used while few blocks are watched */

/* Allocates the bits with calloc at the first call, all 0. Returns 0 if there is not enough
   memory. */
int trackwatch_ready (Tracker *t);

/* Sets the bits of a block whose frees are reported to the tracker from now on (a watched block).
   Call trackwatch_ready first. */
void trackwatch_add (Tracker *t, lua_State *L, const void *block);

/* Clears the bits of blocks that are no longer watched, if there are many such blocks. Call it only
   while the survival of all samples is decided. */
void trackwatch_clean (Tracker *t, lua_State *L);

/* Clears all bits before the tracker is used for another state. The core must no longer use
   them. */
void trackwatch_reset (Tracker *t);

/* Callbacks of luaN_Sampler: called when a watched block was freed, or resized. After a resize, the
   block's samples refer to its new address. */
void trackwatch_freed (void *ud, lua_State *L, const void *block);
void trackwatch_resized (void *ud, lua_State *L, const void *from, const void *to,
                         uint64_t before, uint64_t after);

#endif
