/* SPDX-License-Identifier: MIT */
/*
** Samples of copied bytes.
**
**   A8  copies are sampled with the period of allocations. Bytes that are moved when a vector or
**       buffer grows have sample points of their own (luaN_setcopies). Bytes copied into a new
**       string use the sample points of the string's allocation. Such a point counts as copied with
**       a probability equal to the copied text's share of the block. It then counts as COPY_AGAIN
**       with a probability equal to the share of the text that comes from the operand which the
**       string replaces (luaN_replaced), else as COPY_NEW.
*/
#ifndef asamp_trackcopies_h
#define asamp_trackcopies_h

#include "trackerstate.h"

/* If copied bytes are sampled, sets the first sample point of the bytes that growing blocks
   move. */
void trackcopies_start (Tracker *t, lua_State *L);

/* Reports the bytes copied into a string. The string's sample 's' was reported just before, and its
   stack is in t->stack. 'rounding' is the number of bytes after the text, which, like the header,
   are not copied. */
void trackcopies_string (Tracker *t, lua_State *L, const ProfileSample *s, unsigned rounding);

/* Callback of luaN_Sampler: called when a growing block has moved bytes past a sample point.
   Returns the distance to the next one in bytes; UINT64_MAX: no more samples are wanted. */
uint64_t trackcopies_grown (void *ud, lua_State *L, size_t n, uint64_t over);

#endif
