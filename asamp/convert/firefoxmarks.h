/* SPDX-License-Identifier: MIT */
/* Writes collections, marks and counters of a Firefox profile, from the entries of the temporary
   file 'event' (firefox.c). */
#ifndef asamp_firefoxmarks_h
#define asamp_firefoxmarks_h

#include "firefoxcolumns.h"

/*
** Write the columns and the closing brace of a table of markers (points in time with a name, in the
** Firefox format). firefoxmarks_markers writes the collections, and the marks of the program, of
** the group of Lua states w->group. firefoxmarks_none writes an empty table.
*/
void firefoxmarks_markers (FirefoxFile *w);
void firefoxmarks_none (FirefoxFile *w);
/* Writes the member "counters" of the file, and a comma. The counters are sizes of memory, with a
   value at each collection. */
void firefoxmarks_counters (FirefoxFile *w);

#endif
