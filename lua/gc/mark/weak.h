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

/* To be called when marking has reached the weak table t of this kind. Adds t to a list, so that
   its entries are visited later. In a slice of a major collection the list is weak.inmajor. In a
   minor collection, a full collection or an atomic step it is weak.discovered; then also marks the
   keys of t if only its values are weak. Returns 0 if there is no memory; the caller must then
   treat t as strong. */
LUAI_FUNC int luaN_discoverweak (global_State *g, Table *t, int kind);

/* Adds t to weak.inmajor, the list of weak tables that the major collection has reached, unless t
   is in it. Returns 0 if there is no memory. */
LUAI_FUNC int luaN_discoverinmajor (global_State *g, Table *t, int kind);

/* To be called when the weak table t is visited because t or a slot of t is in the remembered set.
   If a major collection is marking and has marked t, adds t to weak.inmajor, the weak tables that
   the collection has reached, unless t is in it: t is missing there if it became weak after it was
   marked. If there is no memory for that, marks all keys and values of t. */
LUAI_FUNC void luaN_discoverlate (global_State *g, Table *t, int kind);

/*
** Visits node n of an ephemeron table and returns 1:
**   - if n is empty, makes its key dead
**   - if the key is marked, marks the value
**   - else adds n to weak.unresolved, the nodes that are visited again when more keys are marked
** If there is no memory for that, sets weak.overflow and returns 0. Then all entries of all tables
** in weak.discovered are visited repeatedly. If the table is not in that list, the caller must
** traverse it, which adds it to the list.
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
/* Returns the table to which the slot at index k of list d belongs: the last table in the list
   before index k, or NULL if there is none. d is one of the lists weak.doubtful, in which each
   table is followed by slots of that table. */
LUAI_FUNC Table *luaN_tablebefore (const luaN_Vec *d, size_t k);

/* Starts to visit weak.doubtful[list]: the entries whose weak key (LUAN_DOUBTKEYS) or weak value
   (LUAN_DOUBTVALUES) was not marked when they were listed. The list of keys is visited from its
   start, the list of values from the first word after those whose values were tombstoned
   (hidden.h). */
LUAI_FUNC void luaN_beginlist (luaN_Weak *w, unsigned list);

/* Appends a slot of t, whose weak key or value is not marked, to weak.doubtful[list], the entries
   that are visited again. If 'isfirst' is 1, appends t itself before the slot. 'isfirst' may be 0
   only if the last word of the list is t or a slot of t. Returns 0 if the list cannot grow. */
LUAI_FUNC int luaN_listdoubt (global_State *g, int list, Table *t, void *slot, int isfirst);

/* To be called when a slot of the weak table t leaves the remembered set. If slices of a major
   collection have visited t, at least in part, and the slot's key or value is old and not marked so
   far, adds the slot to both lists of weak.doubtful, so that it is visited again before the marking
   ends (G9). It must be in both lists, of entries with unmarked keys and with unmarked values,
   because the program may change which of the two are weak in t. */
LUAI_FUNC void luaN_doubt (global_State *g, Table *t, void *slot);

/* To be called for a tombstoned slot v, which looks empty and keeps the address of its object
   (hidden.h). If the atomic step has decided that the object of v is dead, makes v empty and
   returns 0. Otherwise gives v its value again and returns 1. */
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

/* To be called for o, a key or value of a weak table. If the running minor collection has reached o
   and left it young, makes o old and returns 1; else returns 0. An object can stay young only if
   the reference to it is put into the remembered set, because the next minor collection must reach
   it again. For references in weak tables that is not done. */
static inline int luaN_tenuremet (global_State *g, GCObject *o) {
  if (!luaN_ismet(o)) return 0;
  lua_assert(g->heap.gc.mark.holder == NULL);
  luaN_mark(g, o);
  return 1;
}

/*
** Returns 1 if the running collection has not marked o. If it has reached o and left it young,
** makes o old and returns 0. 'tag' is the type tag of the value or key that refers to o.
**
** Outside minor collections, the header of o, which would be a cache miss, is not read if o is a
** table or Lua closure and the mark byte of its line lacks the bit of the current epoch: then the
** collection has not marked o.
*/
static inline int luaN_isunseen (global_State *g, const GCObject *o, int tag) {
  const luaN_Gc *c = &g->heap.gc;
  if (!c->mark.minor && (tag == ctb(LUA_VTABLE) || tag == ctb(LUA_VLCL))) {
    const luaN_Block *b = luaN_blockof(&g->heap.blocks, o);
    if (!(b->marks[luaN_lineof(b, o)] & c->mark.bit)) return 1;
  }
  return luaN_white(g, o) && !luaN_tenuremet(g, (GCObject *)o);
}

/* Returns 1 if the key of node n of t is dead, so that the sweep will remove the entry, even if the
   program has made the keys of t strong since the key was found dead. Only tables whose slots were
   visited by slices of a major collection (LUAN_SCANNED) have such entries. */
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
