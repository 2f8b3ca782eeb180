/* SPDX-License-Identifier: MIT */
/*
** Samples of copied bytes.
**
**   A8  copies are sampled with the period of allocations. There are two sources. Bytes moved by
**       growth have sample points of their own (luaN_setcopies). Bytes copied into a new string use
**       the sample points of the string's allocation: each of them counts for the copied text with
**       a probability equal to the text's share of the block. A point that counts for the text is
**       one of COPY_AGAIN with a probability equal to the share of the text that comes from the
**       operand which the string replaces (luaN_replaced); otherwise it is one of COPY_NEW.
*/
#ifndef asamp_trackcopies_h
#define asamp_trackcopies_h

#include "trackerstate.h"

/* If copies are sampled, sets the first sample point of the bytes that growing blocks move (A8). */
void trackcopies_start (Tracker *t, lua_State *L);

/*
** Reports the bytes copied into a string. The string's sample 's' was reported just before, and
** its stack is in t->stack. 'rounding': the number of bytes of the block after the text; like the
** header, they are not copied.
*/
void trackcopies_string (Tracker *t, lua_State *L, const ProfileSample *s, unsigned rounding);

/* Callback of luaN_Sampler: called when growth has passed a sample point. Returns the distance to
   the next one in bytes; UINT64_MAX: no more samples are wanted. */
uint64_t trackcopies_grown (void *ud, lua_State *L, size_t n, uint64_t over);

#endif
