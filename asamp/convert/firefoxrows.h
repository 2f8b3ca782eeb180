/* SPDX-License-Identifier: MIT */
/* Writes samples and allocations of a Firefox profile's threads, from the stored rows
   (firefox.h). */
#ifndef asamp_firefoxrows_h
#define asamp_firefoxrows_h

#include "firefoxcolumns.h"

/* Writes the samples of the Lua states in group w->group (tags.h): time samples or, if the profile
   has none, allocations. If there are neither, writes two samples without a stack. */
void firefoxrows_samples (FirefoxFile *w);
/* Writes the table of allocations and deaths of the Lua states in the group w->group (tags.h).
   'tid' is the number of the group's "thread" of the Firefox format, a track of the viewer. */
void firefoxrows_allocations (FirefoxFile *w, uint32_t tid);
/* Writes the samples of the additional track that shows the objects alive at the end of the
   profile. */
void firefoxrows_held (FirefoxFile *w);

#endif
