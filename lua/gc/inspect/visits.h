/* SPDX-License-Identifier: MIT */
/*
** The set of objects that a walk over the heap has reached; it is empty between two walks. It has
** one bit for each object: TESTBIT in the header of the main thread and of objects in lists.large;
** for another object, the bit of its first granule (8 bytes) in its block (luaN_bits).
**
** Marking uses the bits of granules for marked objects that did not fit on a mark stack. While
** there are such objects, no walk is possible.
*/
#pragma once

#include "lgc.h"

/* Adds o to the set. Returns 1 if o was in the set before, else 0. */
LUAI_FUNC int luaN_visit (const global_State *g, GCObject *o);

/* Returns 1 if o is in the set. */
LUAI_FUNC int luaN_isvisited (const global_State *g, const GCObject *o);

/* Empties the set. */
LUAI_FUNC void luaN_clearvisits (global_State *g);
