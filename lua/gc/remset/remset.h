/* SPDX-License-Identifier: MIT */
/*
** The remembered set lists the old objects and slots that may refer to young objects. An entry is
** an old object or, for a table of more than LUAN_SMALLTABLE slots, one slot. The next minor
** collection visits all entries (G1, G8 of gc.h). Adding never fails: if a list can be neither
** enlarged nor shortened (refine.c), remset.overflow is set, and the next collection is a full one,
** which needs no remembered set.
*/
#pragma once

#include "mark.h"

/*
** Value of remset.many. When a list of the remembered set reaches this length, refine.c tenures the
** young objects to which the entries of the list refer, and shortens the list. The length is the
** number of objects in remset.objects, the number of words in remset.slots (two for each slot), or
** the number of slots of all tables in remset.whole. With a lower value, minor collections have
** shorter pauses, and write barriers do more of the work.
*/
#define LUAN_MANY	(1u << 15)

/*
** True if a table with 'slots' slots is huge. A store into a huge table remembers the slot without
** reading the stored object, because the second-level cache of a processor is too small for the
** headers of all objects in the table. With a higher limit, random stores into tables of slightly
** fewer slots would be slow (bench/load/permute.lua).
*/
#define luaN_isvast(c,slots)	((slots) >= (size_t)(c)->remset.many / 8)

/* Adds the old object o, not only one of its slots, to the remembered set, so that the next minor
   collection visits all references of o. Uses the list remset.whole if o is a table that has had a
   large array or hash part, else remset.objects. Does nothing if o is young or in one of these
   lists already. */
LUAI_FUNC void luaN_remember (lua_State *L, GCObject *o);

/* To be called at the end of a minor collection, when remset.slots is empty. 'from' is a list of
   pairs (table, slot) whose slots refer to objects that the collection has left young (ageing.h).
   Moves the pairs to remset.slots by an exchange of the two arrays, so that 'from' is empty. */
LUAI_FUNC void luaN_rememberaged (lua_State *L, luaN_Vec *from);

/* Moves the threads whose stacks may have changed since the last scan from remset.dirty to
   remset.objects. To be called when a collection starts. */
LUAI_FUNC void luaN_rememberdirty (lua_State *L);

/* Makes the next collection scan the stack of L: if L has LUAN_CLEAN (the stack has not changed
   since a scan), clears this bit, and adds L to remset.objects. To be called for the running thread
   after code that may have scanned its stack (a collection, or Lua code in another thread), and for
   a thread whose stack was moved. */
LUAI_FUNC void luaN_keepdirty (lua_State *L);

/* Empties the remembered set. To be called when a full collection starts. */
LUAI_FUNC void luaN_forgetall (lua_State *L);

/* To be called when a collection has visited or emptied the remembered set: resets the fields of
   luaN_Remset that only refine.c uses between two collections. */
LUAI_FUNC void luaN_forgetrefining (luaN_Gc *c);

/* Returns 1 if v, a list of the remembered set, has no capacity for n more words and cannot grow.
   The caller should then shorten v (refine.c): otherwise the set becomes incomplete, and a full
   collection follows, which costs much more. Returns 0 if the set is incomplete already. */
static inline int luaN_isfull (global_State *g, luaN_Vec *v, size_t n) {
  return l_unlikely(v->size - v->n < n) && !g->heap.gc.remset.overflow && !luaN_reserve(g, v, n);
}

static inline void luaN_foresee (const TValue *v) {
  if (iscollectable(v)) __builtin_prefetch(gcvalue(v));
}

/* To be called for each index k of s, a list of pairs (table, slot), while s is visited. Prefetches
   the slot of the pair that is 2 * LUAN_PREFETCH_DISTANCE pairs later. Also prefetches the object
   in the slot of the pair that is LUAN_PREFETCH_DISTANCE pairs later, if that pair has the same
   table as the pair at k. asize: number of array slots of this table. */
LUAI_FUNC void luaN_foreslot (const luaN_Vec *s, size_t k, unsigned asize);

/* {== the visit in a minor collection (remembered.c) ===================== */
/* To be called in a minor collection: marks the objects to which the remembered set refers, and
   empties the set. But a slot of a table with weak values stays in remset.slots, for
   luaN_clearslots, if its value or its weak key is not marked. */
LUAI_FUNC void luaN_markremembered (lua_State *L);

/* Visits the slots of weak tables that luaN_markremembered has left in remset.slots. The first call
   in a minor collection, with keys = 0, removes the entries with dead values. The second call, with
   keys = 1, removes the entries with dead keys, and empties remset.slots. */
LUAI_FUNC void luaN_clearslots (global_State *g, int keys);
/* } */
