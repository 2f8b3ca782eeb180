/* SPDX-License-Identifier: MIT */
/*
** A set of objects, for walks over the heap: one bit for each granule of a block (the marker uses
** the same bits for pending objects), and TESTBIT of the main thread and of objects in lists.large.
** The set is empty between two walks; a walk is possible only while no object is pending.
*/
#ifndef luaN_visits_h
#define luaN_visits_h

#include "lgc.h"
#include "lstate.h"

/* luaN_visit adds o to the set and returns 1 if o was already there, else 0. luaN_isvisited returns
   1 if o is in the set. luaN_clearvisits empties the set. */
LUAI_FUNC int luaN_visit (const global_State *g, GCObject *o);
LUAI_FUNC int luaN_isvisited (const global_State *g, const GCObject *o);
LUAI_FUNC void luaN_clearvisits (global_State *g);

#endif
