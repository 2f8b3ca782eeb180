/* SPDX-License-Identifier: MIT */
/* Writes collections, marks and counters of a Firefox profile, from the rows of 'event'. */
#ifndef asamp_firefoxmarks_h
#define asamp_firefoxmarks_h

#include "firefoxcolumns.h"

/*
** Write the columns and the closing brace of a table of markers: those of the group w->group, or
** (_none) no markers.
*/
void firefoxmarks_markers (FirefoxFile *w);
void firefoxmarks_none (FirefoxFile *w);
/* Writes the member "counters" of the file and a comma: memory at the collections of all groups. */
void firefoxmarks_counters (FirefoxFile *w);

#endif
