/* SPDX-License-Identifier: MIT */
/*
** The remembered set (G1, G8 of gc.h): objects that are traversed as a whole, and slots of larger
** tables. Adding to it never fails: if a list cannot grow, 'overflow' is set and the next
** collection is a full one, which needs no remembered set.
*/
#ifndef luaN_remset_h
#define luaN_remset_h

#include "mark.h"

/*
** Value of remset.many: 'objects' is refined at that number of objects, 'slots' at that number of
** words (at twice the number while remset.hurried is 1; for huge tables perhaps earlier, at
** remset.refineat). Tables in 'whole' are left to the minor collection unless they have more slots
** in total. A lower limit shortens pauses and makes barriers refine more often.
*/
#define LUAN_MANY	(1u << 15)

/*
** True if a table with 'slots' slots, remset.many / 8 or more, is huge: the headers of its values,
** one cache line each, do not fit, with other data, into a core's cache of the second level. Random
** stores of old objects into tables just below the limit show a limit that is too high
** (bench/load/permute.lua).
*/
#define luaN_isvast(c,slots)	((slots) >= (size_t)(c)->remset.many / 8)

/* Adds o to remset.whole if o is a table with LUAN_LISTED, else to remset.objects, to be traversed
   as a whole; if there is no memory, sets remset.overflow. No effect if o is logged or young. */
LUAI_FUNC void luaN_remember (lua_State *L, GCObject *o);

/*
** Moves the pairs of 'from' (table, slot, table, …) into remset.slots: slots that refer to objects
** that stayed young (ageing.h). To be called after a minor collection, when remset.slots is empty.
*/
LUAI_FUNC void luaN_rememberaged (lua_State *L, luaN_Vec *from);

/* Clears LUAN_CLEAN of thread L, and adds L to remset.objects if L is old and not logged. */
LUAI_FUNC void luaN_dirtythread (lua_State *L);

/* Moves all threads of remset.dirty to remset.objects. To be called when a collection starts. */
LUAI_FUNC void luaN_rememberdirty (lua_State *L);

/* Makes the running thread L dirty again if a collection has made it clean. */
LUAI_FUNC void luaN_keepdirty (lua_State *L);

/* Empties the remembered set. To be called when a full collection starts. */
LUAI_FUNC void luaN_forgetall (lua_State *L);

/* Resets the state of refinement (refine.c). To be called when a collection visits or drops the
   remembered set. */
LUAI_FUNC void luaN_forgetrefining (luaN_Gc *c);

static inline void luaN_foresee (const TValue *v) {
  if (iscollectable(v)) __builtin_prefetch(gcvalue(v));
}

/* Prefetches for the list of slots s, whose pair at index k is about to be visited: the slot of a
   later pair, and the object in the slot of a pair between them, if that pair is of the same table.
   'asize' is the size of that table's array part. */
LUAI_FUNC void luaN_foreslot (const luaN_Vec *s, size_t k, unsigned asize);

#endif
