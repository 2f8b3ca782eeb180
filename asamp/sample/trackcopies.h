/* SPDX-License-Identifier: MIT */
/*
** Samples copied bytes: those moved when a vector grows, and those copied into new strings.
**
**   A8  copied bytes have the sampling period of allocations. Moved bytes are sampled separately
**       (luaN_setcopies). For copies into new strings, each period of a string's allocation sample
**       is a random point in its block. A point in the string's text is a sample of copied bytes:
**       COPY_AGAIN in the old text of s in s = s .. x, else COPY_NEW.
*/
#ifndef asamp_trackcopies_h
#define asamp_trackcopies_h

#include "trackerstate.h"

/* If copies are sampled, sets the number of moved bytes (bytes that growing vectors copy) after
   which the first sample is taken. */
void trackcopies_start (Tracker *t, lua_State *L);

/* Reports the bytes copied into the new string of sample *s. Call it directly after the report of
   *s. 'rounding': unused bytes at the end of the string's block. */
void trackcopies_string (Tracker *t, lua_State *L, const ProfileSample *s, unsigned rounding);

/* Takes a sample of moved bytes (copied by growing vectors). Returns the number of moved bytes
   until the Lua core's next call; UINT64_MAX: no more calls. 'over': bytes moved beyond the number
   that the last call returned. n: bytes of the vector that grew last. */
uint64_t trackcopies_grown (void *ud, lua_State *L, size_t n, uint64_t over);

#endif
