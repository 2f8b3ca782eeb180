/* SPDX-License-Identifier: MIT */
/*
** The blocks that a tracker watches: those with a pending or followed sample that the program can
** free or resize between collections.
**
**   A6  the program frees millions of blocks per second, so the free of an unwatched block must
**       need no call and read little memory. For this, 'watching' has two bits for each block that
**       'pending' or 'followed' watches: that of luaN_watchbit, and a second bit in the same word,
**       which is checked if the first one is set. After a collection, these bits are set for only
**       few blocks that are not watched.
*/
#ifndef asamp_trackwatch_h
#define asamp_trackwatch_h

#include "trackerstate.h"

#define TRACKWATCH_FEWLOG	14	/* log2 of the bits in use while few blocks are watched */

/* Allocates the bits with calloc at the first call, all 0. Returns 0 if there is not enough
   memory. */
int trackwatch_ready (Tracker *t);

/* Sets the bits of a block that becomes watched. Call trackwatch_ready first. */
void trackwatch_add (Tracker *t, lua_State *L, const void *block);

/* Clears the bits of blocks that are no longer watched, if there are many such blocks. Call it only
   while no sample is pending. */
void trackwatch_clean (Tracker *t, lua_State *L);

/* Clears all bits before the tracker is used for another state. The core must no longer use
   them. */
void trackwatch_reset (Tracker *t);

/* Callbacks of luaN_Sampler: called when a watched block was freed, or resized. A resize moves the
   block's samples to the new address. */
void trackwatch_freed (void *ud, lua_State *L, const void *block);
void trackwatch_resized (void *ud, lua_State *L, const void *from, const void *to,
                         uint64_t before, uint64_t after);

#endif
