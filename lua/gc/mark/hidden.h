/* SPDX-License-Identifier: MIT */
/*
** Tombstones in weak tables (in identifiers: hidden values).
**
** All entries of a dead object must disappear at once, so that a program that finds an object in
** one table finds it in all (ahead.h has one exception); but clearing two million entries takes a
** pause of 20 ms and more. So slices tombstone the undecided values (ahead.h) before the atomic
** step: the slot gets a variant of nil as its tag and keeps the address of its object. A fast path
** that reads the slot finds no value. Code that is about to conclude that there is no value calls
** luaN_isfilled, which makes the slot empty if the atomic step has decided that the object is dead,
** and otherwise restores the value, with the tag from the object's header. The atomic step only
** decides. Slices go through the tombstones after it, and dead objects stay whole until all
** tombstones are restored or cleared.
**
** Dead keys need no tombstones, because the program has no reference to look them up with. Slices
** remove their entries at the start of the sweep. Code that reaches such a node earlier in the
** sweep, in a traversal or to insert a key, removes the entry itself (luaN_showentry).
**
** A store overwrites a tombstoned slot without reading it. Values under short strings that start
** with two underscores, and values in the registry, are never tombstoned, because metamethods and
** the registry are read without luaN_isfilled.
**
** A tombstoned slot keeps its key and is in a table with LUAN_SCANNED (G13). All tombstones of a
** table are restored or cleared before its keys are counted for a resize, before it gets other
** vectors, and when it is remembered as a whole. The length operator restores the slots that it
** reads.
*/
#ifndef luaN_hidden_h
#define luaN_hidden_h

#include "lobject.h"
#include "lstate.h"

#define LUAN_VHIDDEN	makevariant(LUA_TNIL, 3)

/* luaN_ishidden is true if slot v is tombstoned. luaN_hide tombstones v, which must refer to an
   object; luaN_hiddenobject is the object whose address v keeps. */
#define luaN_ishidden(v)	checktag((v), LUAN_VHIDDEN)
#define luaN_hide(v)	settt_(v, LUAN_VHIDDEN)
#define luaN_hiddenobject(v)	(val_(v).gc)

/* Restores the tombstoned slot v of t, or makes it empty if its object is dead (weak.decided).
   Returns 1 if it was restored. */
LUAI_FUNC int luaN_show (lua_State *L, Table *t, TValue *v);

/* Restores the value of node n of t if it is tombstoned, and removes the entry if its key is dead
   (isdead). Returns 1 if n has a value after that. */
LUAI_FUNC int luaN_showentry (lua_State *L, Table *t, Node *n);

/* Restores or clears the tombstones of t in the order of a traversal, from the slot after 'key'
   (nil: from the first) up to the next entry; all of them if 'key' is not found. */
LUAI_FUNC void luaN_shownext (lua_State *L, Table *t, const TValue *key);

/* Returns a border of t, perhaps not that of luaH_getn; restores the slots that it reads. */
LUAI_FUNC lua_Unsigned luaN_border (lua_State *L, Table *t);

/* Restores or clears slot v of t if it is tombstoned. Returns 1 if v has a value after that. */
static inline int luaN_isfilled (lua_State *L, Table *t, const TValue *v) {
  return !isempty(v) || (l_unlikely(luaN_ishidden(v)) && luaN_show(L, t, cast(TValue *, v)));
}

/* Restores or clears slot v of t if it is tombstoned; returns v. */
static inline const TValue *luaN_shown (lua_State *L, Table *t, const TValue *v) {
  if (l_unlikely(luaN_ishidden(v))) luaN_show(L, t, cast(TValue *, v));
  return v;
}

/* Calls luaN_shownext if t may have tombstones. */
#define luaN_showsome(L,t,key) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_shownext(L, t, key) : cast_void(0))

/* Calls luaN_lookonce if t may have tombstones: for a table whose keys are about to be counted or
   moved. */
#define luaN_showall(L,t) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_lookonce(G(L), t) : cast_void(0))

/*
** To be called when t gets other vectors or is remembered as a whole. If slices have visited t, at
** least in part, restores or clears all its tombstones and clears LUAN_SCANNED. While marking runs,
** slices then visit t again or, after MAX_RESCANS such calls for any tables, the atomic step does.
** While the sweep is active, removes the entries with dead keys.
*/
LUAI_FUNC void luaN_lookonce (global_State *g, Table *t);

/* Calls luaN_showentry for node n, in which a key is about to be stored, if t may have
   tombstones. */
#define luaN_shownode(L,t,n) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? (void)luaN_showentry(L, t, n) : cast_void(0))

/* Returns a border of t, the result of the length operator; restores the slots that it reads. */
#define luaN_length(L,t) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_border(L, t) : luaH_getn(t))

#endif
