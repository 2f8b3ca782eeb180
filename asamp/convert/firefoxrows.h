/* SPDX-License-Identifier: MIT */
/* Writes samples and allocations of a Firefox profile's threads, from the stored rows
   (firefox.h). */
#ifndef asamp_firefoxrows_h
#define asamp_firefoxrows_h

#include "firefoxcolumns.h"

/* Writes the samples of the Lua states in group w->group (tags.h): time samples or, if the profile
   has none, allocations. */
void firefoxrows_samples (FirefoxFile *w);
/* Writes the allocations of the Lua states in group w->group. 'tid' is the thread's number. */
void firefoxrows_allocations (FirefoxFile *w, uint32_t tid);
/* Writes the samples of the thread that shows the objects alive at the end. */
void firefoxrows_held (FirefoxFile *w);

#endif
