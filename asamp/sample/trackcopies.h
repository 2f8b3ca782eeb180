/* SPDX-License-Identifier: MIT */
/*
** Samples copied bytes: those moved when a vector grows, and those copied into new strings.
**
**   A8  copies have the period of allocations. Moved bytes have their own sample points
**       (luaN_setcopies). A sample point of a string's allocation counts as copied with the
**       probability that it lies in the text: as COPY_AGAIN if it lies in the part that comes from
**       the replaced operand (s = s .. x), else as COPY_NEW.
*/
#ifndef asamp_trackcopies_h
#define asamp_trackcopies_h

#include "trackerstate.h"

/* Sets the first sample point of moved bytes, if copies are sampled. */
void trackcopies_start (Tracker *t, lua_State *L);

/* Reports the bytes copied into the string of sample 's', which was just reported. The
   'rounding' bytes after the text are not copied. */
void trackcopies_string (Tracker *t, lua_State *L, const ProfileSample *s, unsigned rounding);

/* Called by the core when a growing block has moved bytes past the sample point. Returns the
   distance to the next one in bytes; UINT64_MAX: none. */
uint64_t trackcopies_grown (void *ud, lua_State *L, size_t n, uint64_t over);

#endif
