/* SPDX-License-Identifier: MIT */
/*
** Tombstones in weak tables (in identifiers: hidden values).
**
** All entries of a dead object must disappear at once, so that a program which finds it in one
** table finds it in all (ahead.h has one exception); but clearing two million of them takes a
** pause of 20 ms and more. So slices tombstone the undecided values (ahead.h) before the atomic
** step: the slot gets a variant of nil as its tag and keeps the address of its object. A fast
** path that reads the slot finds no value. Code that is about to conclude that there is none
** calls luaN_isfilled, which restores the value, with the tag from the object's
** header; or makes the slot empty, if the collection has decided that the object is dead. The
** atomic step itself only decides. Slices go through the tombstones after it, and dead objects
** stay whole until that is done.
**
** Dead keys need no tombstones, because the program has no reference to look them up with. Slices
** remove their entries when the sweep starts. Code that reaches such a node before, in a
** traversal or to insert a key, removes the entry itself (luaN_showentry).
**
** A store overwrites a tombstoned slot without reading it. Values under names that start with two
** underscores, and values in the registry, are never tombstoned, because metamethods are read
** without luaN_isfilled.
**
** A tombstoned slot keeps its key and is in a table with LUAN_SCANNED (G13). All tombstones of a
** table are restored before it gets other vectors, before its length is computed, and before it
** is traversed as a whole.
*/
#ifndef luaN_hidden_h
#define luaN_hidden_h

#include "lobject.h"
#include "lstate.h"

#define LUAN_VHIDDEN	makevariant(LUA_TNIL, 3)

/* Tests for a tombstone, makes slot v one, and returns the object whose address it keeps. */
#define luaN_ishidden(v)	checktag((v), LUAN_VHIDDEN)
#define luaN_hide(v)	settt_(v, LUAN_VHIDDEN)
#define luaN_hiddenobject(v)	(val_(v).gc)

/* Restores the tombstoned slot v of t. Returns 1 if it has a value then. */
LUAI_FUNC int luaN_show (lua_State *L, Table *t, TValue *v);

/* Restores the value of node n of t if it is tombstoned, and removes the entry if its key is
   dead. Returns 1 if the entry has a value then. */
LUAI_FUNC int luaN_showentry (lua_State *L, Table *t, Node *n);

/* Restores the slots that a traversal visits after 'key' (nil: from the start), up to the next
   entry. */
LUAI_FUNC void luaN_shownext (lua_State *L, Table *t, const TValue *key);

/* As luaH_getn; restores the slots that it reads. */
LUAI_FUNC lua_Unsigned luaN_border (lua_State *L, Table *t);

/* Returns 1 if slot v of t has a value; restores it if it is tombstoned. */
static inline int luaN_isfilled (lua_State *L, Table *t, const TValue *v) {
  return !isempty(v) || (l_unlikely(luaN_ishidden(v)) && luaN_show(L, t, cast(TValue *, v)));
}

/* Restores slot v of t if it is tombstoned; returns v. */
static inline const TValue *luaN_shown (lua_State *L, Table *t, const TValue *v) {
  if (l_unlikely(luaN_ishidden(v))) luaN_show(L, t, cast(TValue *, v));
  return v;
}

/* Calls luaN_shownext if t may have tombstones. */
#define luaN_showsome(L,t,key) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_shownext(L, t, key) : cast_void(0))

/* Restores all tombstones of t, which is about to be traversed as a whole. */
#define luaN_showall(L,t) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_lookonce(G(L), t) : cast_void(0))

/*
** Restores all tombstones of t, which gets other vectors or is remembered as a whole, and lists t
** to be visited again. If the collection has decided which objects are dead, removes the entries
** with dead keys.
*/
LUAI_FUNC void luaN_lookonce (global_State *g, Table *t);

/* Restores node n of t, in which a key is about to be stored. */
#define luaN_shownode(L,t,n) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? (void)luaN_showentry(L, t, n) : cast_void(0))

/* Returns the length of t, as luaH_getn; restores the slots that it reads. */
#define luaN_length(L,t) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_border(L, t) : luaH_getn(t))

#endif
