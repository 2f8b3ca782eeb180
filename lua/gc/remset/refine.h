/* SPDX-License-Identifier: MIT */
/* Refinement: processes entries of the remembered set before the next minor collection would. The
   functions never run a collection and never raise an error. They may be called wherever a write
   barrier may, except for luaN_refinetables, which only safepoints call. */
#ifndef luaN_refine_h
#define luaN_refine_h

#include "lgc.h"
#include "lstate.h"

/*
** luaN_refineslots tenures the young objects to which the slots of remset.slots refer, and removes
** these slots from the list. Slots of weak tables with a young key or value stay in it, unless they
** are too many. luaN_refineobjects does the same for the objects of remset.objects; weak tables,
** threads and open upvalues stay in that list. It does nothing if too many of the objects would
** stay.
*/
LUAI_FUNC void luaN_refineslots (lua_State *L);
LUAI_FUNC void luaN_refineobjects (lua_State *L);

/* Marks o, to which an old object refers. If o was young, it becomes old (is tenured), and it is
   added to the remembered set if it may refer to unmarked objects. */
LUAI_FUNC void luaN_tenure (lua_State *L, GCObject *o);

/* To be called at a safepoint. If the tables of remset.whole, and the unprocessed rest of the table
   remset.refining, have more than remset.many slots together, processes up to remset.many slots of
   one table and returns 1. Else returns 0. */
LUAI_FUNC int luaN_refinetables (lua_State *L);

#endif
