/* SPDX-License-Identifier: MIT */
/* Early processing of the remembered set, before the minor collection that would do it. May be
   called wherever a barrier may: it does not collect and raises nothing. */
#ifndef luaN_refine_h
#define luaN_refine_h

#include "lgc.h"
#include "lstate.h"

/* luaN_refineslots tenures the young objects to which remembered slots refer, and forgets these
   slots; luaN_refineobjects does the same for remembered objects. Slots of weak tables stay as long
   as they are few, and weak tables and objects that are written to without a barrier stay. */
LUAI_FUNC void luaN_refineslots (lua_State *L);
LUAI_FUNC void luaN_refineobjects (lua_State *L);

/* Tenures o, which an old object refers to, and remembers it. */
LUAI_FUNC void luaN_tenure (lua_State *L, GCObject *o);

/* Processes a part of a table that is remembered as a whole. To be called at a safepoint. Returns
   0 if the rest is small enough for a minor collection. */
LUAI_FUNC int luaN_refinetables (lua_State *L);

#endif
