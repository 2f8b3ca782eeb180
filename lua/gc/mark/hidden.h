/* SPDX-License-Identifier: MIT */
/*
** Tombstones in weak tables (in identifiers: hidden values).
**
** The problem. All entries of a dead object must disappear at once, so that a program that finds an
** object in one table finds it in all (ahead.h has one exception). But clearing two million entries
** in the atomic step takes a pause of 20 ms and more.
**
** So, before the atomic step, slices tombstone the weak values that are not marked so far
** (ahead.h): the slot gets a variant of nil as its tag, and keeps the address of its object. A fast
** path that reads the slot finds no value. Code that is about to conclude that there is no value
** calls luaN_isfilled. If the atomic step has decided that the object is dead, luaN_isfilled makes
** the slot empty; otherwise it restores the value, with the tag from the object's header. The
** atomic step only decides. After it, slices restore or clear all tombstones, and dead objects stay
** whole until that is done.
**
** Dead keys need no tombstones, because the program has no reference to look them up with. Slices
** remove their entries at the start of the sweep. Code that reaches such a node before that, in a
** traversal or to insert a key, removes the entry itself (luaN_showentry).
**
** A store overwrites a tombstoned slot without reading it. Two kinds of values are never
** tombstoned, because they are read without luaN_isfilled: values under short strings that start
** with two underscores (metamethods), and values in the registry.
**
** A tombstoned slot keeps its key and is in a table with LUAN_SCANNED, that is, one whose slots
** were visited by slices (G13). All tombstones of a table are restored or cleared before its keys
** are counted for a resize, before it gets other vectors, and when it is remembered as a whole. The
** length operator restores the slots that it reads.
*/
#ifndef luaN_hidden_h
#define luaN_hidden_h

#include "lobject.h"
#include "lstate.h"

#define LUAN_VHIDDEN	makevariant(LUA_TNIL, 3)

/* luaN_ishidden is true if slot v is tombstoned: it has the tag of an empty slot, and keeps the
   address of an object, which luaN_hiddenobject returns. luaN_hide tombstones slot v, which must
   refer to an object. */
#define luaN_ishidden(v)	checktag((v), LUAN_VHIDDEN)
#define luaN_hide(v)	settt_(v, LUAN_VHIDDEN)
#define luaN_hiddenobject(v)	(val_(v).gc)

/* Restores the value of the tombstoned slot v of t (one that only looks empty) and returns 1. If
   the atomic step has found the object of v dead (weak.decided), makes v empty instead and
   returns 0. */
LUAI_FUNC int luaN_show (lua_State *L, Table *t, TValue *v);

/* Makes node n of t ready to be read. If its value is tombstoned (only looks empty), restores
   the value, or makes n empty if the object is dead. Removes the entry if its key is dead.
   Returns 1 if n has a value after that. */
LUAI_FUNC int luaN_showentry (lua_State *L, Table *t, Node *n);

/* Restores or clears the tombstoned slots of t (which only look empty) that the next step of a
   traversal reads: those from the slot after 'key' up to the first slot that has a value. A nil
   'key' represents the start of the traversal. If 'key' is not found, does so for all slots of
   t. */
LUAI_FUNC void luaN_shownext (lua_State *L, Table *t, const TValue *key);

/* Returns a border of t, as the length operator defines a border; it may be another one than
   luaH_getn returns. Restores or clears the tombstoned slots that it reads, which only look
   empty (luaN_show). */
LUAI_FUNC lua_Unsigned luaN_border (lua_State *L, Table *t);

/* Returns 1 if slot v of t has a value. If v is tombstoned (only looks empty), first restores
   its value, or makes v empty if the object is dead (luaN_show). */
static inline int luaN_isfilled (lua_State *L, Table *t, const TValue *v) {
  return !isempty(v) || (l_unlikely(luaN_ishidden(v)) && luaN_show(L, t, cast(TValue *, v)));
}

/* Returns v, a slot of t. If v is tombstoned (only looks empty), first restores its value, or
   makes v empty if the object is dead (luaN_show). */
static inline const TValue *luaN_shown (lua_State *L, Table *t, const TValue *v) {
  if (l_unlikely(luaN_ishidden(v))) luaN_show(L, t, cast(TValue *, v));
  return v;
}

/* If t may have slots that only look empty (tombstoned slots), restores or clears those that a
   traversal of t is going to read next (luaN_shownext). */
#define luaN_showsome(L,t,key) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_shownext(L, t, key) : cast_void(0))

/* If t may have slots that only look empty (tombstoned slots), restores or clears all of them
   (luaN_lookonce). To be used before the keys of t are counted or moved. */
#define luaN_showall(L,t) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_lookonce(G(L), t) : cast_void(0))

/*
** Makes the running major collection visit all of the weak table t again. To be called when t
** gets other vectors or is added to the remembered set as a whole. Does nothing unless slices
** have visited t, at least in part.
**   - Restores or clears the tombstoned slots of t, which only look empty.
**   - Clears LUAN_SCANNED, so that no slot of t counts as visited.
**   - During marking, slices visit t again; after MAX_RESCANS calls in one collection, for any
**     tables, the atomic step visits t instead.
**   - During the sweep, removes the entries with dead keys.
*/
LUAI_FUNC void luaN_lookonce (global_State *g, Table *t);

/* To be used before a key is stored in node n of t. If t may have tombstoned slots or entries with
   dead keys, calls luaN_showentry, which removes an entry with a dead key. */
#define luaN_shownode(L,t,n) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? (void)luaN_showentry(L, t, n) : cast_void(0))

/* Returns a border of t, the result of the length operator. If t may have slots that only look
   empty (tombstoned slots), restores or clears those that it reads (luaN_border). */
#define luaN_length(L,t) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_border(L, t) : luaH_getn(t))

#endif
