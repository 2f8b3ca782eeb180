/* SPDX-License-Identifier: MIT */
/*
** The watched blocks of a tracker: blocks with a live sample that may be freed or resized between
** collections.
**
**   A6  a program may free millions of unwatched blocks per second, so a check must be cheap. Two
**       bits of the bit set Tracker.watching mark a watched block. The Lua core checks the first
**       bit, trackwatch_freed the second. Few unwatched blocks have both bits set.
*/
#ifndef asamp_trackwatch_h
#define asamp_trackwatch_h

#include "trackerstate.h"

/* log2 of the number of used bits of the bit set Tracker.watching, if fewer than FEW_BLOCKS blocks
   were watched when trackwatch_clean last rebuilt it; these bits take 2 KiB. If more blocks were
   watched, the log2 is TRACKER_WATCHLOG. A block is watched if its free or resize must be
   noticed. */
#define TRACKWATCH_FEWLOG	14

/* Allocates the bit set if needed. Returns 0 if out of memory. */
int trackwatch_ready (Tracker *t);

/* Starts watching a block: sets its two bits in Tracker.watching. Call trackwatch_ready first. */
void trackwatch_add (Tracker *t, lua_State *L, const void *block);

/* Clears the bits of blocks that are no longer watched, if there are many such blocks
   (MAX_STALE_BLOCKS). Keeps only the bits of blocks in Tracker.followed, so call it only while
   Tracker.pending is empty. */
void trackwatch_clean (Tracker *t, lua_State *L);

/* Clears the bit set Tracker.watching, so that the tracker of another Lua state can use its memory.
   Call it after the callbacks are unregistered, because the Lua core must not read the bit set
   meanwhile. */
void trackwatch_reset (Tracker *t);

/* The Lua core calls these two functions when a block was freed or resized, if the first of the
   block's two bits in Tracker.watching is set. */
void trackwatch_freed (void *ud, lua_State *L, const void *block);
void trackwatch_resized (void *ud, lua_State *L, const void *from, const void *to,
                         uint64_t before, uint64_t after);

#endif
