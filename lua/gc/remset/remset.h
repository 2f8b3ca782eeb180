/* SPDX-License-Identifier: MIT */
/* The remembered set: the old objects that the next minor collection traverses as a whole, and
   slots of larger tables that it visits, because they may refer to young objects (G1, G8 of gc.h).
   Adding to the set never fails: if a list cannot grow, remset.overflow is set, and the next
   collection is a full one, which needs no remembered set. */
#ifndef luaN_remset_h
#define luaN_remset_h

#include "mark.h"

/*
** Value of remset.many, the limit at which the entries of a list are processed before the next
** minor collection (refinement, refine.c). A lower limit shortens pauses, and more of the work is
** done by write barriers.
**   - remset.objects: processed at this number of objects.
**   - remset.slots: processed at this number of words; at twice the number while remset.hurried is
**     1; for stores into huge tables perhaps earlier (remset.refineat).
**   - remset.whole: processed in slices if its tables have more slots than this in total. Fewer
**     slots are left to the minor collection.
*/
#define LUAN_MANY	(1u << 15)

/*
** True if a table with this number of slots is huge: a store into it remembers the slot without
** reading the header of the stored object, which would often be a cache miss. The limit is
** remset.many / 8 slots: the headers of this number of values, a cache line each, no longer fit
** into a core's second-level cache together with other data. If the limit is too high, random
** stores of old objects into tables just below it are slow (bench/load/permute.lua).
*/
#define luaN_isvast(c,slots)	((slots) >= (size_t)(c)->remset.many / 8)

/* Adds the old object o to the remembered set: the next minor collection traverses all of o. The
   list is remset.whole if o is a table that has had a large vector (LUAN_LISTED), else
   remset.objects. If there is no memory, sets remset.overflow. Does nothing if o is young or in
   one of these lists already. */
LUAI_FUNC void luaN_remember (lua_State *L, GCObject *o);

/* Adds to the remembered set the slots that refer to objects that the minor collection has left
   young (ageing.h): moves the pairs of 'from' (table, slot, table, slot, …) into remset.slots.
   To be called after a minor collection, when remset.slots is empty. */
LUAI_FUNC void luaN_rememberaged (lua_State *L, luaN_Vec *from);

/* Records that the stack of L may have changed since the last scan (L is dirty): clears
   LUAN_CLEAN, and adds L to remset.objects if L is old and not in that list. To be called before
   the stack changes. */
LUAI_FUNC void luaN_dirtythread (lua_State *L);

/* Moves the threads whose stacks have changed since they were scanned from remset.dirty to
   remset.objects. To be called when a collection starts. */
LUAI_FUNC void luaN_rememberdirty (lua_State *L);

/* Makes the running thread L dirty again (luaN_dirtythread), because L goes on changing its
   stack. Does nothing if L is dirty. To be called after code that may have made L clean: a
   collection, which has scanned the stack, or Lua code that ran in another thread. */
LUAI_FUNC void luaN_keepdirty (lua_State *L);

/* Empties the remembered set. To be called when a full collection starts. */
LUAI_FUNC void luaN_forgetall (lua_State *L);

/* Resets the state of the early processing of the remembered set (refine.c). To be called when a
   collection has visited or emptied the set. */
LUAI_FUNC void luaN_forgetrefining (luaN_Gc *c);

static inline void luaN_foresee (const TValue *v) {
  if (iscollectable(v)) __builtin_prefetch(gcvalue(v));
}

/*
** Prefetches memory for the visit of s, a list of pairs (table, slot). To be called when the pair
** at index k is visited. Prefetches
**   - the slot of the pair that comes 2 * LUAN_PREFETCH_DISTANCE pairs later
**   - the object in the slot of the pair that comes LUAN_PREFETCH_DISTANCE pairs later, if that
**     pair has the same table as the pair at k
**
** 'asize' is the size of that table's array part.
*/
LUAI_FUNC void luaN_foreslot (const luaN_Vec *s, size_t k, unsigned asize);

#endif
