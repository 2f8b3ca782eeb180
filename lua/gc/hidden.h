/* SPDX-License-Identifier: MIT */
/*
** Hidden values of weak tables. All entries of a dead object go at once, so that a program which
** finds it in one table finds it in all (but see ahead.h); but to clear two million of them takes a pause of 20 ms
** and more. So the doubtful values (ahead.h) are hidden before the atomic step, in slices: the
** slot gets a variant of nil as its tag and keeps the address of the object. What reads a slot on
** a fast path finds nothing there, and whoever comes to the conclusion that there is nothing asks
** luaN_isfilled (lua/vm/shown.h). The slot is shown then: it gets its value back, from the object's own header; or,
** if the collection has decided who is dead, and the object is, it is empty. The atomic step
** only decides. Slices go through the hidden slots behind it, and dead objects stay whole until
** that is done.
**
** Dead keys need no hiding, for nobody has them to look them up with: slices remove their entries
** when the sweep begins, and whoever comes to a node before them, in a traversal or for the place of
** a new key, removes its own (luaN_showentry).
**
** A store into a hidden slot needs no look at it. A metamethod is found without one: values under
** names that begin with two underscores are not hidden, nor is what the registry has.
**
** A hidden slot keeps its key, and is in a table that is SCANNED (G13): one that gets other
** vectors, or whose length is asked for, or that is gone through as a whole, is shown before.
*/
#ifndef luaN_hidden_h
#define luaN_hidden_h

#include "lobject.h"
#include "lstate.h"

#define LUAN_VHIDDEN	makevariant(LUA_TNIL, 3)

#define luaN_ishidden(v)	checktag((v), LUAN_VHIDDEN)
#define luaN_hide(v)	settt_(v, LUAN_VHIDDEN)
#define luaN_hiddenobject(v)	(val_(v).gc)

/* Shows a hidden slot of t. Returns whether it has a value. */
LUAI_FUNC int luaN_show (lua_State *L, Table *t, TValue *v);

/* The same of the value of a node; if its key is dead, the entry is removed. */
LUAI_FUNC int luaN_showentry (lua_State *L, Table *t, Node *n);

/* Shows what a traversal comes to behind 'key' (nil: from the beginning), up to the next entry. */
LUAI_FUNC void luaN_shownext (lua_State *L, Table *t, const TValue *key);

/* As luaH_getn; shows what it looks at. */
LUAI_FUNC lua_Unsigned luaN_border (lua_State *L, Table *t);

/* Has slot v of t a value? */
static inline int luaN_isfilled (lua_State *L, Table *t, const TValue *v) {
  return !isempty(v) || (l_unlikely(luaN_ishidden(v)) && luaN_show(L, t, cast(TValue *, v)));
}

static inline const TValue *luaN_shown (lua_State *L, Table *t, const TValue *v) {
  if (l_unlikely(luaN_ishidden(v))) luaN_show(L, t, cast(TValue *, v));
  return v;
}

#define luaN_showsome(L,t,key) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_shownext(L, t, key) : cast_void(0))

/* Nothing of t is hidden any more: it is about to be gone through. */
#define luaN_showall(L,t) \
  (l_unlikely((t)->flags & LUAN_SCANNED) ? luaN_lookonce(G(L), t) : cast_void(0))

/* Table t gets other vectors, or is remembered as a whole: it must be gone through again, and
   nothing of it stays hidden. When who is dead is decided, its dead keys go now. */
LUAI_FUNC void luaN_lookonce (global_State *g, Table *t);

#endif
