/* SPDX-License-Identifier: MIT */
/* Writes the samples and allocations of the threads of a Firefox profile, from stored rows. */
#ifndef asamp_firefoxrows_h
#define asamp_firefoxrows_h

#include "firefoxcolumns.h"

/*
** Writes the table of samples of the thread for group w->group: its columns and its closing brace.
** The samples are the time samples or, if the profile has none, the allocations.
*/
void firefoxrows_samples (FirefoxFile *w);
/* Writes the table of allocations of that thread, in the same way. 'tid' is the thread's "tid". */
void firefoxrows_allocations (FirefoxFile *w, uint32_t tid);
/* Writes the table of samples of the thread "Held at the end" (FX4). */
void firefoxrows_held (FirefoxFile *w);

#endif
