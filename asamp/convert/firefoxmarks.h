/* SPDX-License-Identifier: MIT */
/* Collections, marks and counters of a Firefox profile, from the stored rows. */
#ifndef asamp_firefoxmarks_h
#define asamp_firefoxmarks_h

#include "firefoxcolumns.h"

/*
** Write a part of the file, including its braces: the markers of group w->group, the counters
** of all groups.
*/
void firefoxmarks_markers (FirefoxFile *w);
void firefoxmarks_none (FirefoxFile *w);  /* a thread without markers */
void firefoxmarks_counters (FirefoxFile *w);

#endif
