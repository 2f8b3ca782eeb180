/* SPDX-License-Identifier: MIT */
/*
** Samples of copied bytes.
**
**   A8  copies are sampled with the period of allocations. A string's sample is also one of the
**       bytes copied into it: each of its points lies in the text with a probability equal to
**       the text's share of the block, and then in the operand that the string replaces
**       (luaN_replaced) with a probability equal to the operand's share of the text. Bytes moved
**       by growth have points of their own (luaN_setcopies).
*/
#ifndef asamp_trackcopies_h
#define asamp_trackcopies_h

#include "trackerstate.h"

/* Sets the first sample point of growth, if copies are sampled. */
void trackcopies_start (Tracker *t, lua_State *L);

/*
** Reports the bytes copied into a string whose sample 's' was just reported, with the stack in
** t->stack. 'rounding': bytes of the block after the text, which like the header are not copied.
*/
void trackcopies_string (Tracker *t, lua_State *L, const ProfileSample *s, unsigned rounding);

/* Callback of luaN_Sampler: growth has passed a sample point. */
uint64_t trackcopies_grown (void *ud, lua_State *L, size_t n, uint64_t over);

#endif
