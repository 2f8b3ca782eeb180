/* SPDX-License-Identifier: MIT */
/* Weak tables and ephemerons during marking. */
#ifndef luaN_weak_h
#define luaN_weak_h

#include "ageing.h"
#include "mark.h"

enum { LUAN_STRONG, LUAN_WEAKVALUES, LUAN_EPHEMERON, LUAN_ALLWEAK };

/* An entry of weak.discovered or weak.inmajor is the address of a weak table, with the kind of the
   table (which of its references are weak: LUAN_WEAKVALUES to LUAN_ALLWEAK) in the two low bits.
   luaN_tagged makes an entry; luaN_tableof and luaN_kindof are its parts. The words of other lists,
   weak.doubtful, have tags with another meaning in the same bits (state.h). */
#define luaN_tagged(t,kind)	((void *)((uintptr_t)(t) | (unsigned)(kind)))
#define luaN_tableof(p)	((Table *)((uintptr_t)(p) & ~(uintptr_t)3))
#define luaN_kindof(p)	((int)((uintptr_t)(p) & 3))

/* Returns which references of t are weak, its kind: LUAN_STRONG (none), LUAN_WEAKVALUES,
   LUAN_EPHEMERON (only the keys) or LUAN_ALLWEAK. */
LUAI_FUNC int luaN_weakness (global_State *g, const Table *t);

/* True if o, a key or value of a weak table, is old and not marked so far by the running major
   collection (undecided). Young objects do not count, because minor collections decide about
   them. */
#define luaN_isundecided(g,o) \
  (luaN_isold(o) && !luaN_hasepoch(o, (g)->heap.gc.mark.epoch))

/*
** Lists the weak table t, which marking has reached, so that its entries are visited later.
** 'kind' says which of its references are weak. Returns 0 if there is no memory; the caller must
** then treat t as strong.
**   - In a slice of a major collection, the list is weak.inmajor.
**   - In a minor collection, a full collection or an atomic step, the list is weak.discovered;
**     then also marks the keys of t if only its values are weak.
*/
LUAI_FUNC int luaN_discoverweak (global_State *g, Table *t, int kind);

/* Adds the weak table t to weak.inmajor, the list of weak tables that the major collection has
   reached. Does nothing if t is in the list. Returns 0 if there is no memory. */
LUAI_FUNC int luaN_discoverinmajor (global_State *g, Table *t, int kind);

/* Adds the weak table t to weak.inmajor, the weak tables that the major collection has reached,
   if a major collection is marking and has marked t. To be called when t is visited because t or
   a slot of t is in the remembered set. t is missing in weak.inmajor if it became weak after it
   was marked. If there is no memory to add t, marks all keys and values of t. */
LUAI_FUNC void luaN_discoverlate (global_State *g, Table *t, int kind);

/*
** Visits node n of an ephemeron table:
**   - if n is empty, makes its key dead
**   - if the key is marked, marks the value
**   - else adds n to weak.unresolved, the nodes that are visited again when more keys are marked
**
** Returns 1, or 0 if there is no memory to add n. In that case sets weak.overflow, so that all
** entries of all tables in weak.discovered are visited repeatedly. If the table is not in that
** list, the caller must traverse it, which adds it to the list.
*/
LUAI_FUNC int luaN_resolveentry (global_State *g, Node *n);

/*
** The data of slices about weak tables are the list weak.inmajor of the tables that the major
** collection has reached, the lists weak.doubtful of entries to visit again, the tables' flags
** LUAN_DISCOVERED (in weak.inmajor) and LUAN_SCANNED (entries visited), and tombstoned slots, which
** look empty and keep the addresses of their objects (hidden.h).
**   - luaN_forgetweak is called at the end of a major collection. Empties the lists and clears the
**     flags.
**   - luaN_leaveweak is called when a major collection is abandoned. Gives all tombstoned slots
**     their values again, or empties them if the objects are dead. Then does the same as
**     luaN_forgetweak.
**   - luaN_forgettable gives the tombstoned slots of t their values again, or empties them, and
**     clears the two flags of t. The table stays in weak.inmajor.
*/
LUAI_FUNC void luaN_forgetweak (global_State *g);
LUAI_FUNC void luaN_leaveweak (global_State *g);
LUAI_FUNC void luaN_forgettable (global_State *g, Table *t);

/* {== entries visited before the atomic step (ahead.h) =================== */
/* Returns the table of the slot at index k of list d: the last table in the list before index k,
   or NULL if there is none. d is one of the lists weak.doubtful, in which each table is followed
   by slots of that table. */
LUAI_FUNC Table *luaN_tablebefore (const luaN_Vec *d, size_t k);

/* Prepares a visit of weak.doubtful[list], the entries whose weak key (LUAN_DOUBTKEYS) or weak
   value (LUAN_DOUBTVALUES) was not marked when they were listed. The visit of the keys starts at
   the first word. The visit of the values starts after the words of tombstoned values, whose
   slots look empty (hidden.h). */
LUAI_FUNC void luaN_beginlist (luaN_Weak *w, unsigned list);

/* Appends a slot of t, whose weak key or value is not marked, to weak.doubtful[list], so that
   the slot is visited again. If 'isfirst' is 1, appends t itself before the slot; 'isfirst' may
   be 0 only if the last word of the list is t or a slot of t. Returns 0 if the list cannot grow. */
LUAI_FUNC int luaN_listdoubt (global_State *g, int list, Table *t, void *slot, int isfirst);

/* Makes the major collection visit a slot of the weak table t again before its marking ends
   (G9), if slices have visited t, at least in part, and the slot's key or value is old and not
   marked so far. To be called when the slot leaves the remembered set. Adds the slot to both
   lists of weak.doubtful, of unmarked keys and of unmarked values, because the program may
   change which of the two are weak in t. */
LUAI_FUNC void luaN_doubt (global_State *g, Table *t, void *slot);

/* Restores the value of the tombstoned slot v, which looks empty and keeps the address of its
   object (hidden.h), and returns 1. If the atomic step has decided that the object is dead,
   makes v empty instead and returns 0. */
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

/* Makes o, a key or value of a weak table, old if the running minor collection has reached o and
   left o young; then returns 1, else 0. The reason: an object may stay young only if the
   reference to it is put into the remembered set, so that the next minor collection reaches it
   again. That is not done for references in weak tables. */
static inline int luaN_tenuremet (global_State *g, GCObject *o) {
  if (!luaN_ismet(o)) return 0;
  lua_assert(g->heap.gc.mark.holder == NULL);
  luaN_mark(g, o);
  return 1;
}

/*
** Returns 1 if the running collection has not marked o. If a minor collection has reached o and
** left o young, makes o old and returns 0. 'tag' is the type tag of the value or key that refers
** to o.
**
** Outside minor collections, the header of o, which would be a cache miss, is not read if o is a
** table or Lua closure and the mark byte of its line lacks the bit of the current epoch: then
** the collection has not marked o.
*/
static inline int luaN_isunseen (global_State *g, const GCObject *o, int tag) {
  const luaN_Gc *c = &g->heap.gc;
  if (!c->mark.minor && (tag == ctb(LUA_VTABLE) || tag == ctb(LUA_VLCL))) {
    const luaN_Block *b = luaN_blockof(&g->heap.blocks, o);
    if (!(b->marks[luaN_lineof(b, o)] & c->mark.bit)) return 1;
  }
  return luaN_white(g, o) && !luaN_tenuremet(g, (GCObject *)o);
}

/* Returns 1 if the key of node n of t is dead and the sweep will remove the entry, even if the
   program has made the keys of t strong meanwhile. Only tables whose slots were visited by
   slices of a major collection (LUAN_SCANNED) have such entries. */
static inline int luaN_isdoomed (global_State *g, const Table *t, const Node *n) {
  return (t->flags & LUAN_SCANNED) && keyiscollectable(n) && isdead(g, gckey(n));
}

#define luaN_isstringtag(tag) \
  (novariant((tag) & ~BIT_ISCOLLECTABLE) == LUA_TSTRING)

/*
** Return 1 if the running collection has not marked the object of the weak value v (luaN_isgone) or
** of the weak key of node n (luaN_iskeygone), so that it may be dead. Weak tables refer to strings
** strongly: a string is marked, and the result is 0. An object that the running minor collection
** has reached and left young is made old, and the result is 0, too.
*/
static inline int luaN_isgone (global_State *g, const TValue *v) {
  if (!iscollectable(v)) return 0;
  if (!luaN_isstringtag(rawtt(v))) return luaN_isunseen(g, gcvalue(v), rawtt(v));
  luaN_mark(g, gcvalue(v));
  return 0;
}

static inline int luaN_iskeygone (global_State *g, const Node *n) {
  if (!keyiscollectable(n)) return 0;
  if (!luaN_isstringtag(keytt(n))) return luaN_isunseen(g, gckey(n), keytt(n));
  luaN_mark(g, gckey(n));
  return 0;
}

#endif
