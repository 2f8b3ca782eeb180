/* SPDX-License-Identifier: MIT */
/*
** A set of objects, for walks over the heap: a bit for each granule of a block, which
** the marker has for what is pending, and TESTBIT of those that are listed. It
** is empty between two walks, and while nothing is pending.
*/
#ifndef luaN_visits_h
#define luaN_visits_h

#include "lgc.h"
#include "lstate.h"

/* Puts o into the set; returns whether it was there. */
LUAI_FUNC int luaN_visit (const global_State *g, GCObject *o);
LUAI_FUNC int luaN_isvisited (const global_State *g, const GCObject *o);
LUAI_FUNC void luaN_clearvisits (global_State *g);

#endif
