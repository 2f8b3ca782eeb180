/* SPDX-License-Identifier: MIT */
/*
** Weak tables and ephemerons, as marking meets them.
*/
#ifndef luaN_weak_h
#define luaN_weak_h

#include "ageing.h"
#include "mark.h"

enum { LUAN_STRONG, LUAN_WEAKVALUES, LUAN_EPHEMERON, LUAN_ALLWEAK };

/* An entry of a list of weak tables: a table and its kind in the two low bits. */
#define luaN_tagged(t,kind)	((void *)((uintptr_t)(t) | (unsigned)(kind)))
#define luaN_tableof(p)	((Table *)((uintptr_t)(p) & ~(uintptr_t)3))
#define luaN_kindof(p)	((int)((uintptr_t)(p) & 3))

LUAI_FUNC int luaN_weakness (global_State *g, const Table *t);

/* Is a weak value (the weak key of an entry) dead? Strings count as values, which never are. */
static inline int luaN_isgone (global_State *g, const TValue *v);
static inline int luaN_iskeygone (global_State *g, const Node *n);

/* Marking has discovered a weak table. Returns 0 when it must be taken for strong. */
LUAI_FUNC int luaN_discoverweak (global_State *g, Table *t, int kind);

/* The same for the end of the major collection; lists a table once. 0: no memory. */
LUAI_FUNC int luaN_discoverinmajor (global_State *g, Table *t, int kind);

/* A minor collection has come to a weak table by a remembered slot. Lists it for the end of
   a major collection that marks, which may have taken it for strong before. */
LUAI_FUNC void luaN_discoverlate (global_State *g, Table *t, int kind);

/* An entry with a weak key: marks the value if the key is alive, else lists the entry as
   unresolved. 0: there is no memory for that, so the table itself must be discovered. */
LUAI_FUNC int luaN_resolveentry (global_State *g, Node *n);

/* The tables that a major collection has discovered are forgotten: it needs them no longer, or
   ('leave') does not go on; then nothing stays hidden in them. */
LUAI_FUNC void luaN_forgetweak (global_State *g);
LUAI_FUNC void luaN_leaveweak (global_State *g);
LUAI_FUNC void luaN_forgettable (global_State *g, Table *t);

/* {== what was looked at ahead of the atomic step (ahead.h) */
/* The doubtful are to be looked at again, all of them. */
LUAI_FUNC void luaN_begindoubting (luaN_Gc *c);

/* A slot of t is listed as doubtful, in one of weak.doubtful; 'isfirst': the last word there need
   not be of t. 0: there is no memory. */
LUAI_FUNC int luaN_listdoubt (global_State *g, int list, Table *t, void *slot, int isfirst);

/* Something was stored in a slot of weak table t that leaves the remembered set: lists it,
   if it is doubtful (G9); in both lists, for the table's kind may change, and change back. */
LUAI_FUNC void luaN_doubt (global_State *g, Table *t, void *slot);

/* A hidden slot (hidden.h) is shown. Returns whether it has a value: its object is not dead, or
   that is not decided. */
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

/* A weak table refers to o: if it is met, and was to stay young, it is tenured, for no slot of a
   weak table is remembered for it (ageing.h). Returns whether it was. */
static inline int luaN_tenuremet (global_State *g, GCObject *o) {
  if (!luaN_ismet(o)) return 0;
  lua_assert(g->heap.gc.mark.holder == NULL);
  luaN_mark(g, o);
  return 1;
}

/*
** Is o dead, as far as the running collection knows? 'tag' is that of the value or key
** that refers to it. The marks of a block's lines lie together: a line without the major
** collection's epoch holds nothing that was reached, so the header of o, a cache miss,
** need not be read. (Tables and closures always lie in lines.)
*/
static inline int luaN_isunseen (global_State *g, const GCObject *o, int tag) {
  const luaN_Gc *c = &g->heap.gc;
  if (!c->mark.minor && (tag == ctb(LUA_VTABLE) || tag == ctb(LUA_VLCL))) {
    const luaN_Block *b = luaN_blockof(&g->heap.blocks, o);
    if (!(b->marks[luaN_lineof(b, o)] & c->mark.bit)) return 1;
  }
  return luaN_white(g, o) && !luaN_tenuremet(g, (GCObject *)o);
}

/* Returns 1 if node n of t is an entry that the sweep will remove because its key is dead (hidden.h).
   The table may have become strong since the collection decided that. */
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
