/* SPDX-License-Identifier: MIT */
/* Weak tables and ephemerons during marking. */
#pragma once

#include "ageing.h"
#include "mark.h"

enum { LUAN_STRONG, LUAN_WEAKVALUES, LUAN_EPHEMERON, LUAN_ALLWEAK };

/*
** A word of weak.discovered or weak.inmajor: the address of a weak table with its kind,
** LUAN_WEAKVALUES to LUAN_ALLWEAK, in the two low bits. luaN_tagged composes such a word;
** luaN_tableof and luaN_kindof return its parts. (In weak.doubtful, state.h, the two bits have
** another meaning.)
*/
#define luaN_tagged(t,kind)	((void *)((uintptr_t)(t) | (unsigned)(kind)))
#define luaN_tableof(p)	((Table *)((uintptr_t)(p) & ~(uintptr_t)3))
#define luaN_kindof(p)	((int)((uintptr_t)(p) & 3))

/* Returns which references of t are weak: none (LUAN_STRONG), the values (LUAN_WEAKVALUES), the
   keys (LUAN_EPHEMERON), or both (LUAN_ALLWEAK). */
LUAI_FUNC int luaN_weakness (global_State *g, const Table *t);

/* True if o, a key or value of a weak table, is old and the running major collection has not marked
   it yet. */
#define luaN_isundecided(g,o) \
  (luaN_isold(o) && !luaN_hasepoch(o, (g)->heap.gc.mark.epoch))

/* Adds the weak table t, which marking has reached, to a list, so that its weak references are
   visited later. kind: which references of t are weak (luaN_weakness).
   - In a slice of a major collection: adds t to weak.inmajor.
   - In a minor collection, full collection or atomic step: adds t to weak.discovered. If only the
     values of t are weak, also marks its keys.

   Returns 0 if there is no memory; the caller must then treat t as strong. */
LUAI_FUNC int luaN_discoverweak (global_State *g, Table *t, int kind);

/* Adds the weak table t to weak.inmajor, the list of the weak tables that the major collection has
   reached. kind: which references of t are weak (luaN_weakness). Does nothing if t is in this list.
   Returns 0 if there is no memory. */
LUAI_FUNC int luaN_discoverinmajor (global_State *g, Table *t, int kind);

/* To be called for a weak table t that is remembered or has a remembered slot, because t may have
   become weak after it was marked. If a major collection has marked t, adds t to weak.inmajor, the
   list of the weak tables that it has reached. If there is no memory to add t, marks all keys and
   values of t. kind: which references of t are weak (luaN_weakness). */
LUAI_FUNC void luaN_discoverlate (global_State *g, Table *t, int kind);

/*
** Visits node n of an ephemeron table: marks the value if the key is marked; otherwise adds n to
** weak.unresolved, a list of nodes to be visited again. Makes the key of a node without a value
** dead. If there is no memory, sets weak.overflow and returns 0; the caller must then ensure that
** the table of n is in weak.discovered or weak.inmajor, so that the whole table is visited again.
*/
LUAI_FUNC int luaN_resolveentry (global_State *g, Node *n);

/* Ends the visits of weak tables by slices: empties the lists weak.inmajor and weak.doubtful, and
   clears LUAN_DISCOVERED and LUAN_SCANNED of the tables. To be called when no weak value is
   tombstoned (hidden.h) any more. */
LUAI_FUNC void luaN_forgetweak (global_State *g);

/* To be called when a major collection is abandoned. Restores the tombstoned weak values
   (hidden.h); clears those whose objects the collection has already found dead. Then empties the
   lists of weak tables and of their undecided entries. */
LUAI_FUNC void luaN_leaveweak (global_State *g);

/* Ends the major collection's visits of the weak table t: clears LUAN_DISCOVERED and LUAN_SCANNED.
   Before that, restores the tombstoned weak values of t (hidden.h), or clears those whose objects
   are dead. The caller must remove t from the list weak.inmajor. */
LUAI_FUNC void luaN_forgettable (global_State *g, Table *t);

/* {== entries visited before the atomic step (ahead.h) =================== */
/* In the lists weak.doubtful, slots follow the table to which they belong. Returns the table of the
   slot at index k of such a list d: the last table before index k. Returns NULL if there is
   none. */
LUAI_FUNC Table *luaN_tablebefore (const luaN_Vec *d, size_t k);

/* Prepares a visit of weak.doubtful[list], a list of entries with unmarked weak keys or values. In
   the list of values, the visit starts at index weak.hidden: slices have visited the slots before
   this index to tombstone their values (hidden.h). */
LUAI_FUNC void luaN_beginlist (luaN_Weak *w, unsigned list);

/* Appends a slot of t to weak.doubtful[list], a list of slots whose weak key, or whose weak value,
   is not marked. If isfirst is 1, first appends t; isfirst may be 0 only if the last word of the
   list is t or a slot of t. Returns 0 if the list cannot grow. */
LUAI_FUNC int luaN_listdoubt (global_State *g, int list, Table *t, void *slot, int isfirst);

/*
** To be called when a slot of the weak table t leaves the remembered set. If slices have visited t,
** and the slot's key or value is an unmarked old object, appends the slot to both lists
** weak.doubtful, so that it is visited again (G9). Both lists are needed, because the program may
** change __mode, which determines whether keys or values of t are weak.
*/
LUAI_FUNC void luaN_doubt (global_State *g, Table *t, void *slot);

/* To be called if slot v has a tombstoned weak value: v looks empty, but keeps the object's
   address. If the object is known to be dead, clears v and returns 0. Otherwise restores the value
   and returns 1. */
static inline int luaN_showslot (global_State *g, TValue *v) {
  const GCObject *o = luaN_hiddenobject(v);
  lua_assert(luaN_ishidden(v) && luaN_isold(o));
  if (g->heap.gc.weak.decided && !luaN_hasepoch(o, g->heap.gc.mark.epoch)) {
    setempty(v);
    return 0;
  }
  settt_(v, ctb(o->tt));
  return 1;
}
/* } */

/* To be called for o, a key or value of a weak table. If the running minor collection has left o
   young, tenures o (makes it old) and returns 1; otherwise returns 0. Reason: a reference in a weak
   table is not remembered, so the next minor collection might not reach a young o. */
static inline int luaN_tenuremet (global_State *g, GCObject *o) {
  if (!luaN_ismet(o)) return 0;
  lua_assert(g->heap.gc.mark.holder == NULL);
  luaN_mark(g, o);
  return 1;
}

/*
** Returns 1 if the running collection has not marked o. If the collection has left o young
** (ageing.h), tenures o and returns 0. tag: type tag of o as a value or key.
**
** If o is a table or a Lua closure, first reads the mark of o's line (64 bytes of memory). If the
** line is not marked, o is not marked either, and the header of o, a likely cache miss, need not be
** read.
*/
static inline int luaN_isunseen (global_State *g, const GCObject *o, int tag) {
  const luaN_Gc *c = &g->heap.gc;
  if (!c->mark.minor && (tag == ctb(LUA_VTABLE) || tag == ctb(LUA_VLCL))) {
    const luaN_Block *b = luaN_blockof(&g->heap.blocks, o);
    if (!(b->marks[luaN_lineof(b, o)] & c->mark.bit)) return 1;
  }
  return luaN_white(g, o) && !luaN_tenuremet(g, (GCObject *)o);
}

/* Returns 1 if the key of node n of t is dead, so that the sweep will remove the entry. t may have
   become strong since it was visited. Only tables that slices have visited (LUAN_SCANNED) have such
   entries. */
static inline int luaN_isdoomed (global_State *g, const Table *t, const Node *n) {
  return (t->flags & LUAN_SCANNED) && keyiscollectable(n) && isdead(g, gckey(n));
}

#define luaN_isstringtag(tag) \
  (novariant((tag) & ~BIT_ISCOLLECTABLE) == LUA_TSTRING)

/* Returns 1 if the weak value v is an unmarked object, so that the object may be dead. If v is a
   string, marks it and returns 0: weak tables keep strings alive. */
static inline int luaN_isgone (global_State *g, const TValue *v) {
  if (!iscollectable(v)) return 0;
  if (!luaN_isstringtag(rawtt(v))) return luaN_isunseen(g, gcvalue(v), rawtt(v));
  luaN_mark(g, gcvalue(v));
  return 0;
}

/* Returns 1 if the weak key of node n is an unmarked object, so that the object may be dead. If the
   key is a string, marks it and returns 0: weak tables keep strings alive. */
static inline int luaN_iskeygone (global_State *g, const Node *n) {
  if (!keyiscollectable(n)) return 0;
  if (!luaN_isstringtag(keytt(n))) return luaN_isunseen(g, gckey(n), keytt(n));
  luaN_mark(g, gckey(n));
  return 0;
}
