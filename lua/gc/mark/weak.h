/* SPDX-License-Identifier: MIT */
/* Weak tables and ephemerons during marking. */
#ifndef luaN_weak_h
#define luaN_weak_h

#include "ageing.h"
#include "mark.h"

enum { LUAN_STRONG, LUAN_WEAKVALUES, LUAN_EPHEMERON, LUAN_ALLWEAK };

/* An entry of weak.discovered or weak.inmajor is the address of a weak table with the table's kind
   in the two low bits. luaN_tagged makes an entry; luaN_tableof and luaN_kindof are its parts. The
   words of weak.doubtful have other tags in the same bits. */
#define luaN_tagged(t,kind)	((void *)((uintptr_t)(t) | (unsigned)(kind)))
#define luaN_tableof(p)	((Table *)((uintptr_t)(p) & ~(uintptr_t)3))
#define luaN_kindof(p)	((int)((uintptr_t)(p) & 3))

/* Returns the kind of t: LUAN_STRONG, LUAN_WEAKVALUES, LUAN_EPHEMERON or LUAN_ALLWEAK. */
LUAI_FUNC int luaN_weakness (global_State *g, const Table *t);

/* True if o, a key or value of a weak table, is undecided: old, and not marked by the running major
   collection. Young objects do not count, because minor collections decide about them. */
#define luaN_isundecided(g,o) \
  (luaN_isold(o) && !luaN_hasepoch(o, (g)->heap.gc.mark.epoch))

/* To be called when marking has reached the weak table t. In a slice, adds t to weak.inmajor.
   Otherwise adds t to weak.discovered and, if only its values are weak, marks its keys. Returns 0
   if there is no memory; the caller must then treat t as strong. */
LUAI_FUNC int luaN_discoverweak (global_State *g, Table *t, int kind);

/* Adds t to weak.inmajor, unless it is there. Returns 0 if there is no memory. */
LUAI_FUNC int luaN_discoverinmajor (global_State *g, Table *t, int kind);

/* To be called when the weak table t is visited because t or a slot of t is remembered. If a major
   collection is marking and has marked t, adds t to weak.inmajor: t is missing there if it was
   strong when it was marked. If there is no memory for that, marks everything in t. */
LUAI_FUNC void luaN_discoverlate (global_State *g, Table *t, int kind);

/*
** Visits node n of an ephemeron table and returns 1:
**   - if n is empty, makes its key dead
**   - if the key is alive, marks the value
**   - else adds n to weak.unresolved
** If there is no memory for that, sets weak.overflow and returns 0: the caller must traverse the
** table, unless it is in weak.discovered.
*/
LUAI_FUNC int luaN_resolveentry (global_State *g, Node *n);

/*
**   - luaN_forgetweak is called at the end of a major collection. Empties weak.inmajor and
**     weak.doubtful, and clears LUAN_DISCOVERED and LUAN_SCANNED of the tables.
**   - luaN_leaveweak is called when a major collection is abandoned. First restores or clears all
**     tombstones, then does the same.
**   - luaN_forgettable restores or clears the tombstones of t and clears its LUAN_DISCOVERED and
**     LUAN_SCANNED. The table stays in weak.inmajor.
*/
LUAI_FUNC void luaN_forgetweak (global_State *g);
LUAI_FUNC void luaN_leaveweak (global_State *g);
LUAI_FUNC void luaN_forgettable (global_State *g, Table *t);

/* {== entries visited before the atomic step (ahead.h) =================== */
/* Returns the table of the slot at index k of a list of undecided entries, which is the last table
   before index k in the list; or NULL if there is none. */
LUAI_FUNC Table *luaN_tablebefore (const luaN_Vec *d, size_t k);

/* Starts to visit a list of undecided entries. The list of keys is visited from its start, the list
   of values from the first word after the tombstoned ones. */
LUAI_FUNC void luaN_beginlist (luaN_Weak *w, unsigned list);

/* Appends a slot of t to weak.doubtful[list]. 'isfirst' may be 0 only if the last word of the list
   belongs to t; with 1, t itself is appended before the slot. Returns 0 if the list cannot grow. */
LUAI_FUNC int luaN_listdoubt (global_State *g, int list, Table *t, void *slot, int isfirst);

/* To be called when a slot of the weak table t leaves the remembered set. If slices have visited t,
   at least in part, and the slot's key or value is undecided (G9), adds the slot to both lists of
   weak.doubtful: the program may change the kind of t and change it back. */
LUAI_FUNC void luaN_doubt (global_State *g, Table *t, void *slot);

/* Restores the tombstoned slot v and returns 1. If the collection has decided that the object of v
   is dead, makes v empty and returns 0 instead. */
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

/* Tenures o, a key or value of a weak table, if the running minor collection has left o young,
   because slots of weak tables are not remembered as holders. Returns 1 if o was tenured. */
static inline int luaN_tenuremet (global_State *g, GCObject *o) {
  if (!luaN_ismet(o)) return 0;
  lua_assert(g->heap.gc.mark.holder == NULL);
  luaN_mark(g, o);
  return 1;
}

/*
** Returns 1 if the running collection has not marked o. If it has left o young, tenures o and
** returns 0. 'tag' is the type tag of the value or key that refers to o.
**
** The header of o, which would be a cache miss, is not read if o is a table or Lua closure whose
** line lacks the mark of the current epoch: such an object was not reached.
*/
static inline int luaN_isunseen (global_State *g, const GCObject *o, int tag) {
  const luaN_Gc *c = &g->heap.gc;
  if (!c->mark.minor && (tag == ctb(LUA_VTABLE) || tag == ctb(LUA_VLCL))) {
    const luaN_Block *b = luaN_blockof(&g->heap.blocks, o);
    if (!(b->marks[luaN_lineof(b, o)] & c->mark.bit)) return 1;
  }
  return luaN_white(g, o) && !luaN_tenuremet(g, (GCObject *)o);
}

/* Returns 1 if the sweep will remove the entry of node n of t, because its key is dead (hidden.h).
   The entry is removed even if t has become strong since the key was found dead. */
static inline int luaN_isdoomed (global_State *g, const Table *t, const Node *n) {
  return (t->flags & LUAN_SCANNED) && keyiscollectable(n) && isdead(g, gckey(n));
}

#define luaN_isstringtag(tag) \
  (novariant((tag) & ~BIT_ISCOLLECTABLE) == LUA_TSTRING)

/*
** Return 1 if the running collection has not marked the object of the weak value v (luaN_isgone) or
** of the weak key of node n (luaN_iskeygone), so that it may be dead. A string counts as a value:
** it is marked, and the result is 0. An object that was left young is tenured, and the result is 0,
** too.
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
