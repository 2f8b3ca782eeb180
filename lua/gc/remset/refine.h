/* SPDX-License-Identifier: MIT */
/* Refinement processes entries of the remembered set before the next minor collection: it tenures
   the young objects to which the entries refer, and removes the entries. These functions raise no
   error and run no collection. luaN_refinetables may be called only at a safepoint; the other
   functions may be called wherever a write barrier may be called. */
#pragma once

#include "lgc.h"

/* Removes the slots from remset.slots, and tenures the young objects to which they refer. Slots of
   weak tables with a young key or value stay in the list, unless the list would stay too long. */
LUAI_FUNC void luaN_refineslots (lua_State *L);

/* Removes the objects from remset.objects, and tenures the young objects to which they refer. Weak
   tables, threads and open upvalues stay in the list. Does nothing if more than half of the list
   would stay, judged by the number of objects that stayed at the last call. */
LUAI_FUNC void luaN_refineobjects (lua_State *L);

/* Marks o, to which an old object refers. If o was young, marking tenures it; o is then added to
   the remembered set if it may refer to young objects. */
LUAI_FUNC void luaN_tenure (lua_State *L, GCObject *o);

/* To be called at a safepoint. The list remset.whole contains tables whose slots must all be
   visited. If more than remset.many slots of these tables are not visited yet, visits up to
   remset.many slots of one table, tenures the young objects to which the slots refer, and returns
   1. Later calls continue with the next slots of this table. Otherwise returns 0. */
LUAI_FUNC int luaN_refinetables (lua_State *L);
