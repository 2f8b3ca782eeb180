/* SPDX-License-Identifier: MIT */
/* Refinement processes entries of the remembered set before the next minor collection: it tenures
   the young objects to which the entries refer, and removes the entries. The functions raise no
   error and run no collection. luaN_refinetables may be called only at a safepoint; the others may
   be called wherever a barrier may be called. */
#pragma once

#include "lgc.h"

/* Removes all slots from remset.slots, and tenures the young objects to which they refer. Slots of
   weak tables with a young key or value stay in the list, except if there are too many of them. */
LUAI_FUNC void luaN_refineslots (lua_State *L);

/* Removes objects from remset.objects, and tenures the young objects to which they refer. Weak
   tables, threads and open upvalues stay in the list. Does nothing if the last call has shown that
   most objects would stay. */
LUAI_FUNC void luaN_refineobjects (lua_State *L);

/* Marks o, to which an old object refers. If o was young, this tenures it: o is also added to the
   remembered set if it may refer to young objects. */
LUAI_FUNC void luaN_tenure (lua_State *L, GCObject *o);

/* To be called at a safepoint. The remembered set lists some tables instead of their slots. If more
   than remset.many slots of these tables are left to visit, visits up to remset.many slots of one
   table, tenures the young objects to which the slots refer, and returns 1. Later calls continue
   with the rest of this table. Otherwise returns 0. */
LUAI_FUNC int luaN_refinetables (lua_State *L);
