/* SPDX-License-Identifier: MIT */
/*
** Collections, marks and counters of a Firefox profile, from what was spilled.
*/
#ifndef asamp_firefoxmarks_h
#define asamp_firefoxmarks_h

#include "firefoxcolumns.h"

/* The parts of the file, each with its braces: markers of w->group, counters of all. */
void firefoxmarks_markers (FirefoxFile *w);
void firefoxmarks_none (FirefoxFile *w);  /* of a thread that has no markers */
void firefoxmarks_counters (FirefoxFile *w);

#endif
