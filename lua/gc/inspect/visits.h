/* SPDX-License-Identifier: MIT */
/*
** The set of the objects that a walk over the heap has reached. An object in the set has the bit of
** its first granule set in its block (luaN_bits) or, if it is in lists.large or is the main thread,
** TESTBIT in its header. The set is empty between two walks. A walk is possible only while no
** object is pending, because marking uses the same bits of blocks for pending objects: those that
** are marked and did not fit on a mark stack.
*/
#ifndef luaN_visits_h
#define luaN_visits_h

#include "lgc.h"
#include "lstate.h"

/* luaN_visit adds o to the set of objects that the walk has reached. It returns 1 if o was in
   the set already, else 0. luaN_isvisited returns 1 if o is in the set. luaN_clearvisits empties
   the set. */
LUAI_FUNC int luaN_visit (const global_State *g, GCObject *o);
LUAI_FUNC int luaN_isvisited (const global_State *g, const GCObject *o);
LUAI_FUNC void luaN_clearvisits (global_State *g);

#endif
