/* SPDX-License-Identifier: MIT */
/* Writes the collections, marks and counters of a Firefox profile. Reads them from the temporary
   file Firefox.event, in which firefox.c has stored them. */
#ifndef asamp_firefoxmarks_h
#define asamp_firefoxmarks_h

#include "firefoxcolumns.h"

/* Writes a table of markers: the collections and marks of the Lua states in the group w->group (one
   state, the states of one script, or all others; tags.h). */
void firefoxmarks_markers (FirefoxFile *w);
/* Writes an empty table of markers. */
void firefoxmarks_none (FirefoxFile *w);
/* Writes the member "counters" and a comma: sizes of memory at each collection. */
void firefoxmarks_counters (FirefoxFile *w);

#endif
