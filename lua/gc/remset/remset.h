/* SPDX-License-Identifier: MIT */
/* The remembered set (G1, G8 of gc.h): objects that the next minor collection traverses as a whole,
   and slots of larger tables. Adding to it never fails: if a list cannot grow, remset.overflow is
   set, and the next collection is a full one, which needs no remembered set. */
#ifndef luaN_remset_h
#define luaN_remset_h

#include "mark.h"

/*
** Value of remset.many, the limit at which lists are refined. A lower limit shortens pauses and
** makes barriers refine more often.
**   - remset.objects: refined at this number of objects.
**   - remset.slots: refined at this number of words; at twice the number while remset.hurried is 1;
**     for stores into huge tables perhaps earlier (remset.refineat).
**   - remset.whole: refined in slices if its tables have more slots than this in total. Fewer are
**     left to the minor collection.
*/
#define LUAN_MANY	(1u << 15)

/*
** True if a table with this number of slots is huge. The limit is remset.many / 8: the headers of
** its values, a cache line each, no longer fit into a core's second-level cache with other data. If
** the limit is too high, random stores of old objects into tables just below it are slow
** (bench/load/permute.lua).
*/
#define luaN_isvast(c,slots)	((slots) >= (size_t)(c)->remset.many / 8)

/* Remembers o, which is to be traversed as a whole: adds it to remset.whole if it is a table with
   LUAN_LISTED, else to remset.objects. If there is no memory, sets remset.overflow. Does nothing if
   o is logged or young. */
LUAI_FUNC void luaN_remember (lua_State *L, GCObject *o);

/* Remembers the slots that refer to objects that stayed young (ageing.h): moves the pairs of 'from'
   (table, slot, table, slot, …) into remset.slots. To be called after a minor collection, when
   remset.slots is empty. */
LUAI_FUNC void luaN_rememberaged (lua_State *L, luaN_Vec *from);

/* Makes thread L dirty: clears LUAN_CLEAN, and adds L to remset.objects if L is old and not
   logged. */
LUAI_FUNC void luaN_dirtythread (lua_State *L);

/* Moves all threads of remset.dirty to remset.objects. To be called when a collection starts. */
LUAI_FUNC void luaN_rememberdirty (lua_State *L);

/* If a collection has made the running thread L clean, makes L dirty again. */
LUAI_FUNC void luaN_keepdirty (lua_State *L);

/* Empties the remembered set. To be called when a full collection starts. */
LUAI_FUNC void luaN_forgetall (lua_State *L);

/* Resets the state of refinement (refine.c), because a collection has visited or dropped the
   remembered set. */
LUAI_FUNC void luaN_forgetrefining (luaN_Gc *c);

static inline void luaN_foresee (const TValue *v) {
  if (iscollectable(v)) __builtin_prefetch(gcvalue(v));
}

/*
** Prefetches for a visit of list s of pairs (table, slot), in which the pair at index k is next:
**   - the slot of a later pair
**   - the object in the slot of a pair half as far ahead, if it has the same table as the pair at k
** 'asize' is the size of that table's array part.
*/
LUAI_FUNC void luaN_foreslot (const luaN_Vec *s, size_t k, unsigned asize);

#endif
