/* SPDX-License-Identifier: MIT */
/* Refinement: processes entries of the remembered set before the next minor collection. The
   functions never raise or collect. They may be called wherever a barrier may; luaN_refinetables
   only at a safepoint. */
#ifndef luaN_refine_h
#define luaN_refine_h

#include "lgc.h"
#include "lstate.h"

/*
** Removes slots from remset.slots, and tenures the young objects to which they refer. Slots of weak
** tables with a young key or value stay, unless there are too many.
*/
LUAI_FUNC void luaN_refineslots (lua_State *L);

/* Removes objects from remset.objects, and tenures the young objects to which they refer. Weak
   tables, threads and open upvalues stay. Does nothing if most objects would stay. */
LUAI_FUNC void luaN_refineobjects (lua_State *L);

/* Marks o, to which an old object refers: a young o is tenured, and remembered if it may refer to
   unmarked objects. */
LUAI_FUNC void luaN_tenure (lua_State *L, GCObject *o);

/* If the tables that are remembered as a whole have more than remset.many slots in total, processes
   up to remset.many slots of one of them and returns 1. To be called at a safepoint. */
LUAI_FUNC int luaN_refinetables (lua_State *L);

#endif
