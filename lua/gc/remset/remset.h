/* SPDX-License-Identifier: MIT */
/* The remembered set: old objects, and slots of larger tables, that may refer to young objects, so
   that the next minor collection visits them (G1, G8 of gc.h). Adding never fails: if a list cannot
   grow, remset.overflow is set, and the next collection is a full one, which needs no remembered
   set. */
#ifndef luaN_remset_h
#define luaN_remset_h

#include "mark.h"

/*
** Value of remset.many, the length from which a list is processed before the next minor collection
** (refine.c): objects of remset.objects, words of remset.slots, total slots of the tables in
** remset.whole. A lower limit shortens pauses and makes barriers do more of the work.
*/
#define LUAN_MANY	(1u << 15)

/*
** True if a table with this number of slots is huge: its barrier remembers the slot without reading
** the stored object, because the headers of that many objects do not fit into a core's second-level
** cache. With a higher limit, random stores into tables just below it are slow
** (bench/load/permute.lua).
*/
#define luaN_isvast(c,slots)	((slots) >= (size_t)(c)->remset.many / 8)

/* Adds the old object o to the remembered set, as a whole: to remset.whole if it is a table that
   has had a large vector, else to remset.objects. Does nothing if o is young or there already. */
LUAI_FUNC void luaN_remember (lua_State *L, GCObject *o);

/* Moves the pairs of 'from' (table, slot) to remset.slots: slots that refer to objects that the
   minor collection has left young (ageing.h). To be called at its end, when remset.slots is
   empty. */
LUAI_FUNC void luaN_rememberaged (lua_State *L, luaN_Vec *from);

/* Records that the stack of L may change from now on, so that the next collection scans it: clears
   LUAN_CLEAN, and adds an old L to remset.objects. To be called before the change. */
LUAI_FUNC void luaN_dirtythread (lua_State *L);

/* Moves the threads whose stacks may have changed since the last scan to remset.objects. To be
   called when a collection starts. */
LUAI_FUNC void luaN_rememberdirty (lua_State *L);

/* Makes the next collection scan the stack of the running thread L (luaN_dirtythread), unless it
   will anyway. To be called after code that may have scanned it: a collection, or Lua code in
   another thread. */
LUAI_FUNC void luaN_keepdirty (lua_State *L);

/* Empties the remembered set. To be called when a full collection starts. */
LUAI_FUNC void luaN_forgetall (lua_State *L);

/* Resets the state of refinement, when a collection has visited or emptied the remembered set. */
LUAI_FUNC void luaN_forgetrefining (luaN_Gc *c);

static inline void luaN_foresee (const TValue *v) {
  if (iscollectable(v)) __builtin_prefetch(gcvalue(v));
}

/*
** Prefetches memory for later visits of s, a list of pairs (table, slot), while index k is visited:
** a slot, and an object in a nearer slot of the same table. asize: size of that table's array part.
*/
LUAI_FUNC void luaN_foreslot (const luaN_Vec *s, size_t k, unsigned asize);

#endif
