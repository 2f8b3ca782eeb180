/* SPDX-License-Identifier: MIT */
/*
** The blocks that a tracker watches: those with a pending or followed sample that the program can
** free or resize between collections.
**
**   A6  the bits of every block that 'pending' or 'followed' watches are set in 'watching', and
**       after a collection few others are: the bit of luaN_watchbit, and a second bit in the same
**       word, which is checked if the first one is set. The program frees millions of blocks per
**       second, so the free of an unwatched block must need no call and touch little of the cache.
*/
#ifndef asamp_trackwatch_h
#define asamp_trackwatch_h

#include "trackerstate.h"

#define TRACKWATCH_FEWLOG	14	/* log2 of the bits in use while few blocks are watched */

/* Allocates the bits if needed, all 0, with calloc. Returns 0 if there is not enough memory. */
int trackwatch_ready (Tracker *t);

/* Sets the bits of a block that is watched from now on. Requires trackwatch_ready. */
void trackwatch_add (Tracker *t, lua_State *L, const void *block);

/* Clears the bits of blocks no longer watched if they are many. Call it if no sample is pending. */
void trackwatch_clean (Tracker *t, lua_State *L);

/* Clears all bits, for another state. The core must not use them. */
void trackwatch_reset (Tracker *t);

/* Callbacks of luaN_Sampler: a watched block was freed, or resized, which moves its samples to
   the new address. */
void trackwatch_freed (void *ud, lua_State *L, const void *block);
void trackwatch_resized (void *ud, lua_State *L, const void *from, const void *to,
                         uint64_t before, uint64_t after);

#endif
