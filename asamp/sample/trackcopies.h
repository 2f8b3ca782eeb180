/* SPDX-License-Identifier: MIT */
/*
** Samples copied bytes: those moved when a vector grows, and those copied into new strings.
**
** Rule A8 of the tracker (tracker.h has A1 to A4):
**
**   A8  copied bytes have the sampling period of allocations. Bytes moved by growing vectors are
**       sampled separately (luaN_setcopies). Bytes copied into a string are sampled with the
**       string's allocation: a sample of n sampling periods represents n random points in the
**       string's block. Each point in the text (not in the block's header) is a sample of copied
**       bytes, too. Its kind is COPY_AGAIN if the point is in the old text of a variable that s
**       = s .. x extends, else COPY_NEW.
*/
#ifndef asamp_trackcopies_h
#define asamp_trackcopies_h

#include "trackerstate.h"

/* If copies are sampled, sets the number of bytes that growing vectors may move until the first
   sample is taken. */
void trackcopies_start (Tracker *t, lua_State *L);

/* Reports the bytes copied into the new string of sample *s. Call it directly after the report of
   *s. 'rounding': unused bytes at the end of the string's block. */
void trackcopies_string (Tracker *t, lua_State *L, const ProfileSample *s, unsigned rounding);

/* Takes a sample of bytes that growing vectors have moved. Returns the number of bytes to move
   until the next call; UINT64_MAX: no more calls.
   n     bytes of the vector that grew last
   over  bytes moved beyond the number that the last call returned */
uint64_t trackcopies_grown (void *ud, lua_State *L, size_t n, uint64_t over);

#endif
