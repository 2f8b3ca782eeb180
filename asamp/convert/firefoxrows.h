/* SPDX-License-Identifier: MIT */
/*
** The samples and allocations of a thread of a Firefox profile, from what was spilled.
*/
#ifndef asamp_firefoxrows_h
#define asamp_firefoxrows_h

#include "firefoxcolumns.h"

/* The parts of the file, each with its braces: of w->group. */
void firefoxrows_samples (FirefoxFile *w);
void firefoxrows_allocations (FirefoxFile *w, uint32_t tid);
/* The samples of the thread of what is held. */
void firefoxrows_held (FirefoxFile *w);

#endif
