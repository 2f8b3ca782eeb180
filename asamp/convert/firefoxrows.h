/* SPDX-License-Identifier: MIT */
/* Writes the samples and allocations of the threads of a Firefox profile, from the rows in
   temporary files (firefox.h). */
#ifndef asamp_firefoxrows_h
#define asamp_firefoxrows_h

#include "firefoxcolumns.h"

/*
** Writes the table of samples of the thread for the group of Lua states w->group: its columns and
** its closing brace. The samples are the time samples or, if the profile has none, the allocations.
*/
void firefoxrows_samples (FirefoxFile *w);
/* Writes the table of allocations of the same thread, in the same way. 'tid' is the thread's
   "tid". */
void firefoxrows_allocations (FirefoxFile *w, uint32_t tid);
/* Writes the table of samples of the thread "Held at the end", which shows the objects alive at the
   end with the references to them (FX4). */
void firefoxrows_held (FirefoxFile *w);

#endif
