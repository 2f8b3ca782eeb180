/* SPDX-License-Identifier: MIT */
/*
** The set of objects that a walk over the heap has reached; empty between two walks. The bit of an
** object is that of its first granule in its block (luaN_bits), or TESTBIT in its header if it is
** in lists.large or is the main thread. No walk is possible while marking uses the same bits, for
** marked objects that did not fit on a mark stack.
*/
#ifndef luaN_visits_h
#define luaN_visits_h

#include "lgc.h"
#include "lstate.h"

/* Adds o to the set. Returns 1 if it was there already, else 0. */
LUAI_FUNC int luaN_visit (const global_State *g, GCObject *o);

/* Returns 1 if o is in the set. */
LUAI_FUNC int luaN_isvisited (const global_State *g, const GCObject *o);

/* Empties the set. */
LUAI_FUNC void luaN_clearvisits (global_State *g);

#endif
