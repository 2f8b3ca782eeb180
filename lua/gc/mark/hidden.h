/* SPDX-License-Identifier: MIT */
/*
** Tombstones in weak tables (in identifiers: hidden values).
**
** The problem. All entries of a dead object must disappear at once, so that a program that finds an
** object in one table finds it in all (ahead.h has one exception). But clearing two million entries
** in the atomic step takes a pause of 20 ms and more.
**
** So slices tombstone the undecided values (ahead.h) before the atomic step: the slot gets a
** variant of nil as its tag, and keeps the address of its object. A fast path that reads the slot
** finds no value. Code that is about to conclude that there is no value calls luaN_isfilled. If the
** atomic step has decided that the object is dead, luaN_isfilled makes the slot empty; otherwise it
** restores the value, with the tag from the object's header. The atomic step only decides. After
** it, slices restore or clear all tombstones, and dead objects stay whole until that is done.
**
** Dead keys need no tombstones, because the program has no reference to look them up with. Slices
** remove their entries at the start of the sweep. Code that reaches such a node before that, in a
** traversal or to insert a key, removes the entry itself (luaN_showentry).
**
** A store overwrites a tombstoned slot without reading it. Two kinds of values are never
** tombstoned, because they are read without luaN_isfilled: values under short strings that start
** with two underscores (metamethods), and values in the registry.
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

/* luaN_ishidden is true if slot v is tombstoned. luaN_hide tombstones slot v, which must refer to
   an object. luaN_hiddenobject is the object whose address a tombstoned slot v keeps. */
#define luaN_ishidden(v)	checktag((v), LUAN_VHIDDEN)
#define luaN_hide(v)	settt_(v, LUAN_VHIDDEN)
#define luaN_hiddenobject(v)	(val_(v).gc)

/* Ends the tombstone of slot v of t: makes the slot empty if its object was decided to be dead
   (weak.decided), else restores the value. Returns 1 if it was restored. */
LUAI_FUNC int luaN_show (lua_State *L, Table *t, TValue *v);

/* Restores or clears the value of node n of t if it is tombstoned. Removes the entry if its key is
   dead (isdead). Returns 1 if n has a value after that. */
LUAI_FUNC int luaN_showentry (lua_State *L, Table *t, Node *n);

/* To be called before a traversal continues after 'key' (nil: at the start). Restores or clears the
   tombstones of t from the next slot to the first entry, or all of them if 'key' is not found. */
LUAI_FUNC void luaN_shownext (lua_State *L, Table *t, const TValue *key);

/* Returns a border of t, which may differ from that of luaH_getn. Restores the slots that it
   reads. */
LUAI_FUNC lua_Unsigned luaN_border (lua_State *L, Table *t);

/* If slot v of t is tombstoned, restores or clears it. Returns 1 if v has a value after that. */
static inline int luaN_isfilled (lua_State *L, Table *t, const TValue *v) {
  return !isempty(v) || (l_unlikely(luaN_ishidden(v)) && luaN_show(L, t, cast(TValue *, v)));
}

/* If slot v of t is tombstoned, restores or clears it. Returns v. */
static inline const TValue *luaN_shown (lua_State *L, Table *t, const TValue *v) {
  if (l_unlikely(luaN_ishidden(v))) luaN_show(L, t, cast(TValue *, v));
  return v;
}

/* Calls luaN_shownext if t may have tombstones. */
#define luaN_showsome(L,t,key) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_shownext(L, t, key) : cast_void(0))

/* Calls luaN_lookonce if t may have tombstones. To be used for a table whose keys are about to be
   counted or moved. */
#define luaN_showall(L,t) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_lookonce(G(L), t) : cast_void(0))

/*
** To be called when t gets other vectors or is remembered as a whole. Does nothing unless slices
** have visited t, at least in part. Restores or clears the tombstones of t and clears LUAN_SCANNED.
** During the sweep, also removes the entries with dead keys. During marking, slices visit t again
** or, after MAX_RESCANS such calls for all tables together, the atomic step does.
*/
LUAI_FUNC void luaN_lookonce (global_State *g, Table *t);

/* To be used before a key is stored in node n of t. Calls luaN_showentry for the node if t may have
   tombstones. */
#define luaN_shownode(L,t,n) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? (void)luaN_showentry(L, t, n) : cast_void(0))

/* Returns a border of t, the result of the length operator. Restores the slots that it reads. */
#define luaN_length(L,t) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_border(L, t) : luaH_getn(t))

#endif
