/* SPDX-License-Identifier: MIT */
/*
** Tombstones in weak tables ("hidden" in identifiers). All entries with a dead value must disappear
** at once, so that the program never finds an object in one table and misses it in another. But the
** atomic step cannot clear all their slots: two million slots would take 20 ms.
**
** So slices tombstone unmarked weak values before the atomic step (ahead.h): the slot gets a
** variant of nil as its tag, and keeps the address of its object. When a slot looks empty, code
** calls luaN_isfilled, which restores the value if it is tombstoned; after the atomic step,
** luaN_isfilled clears the slot instead if the object is dead. The atomic step itself visits no
** tombstoned value. After the atomic step, slices restore or clear all tombstoned values; until
** that is done, the memory of dead objects is not reused.
**
** A store overwrites a tombstoned value without reading it. Metamethods (values whose keys start
** with two underscores) and values in the registry are never tombstoned, because they are read
** without luaN_isfilled.
**
** The node of a tombstoned value keeps its key (G13). Its table has LUAN_SCANNED: slices have
** visited all its slots. All tombstoned values of a table are restored or cleared before the keys
** of the table are counted, before the table is resized, and when all of the table is added to the
** remembered set.
**
** Dead keys need no tombstones, because the program cannot look them up. Slices remove their
** entries at the start of the sweep; code that reaches such a node earlier removes the entry itself
** (luaN_showentry).
*/
#pragma once

#include "lobject.h"
#include "lstate.h"

#define LUAN_VHIDDEN	makevariant(LUA_TNIL, 3)

/* True if slot v has a tombstoned weak value: v looks empty, but keeps the object's address. */
#define luaN_ishidden(v)	checktag((v), LUAN_VHIDDEN)

/* Tombstones the weak value of slot v, an object: v looks empty from now on, but keeps the object's
   address. */
#define luaN_hide(v)	settt_(v, LUAN_VHIDDEN)

/* the object of a tombstoned weak value */
#define luaN_hiddenobject(v)	(val_(v).gc)

/* To be called if slot v of t has a tombstoned weak value: v looks empty, but keeps the object's
   address. If the object is known to be dead, clears v and returns 0. Otherwise restores the value
   and returns 1. */
LUAI_FUNC int luaN_show (lua_State *L, Table *t, TValue *v);

/* Makes node n of t ready to be read. Restores its weak value if it is tombstoned (hidden.h), or
   clears it if its object is dead. Removes the entry if its key is dead. Returns 1 if the node has
   a value then, else 0. */
LUAI_FUNC int luaN_showentry (lua_State *L, Table *t, Node *n);

/* Prepares one step of a traversal of t, for example by 'next', which returns the first entry after
   'key' (nil: the first entry). Visits the slots after 'key' up to the first one that has a value
   then: restores tombstoned weak values (hidden.h), and clears those whose objects are dead. If
   'key' is not found, does this for all slots of t. */
LUAI_FUNC void luaN_shownext (lua_State *L, Table *t, const TValue *key);

/* Returns a border of t, for the length operator. If it reads a slot with a tombstoned weak value
   (hidden.h), restores the value, or clears it if its object is dead. The border may differ from
   that of luaH_getn. */
LUAI_FUNC lua_Unsigned luaN_border (lua_State *L, Table *t);

/* Returns 1 if slot v of t has a value. Before that, restores a tombstoned weak value (hidden.h),
   or clears it if its object is dead. */
static inline int luaN_isfilled (lua_State *L, Table *t, const TValue *v) {
  return !isempty(v) || (l_unlikely(luaN_ishidden(v)) && luaN_show(L, t, cast(TValue *, v)));
}

/* Returns v, a slot of t. Before that, restores a tombstoned weak value in it (hidden.h), or clears
   it if its object is dead. */
static inline const TValue *luaN_shown (lua_State *L, Table *t, const TValue *v) {
  if (l_unlikely(luaN_ishidden(v))) luaN_show(L, t, cast(TValue *, v));
  return v;
}

/* To be used before a step of a traversal of t that returns the first entry after 'key'. Restores
   the tombstoned weak values (hidden.h) that the step may read; clears those whose objects are
   dead. */
#define luaN_showsome(L,t,key) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_shownext(L, t, key) : cast_void(0))

/* Restores all tombstoned weak values of t (hidden.h); clears those whose objects are dead. To be
   used before the keys of t are counted or moved. */
#define luaN_showall(L,t) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_lookonce(G(L), t) : cast_void(0))

/*
** Makes the slices of the major collection visit all slots of the weak table t again. To be called
** when t has new vectors (array or hash part), or when all of t is added to the remembered set.
**
** Before that, restores the tombstoned weak values of t; clears those whose objects are dead. While
** the sweep runs, also removes entries with dead keys. Does nothing if no slice has visited t yet.
*/
LUAI_FUNC void luaN_lookonce (global_State *g, Table *t);

/* To be called before an insertion takes node n of t for a new key: the node may look empty only
   because its weak value is tombstoned. Restores such a value, so that the node is in use, or
   clears it if its object is dead. Removes an entry with a dead key. */
#define luaN_shownode(L,t,n) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? (void)luaN_showentry(L, t, n) : cast_void(0))

/* Returns a border of t, the result of the length operator. Works also if t has tombstoned weak
   values (hidden.h), which luaH_getn would take for nil. */
#define luaN_length(L,t) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_border(L, t) : luaH_getn(t))
