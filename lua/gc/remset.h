/* SPDX-License-Identifier: MIT */
/*
** The remembered set (G1, G8): objects that are looked at whole, and slots of big
** tables. To put something into it cannot fail: when a list cannot grow, 'overflow' is
** set, and the next collection is a full one, which needs no remembered set.
*/
#ifndef luaN_remset_h
#define luaN_remset_h

#include "mark.h"

/* The lists are refined when 'slots' has so many words, or 'objects' so many objects; tables
   in 'whole' are left to a minor collection while they have fewer slots than that. */
#define LUAN_MANY	(1u << 15)

/* A table of so many slots is vast: its values lie where no cache has them. */
#define luaN_isvast(c,slots)	((slots) >= 8 * (size_t)(c)->remset.many)

/* Words of 'slots' whose slots a core's cache and its pages' table still hold. */
#define LUAN_CACHED	(1u << 12)

/* All of o will be looked at. */
LUAI_FUNC void luaN_remember (lua_State *L, GCObject *o);

/* Behind a minor collection: these slots (table, slot, table, ...) will be looked at, for texts that
   have stayed young there (ageing.h). The list is empty then. */
LUAI_FUNC void luaN_rememberaged (lua_State *L, luaN_Vec *from);

/* L, which was clean, is dirty, and remembered. */
LUAI_FUNC void luaN_dirtythread (lua_State *L);

/* A collection begins: so are all that have been dirtied since the last one. */
LUAI_FUNC void luaN_rememberdirty (lua_State *L);

/* The running thread is dirty, whatever a collection has made of it. */
LUAI_FUNC void luaN_keepdirty (lua_State *L);

/* A full collection begins. */
LUAI_FUNC void luaN_forgetall (lua_State *L);

/* A collection has seen what the slices of refine.c had to see. */
LUAI_FUNC void luaN_forgetrefining (luaN_Gc *c);

/* What is fetched so many slots ahead: the object that a value refers to. */
#define LUAN_PREFETCH_DISTANCE	16u
static inline void luaN_foresee (const TValue *v) {
  if (iscollectable(v)) __builtin_prefetch(gcvalue(v));
}

/* Entry k of the remembered slots is being looked at: fetches what comes, as far as it
   is of the same table, whose array part has asize slots. */
LUAI_FUNC void luaN_foreslot (const luaN_Vec *s, size_t k, unsigned asize);

#endif
