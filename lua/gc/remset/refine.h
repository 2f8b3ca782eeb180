/* SPDX-License-Identifier: MIT */
/* Refinement: processes entries of the remembered set before the next minor collection would. The
   functions never run a collection and never raise an error. They may be called wherever a write
   barrier may, except for luaN_refinetables, which only safepoints call. */
#ifndef luaN_refine_h
#define luaN_refine_h

#include "lgc.h"
#include "lstate.h"

/*
** luaN_refineslots removes slots from remset.slots, and tenures the young objects to which these
** slots refer. Slots of weak tables with a young key or value stay in the list, unless they are
** too many.
**
** luaN_refineobjects removes objects from remset.objects, and tenures the young objects to which
** they refer. Weak tables, threads and open upvalues stay in the list. The function does nothing
** if too many of the objects would stay.
*/
LUAI_FUNC void luaN_refineslots (lua_State *L);
LUAI_FUNC void luaN_refineobjects (lua_State *L);

/* Marks o, to which an old object refers. A young o becomes old (is tenured), and is added to
   the remembered set if it may refer to unmarked objects. */
LUAI_FUNC void luaN_tenure (lua_State *L, GCObject *o);

/* Processes up to remset.many slots of one table of the remembered set, if the tables that are
   remembered as a whole have more than remset.many slots in total; then returns 1, else 0. To be
   called at a safepoint. The tables are those of remset.whole, and the rest of the table
   remset.refining that was not processed by earlier calls. */
LUAI_FUNC int luaN_refinetables (lua_State *L);

#endif
