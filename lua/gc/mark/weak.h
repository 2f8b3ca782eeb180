/* SPDX-License-Identifier: MIT */
/* Weak tables and ephemerons during marking. */
#ifndef luaN_weak_h
#define luaN_weak_h

#include "ageing.h"
#include "mark.h"

enum { LUAN_STRONG, LUAN_WEAKVALUES, LUAN_EPHEMERON, LUAN_ALLWEAK };

/* Entries of the lists of weak tables: a table with its kind in the two low bits. */
#define luaN_tagged(t,kind)	((void *)((uintptr_t)(t) | (unsigned)(kind)))
#define luaN_tableof(p)	((Table *)((uintptr_t)(p) & ~(uintptr_t)3))
#define luaN_kindof(p)	((int)((uintptr_t)(p) & 3))

/* Returns the kind of t: LUAN_STRONG, LUAN_WEAKVALUES, LUAN_EPHEMERON or LUAN_ALLWEAK. */
LUAI_FUNC int luaN_weakness (global_State *g, const Table *t);

/* luaN_isgone returns 1 if the weak value v may be dead (luaN_white); luaN_iskeygone returns 1 if
   the weak key of node n may be dead. Both mark a string, because strings count as values, tenure
   an object that was left young, and return 0 for these. */
static inline int luaN_isgone (global_State *g, const TValue *v);
static inline int luaN_iskeygone (global_State *g, const Node *n);

/* Adds the weak table t, which marking has reached, to weak.inmajor in a slice; otherwise adds t to
   weak.discovered and marks its strong keys. Returns 0 if there is no memory; t must be treated as
   strong then. */
LUAI_FUNC int luaN_discoverweak (global_State *g, Table *t, int kind);

/* Adds t to weak.inmajor, unless it is there. Returns 0 if there is no memory. */
LUAI_FUNC int luaN_discoverinmajor (global_State *g, Table *t, int kind);

/* To be called when the weak table t is visited because t or a slot of t is remembered. If a major
   collection is marking and has marked t, perhaps when t was strong, adds t to weak.inmajor; if
   there is no memory, marks everything in t. */
LUAI_FUNC void luaN_discoverlate (global_State *g, Table *t, int kind);

/*
** Marks the value of node n of an ephemeron table if the key is alive; if not, adds n to
** weak.unresolved; makes the key dead if n is empty. Returns 1. If weak.unresolved has no memory,
** sets weak.overflow and returns 0: the table must already be in weak.discovered then, or the
** caller must traverse the table.
*/
LUAI_FUNC int luaN_resolveentry (global_State *g, Node *n);

/*
** luaN_forgetweak empties weak.inmajor and weak.doubtful at the end of a major collection, and
** clears LUAN_DISCOVERED and LUAN_SCANNED of the tables. luaN_leaveweak does that when a major
** collection is abandoned, and first restores or clears all tombstones. luaN_forgettable restores
** or clears the tombstones of one table and clears these bits of it; the table stays in
** weak.inmajor.
*/
LUAI_FUNC void luaN_forgetweak (global_State *g);
LUAI_FUNC void luaN_leaveweak (global_State *g);
LUAI_FUNC void luaN_forgettable (global_State *g, Table *t);

/* {== entries visited before the atomic step (ahead.h) =================== */
/* Makes slices visit all undecided entries again. */
LUAI_FUNC void luaN_begindoubting (luaN_Gc *c);

/* Adds a slot of t to weak.doubtful[list]. 'isfirst' must be 1 unless the last word of the list
   belongs to t. Returns 0 if the list cannot grow. */
LUAI_FUNC int luaN_listdoubt (global_State *g, int list, Table *t, void *slot, int isfirst);

/* To be called when a slot of the weak table t leaves the remembered set. If slices have visited t,
   at least in part, and the slot's key or value is undecided (G9), adds the slot to both lists of
   weak.doubtful, because the table's kind may change and change back. */
LUAI_FUNC void luaN_doubt (global_State *g, Table *t, void *slot);

/* Restores the tombstoned slot v and returns 1; or, if the collection has decided that the object
   of v is dead, makes v empty and returns 0. */
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

/* If the running minor collection has left young the key or value o of a weak table, tenures o:
   slots of weak tables are not remembered for ageing objects. Returns 1 if o was tenured. */
static inline int luaN_tenuremet (global_State *g, GCObject *o) {
  if (!luaN_ismet(o)) return 0;
  lua_assert(g->heap.gc.mark.holder == NULL);
  luaN_mark(g, o);
  return 1;
}

/*
** Returns 1 if o is not marked by the running collection. 'tag' is the type tag of the value or key
** that refers to o. Tables and Lua closures always lie in lines; if in a major collection the line
** of o lacks the mark of the current epoch, o was not reached, and the header of o, which would be
** a cache miss, is not read. If o was left young, tenures o and returns 0.
*/
static inline int luaN_isunseen (global_State *g, const GCObject *o, int tag) {
  const luaN_Gc *c = &g->heap.gc;
  if (!c->mark.minor && (tag == ctb(LUA_VTABLE) || tag == ctb(LUA_VLCL))) {
    const luaN_Block *b = luaN_blockof(&g->heap.blocks, o);
    if (!(b->marks[luaN_lineof(b, o)] & c->mark.bit)) return 1;
  }
  return luaN_white(g, o) && !luaN_tenuremet(g, (GCObject *)o);
}

/* Returns 1 if node n of t is an entry that the sweep will remove because its key is dead
   (hidden.h). The table may have become strong since the collection decided that. */
static inline int luaN_isdoomed (global_State *g, const Table *t, const Node *n) {
  return (t->flags & LUAN_SCANNED) && keyiscollectable(n) && isdead(g, gckey(n));
}

#define luaN_isstringtag(tag) \
  (novariant((tag) & ~BIT_ISCOLLECTABLE) == LUA_TSTRING)

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
