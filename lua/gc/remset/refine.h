/* SPDX-License-Identifier: MIT */
/* Refinement: processes entries of the remembered set before the next minor collection would.
   Collects nothing and raises nothing. Except for luaN_refinetables, the functions may be called
   wherever a barrier may. */
#ifndef luaN_refine_h
#define luaN_refine_h

#include "lgc.h"
#include "lstate.h"

/* luaN_refineslots tenures the young objects to which the slots of remset.slots refer, and removes
   these slots; slots of weak tables with a young key or value stay unless they are too many.
   luaN_refineobjects does the same for remset.objects, if it can remove enough of them; weak
   tables, threads and open upvalues stay. */
LUAI_FUNC void luaN_refineslots (lua_State *L);
LUAI_FUNC void luaN_refineobjects (lua_State *L);

/* Marks o, to which an old object refers. If o was young, this tenures o; o is remembered then if
   it may refer to unmarked objects. */
LUAI_FUNC void luaN_tenure (lua_State *L, GCObject *o);

/* To be called at a safepoint. If the tables in remset.whole, and the rest of remset.refining, have
   more than remset.many slots, processes up to that number of slots of one table and returns 1;
   else returns 0. */
LUAI_FUNC int luaN_refinetables (lua_State *L);

#endif
