/* SPDX-License-Identifier: MIT */
/*
** Tombstones in weak tables ("hidden" in identifiers). All entries with a dead value must disappear
** at once, so that the program never finds an object in one table and misses it in another. But the
** atomic step, the pause at the end of marking, cannot clear all their slots: two million slots
** would take 20 ms.
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
** Entries with dead keys need no tombstones, because the program cannot look up such a key. Slices
** remove these entries at the start of the sweep. Code that reaches such an entry earlier removes
** it (luaN_showentry).
*/
#pragma once

#include "lobject.h"
#include "lstate.h"

#define LUAN_VHIDDEN	makevariant(LUA_TNIL, 3)

/* True if slot v has a tombstoned weak value: v looks empty, but keeps the object's address. */
#define luaN_ishidden(v)	checktag((v), LUAN_VHIDDEN)

/* Tombstones the weak value of slot v, an object: from now on v looks empty, but keeps the object's
   address. */
#define luaN_hide(v)	settt_(v, LUAN_VHIDDEN)

/* the object of a tombstoned weak value */
#define luaN_hiddenobject(v)	(val_(v).gc)

/* To be called if slot v of t has a tombstoned weak value: v looks empty, but keeps the object's
   address. If the object is known to be dead, clears v and returns 0. Otherwise restores the value
   and returns 1. */
LUAI_FUNC int luaN_show (lua_State *L, Table *t, TValue *v);

/* Prepares node n of the weak table t for a read. Restores its weak value if it is tombstoned (its
   slot only looks empty, hidden.h), or clears it if its object is dead. Removes the entry if its
   key is dead. Returns 1 if the node has a value then, else 0. */
LUAI_FUNC int luaN_showentry (lua_State *L, Table *t, Node *n);

/* Prepares one step of a traversal of t, for example by 'next', which returns the first entry after
   'key' (nil: the first entry of t). Visits the slots after 'key' until one has a value: restores
   tombstoned weak values (hidden.h), and clears those whose objects are dead. If 'key' is not
   found, does this for all slots of t. */
LUAI_FUNC void luaN_shownext (lua_State *L, Table *t, const TValue *key);

/* Returns a border of t, a valid result of the length operator. Each tombstoned weak value that it
   reads (hidden.h) is restored, or cleared if the object is dead. The border may differ from that
   of luaH_getn. */
LUAI_FUNC lua_Unsigned luaN_border (lua_State *L, Table *t);

/* Returns 1 if slot v of t has a value, else 0. First restores a tombstoned weak value (v only
   looks empty, hidden.h), or clears it if its object is dead. */
static inline int luaN_isfilled (lua_State *L, Table *t, const TValue *v) {
  return !isempty(v) || (l_unlikely(luaN_ishidden(v)) && luaN_show(L, t, cast(TValue *, v)));
}

/* Returns v, a slot of t. First restores a tombstoned weak value in v (v only looks empty,
   hidden.h), or clears it if its object is dead. */
static inline const TValue *luaN_shown (lua_State *L, Table *t, const TValue *v) {
  if (l_unlikely(luaN_ishidden(v))) luaN_show(L, t, cast(TValue *, v));
  return v;
}

/* Calls luaN_shownext before a step of a traversal of t. But if no slice has visited all of t, does
   nothing: t has no tombstoned weak values then (hidden.h). */
#define luaN_showsome(L,t,key) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_shownext(L, t, key) : cast_void(0))

/* Restores all tombstoned weak values of t (their slots only look empty, hidden.h), or clears those
   whose objects are dead. To be used before the keys of t are counted or moved. */
#define luaN_showall(L,t) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_lookonce(G(L), t) : cast_void(0))

/*
** To be called when the weak table t has a new array or hash part, or when all of t is added to the
** remembered set. Does nothing if no slice of the major collection has visited t yet. Otherwise
** restores the tombstoned weak values of t (hidden.h), or clears those whose objects are dead. Then
**
** - before the sweep: makes the slices or the atomic step visit all slots of t again
** - during the sweep: removes the entries of t with dead keys; no later visit of t is needed
*/
LUAI_FUNC void luaN_lookonce (global_State *g, Table *t);

/* To be called before an insertion takes node n of t for a new key: n may look empty only because
   its weak value is tombstoned (hidden.h). Restores such a value, so that n is in use, or clears it
   if its object is dead. Removes an entry with a dead key. */
#define luaN_shownode(L,t,n) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? (void)luaN_showentry(L, t, n) : cast_void(0))

/* Returns a border of t, the result of the length operator. Unlike luaH_getn, does not take a
   tombstoned weak value (hidden.h) for nil. */
#define luaN_length(L,t) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_border(L, t) : luaH_getn(t))
