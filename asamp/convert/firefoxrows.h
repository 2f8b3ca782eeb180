/* SPDX-License-Identifier: MIT */
/* Writes the samples and allocations of the threads of a Firefox profile, from stored rows. */
#ifndef asamp_firefoxrows_h
#define asamp_firefoxrows_h

#include "firefoxcolumns.h"

/*
** Write the columns and the closing brace of a table of the group w->group. firefoxrows_samples
** writes its time samples or, if the profile has none, its allocations as samples.
** firefoxrows_allocations writes its allocations. 'tid': the thread's "tid".
*/
void firefoxrows_samples (FirefoxFile *w);
void firefoxrows_allocations (FirefoxFile *w, uint32_t tid);
/* As firefoxrows_samples, for the thread "Held at the end" (FX4). */
void firefoxrows_held (FirefoxFile *w);

#endif
