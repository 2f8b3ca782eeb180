/* SPDX-License-Identifier: MIT */
/* Refinement: processes entries of the remembered set before the next minor collection would.
   Collects nothing and raises nothing. Except for luaN_refinetables, the functions may be called
   wherever a barrier may. */
#ifndef luaN_refine_h
#define luaN_refine_h

#include "lgc.h"
#include "lstate.h"

/* luaN_refineslots tenures the young objects to which the slots of remset.slots refer, and removes
   these slots; slots of weak tables stay as long as they are few. luaN_refineobjects does the same
   for remset.objects; weak tables and objects that are written to without a barrier stay. */
LUAI_FUNC void luaN_refineslots (lua_State *L);
LUAI_FUNC void luaN_refineobjects (lua_State *L);

/* Tenures o, to which an old object refers, and remembers o if it has references. */
LUAI_FUNC void luaN_tenure (lua_State *L, GCObject *o);

/* To be called at a safepoint. Processes a part of a table that is remembered as a whole, and
   returns 1; or does nothing and returns 0, if a minor collection can visit all that is left. */
LUAI_FUNC int luaN_refinetables (lua_State *L);

#endif
