/* SPDX-License-Identifier: MIT */
/*
** Weak tables and ephemerons, as marking meets them.
*/
#ifndef luaN_weak_h
#define luaN_weak_h

#include "mark.h"

enum { LUAN_STRONG, LUAN_WEAKVALUES, LUAN_EPHEMERON, LUAN_ALLWEAK };

/* An entry of a list of weak tables: a table and its kind in the two low bits. */
#define luaN_tagged(t,kind)	((void *)((uintptr_t)(t) | (unsigned)(kind)))
#define luaN_tableof(p)	((Table *)((uintptr_t)(p) & ~(uintptr_t)3))
#define luaN_kindof(p)	((int)((uintptr_t)(p) & 3))

LUAI_FUNC int luaN_weakness (global_State *g, const Table *t);

/* Is a value, the key of an entry dead? Strings are values: they never are. */
static inline int luaN_isgone (global_State *g, const TValue *v);
static inline int luaN_iskeygone (global_State *g, const Node *n);

/* Marking has discovered a weak table. Returns 0 when it must be taken for strong. */
LUAI_FUNC int luaN_discoverweak (global_State *g, Table *t, int kind);

/* The same for the end of the major collection; lists a table once. 0: no memory. */
LUAI_FUNC int luaN_discoverinmajor (global_State *g, Table *t, int kind);

/* A weak table with remembered slots. It may have been strong, or there was no memory
   to list it, when the major collection looked at it: that clears it all the same. */
LUAI_FUNC void luaN_discoverlate (global_State *g, Table *t, int kind);

/* An entry with a weak key: its value is marked if the key is alive; else it waits
   for the end of marking. 0: there is no memory for that, its table must be discovered. */
LUAI_FUNC int luaN_resolveentry (global_State *g, Node *n);

/* The tables that a major collection has discovered are forgotten: it has ended, or does
   not go on. */
LUAI_FUNC void luaN_forgetweak (global_State *g);
LUAI_FUNC void luaN_forgettable (Table *t);

/* {== what was looked at ahead of the atomic step (ahead.h) */
/* A slot of t is listed as doubtful. 0: there is no memory. */
LUAI_FUNC int luaN_listdoubt (global_State *g, Table *t, void *slot);

/* The same for a slot of weak table t where something was stored, and which is
   remembered no more: if it has to be. */
LUAI_FUNC void luaN_doubt (global_State *g, Table *t, void *slot);

/* Table t gets other vectors, or is remembered as a whole: it is to be looked at again. */
LUAI_FUNC void luaN_lookonce (global_State *g, Table *t);
/* } */

/*
** Dead, of which a value or key with this tag says what it is? The marks of a
** block's lines lie together: a line without the major collection's epoch has nothing
** that was reached, and what lies there is not looked at. (Tables and closures always
** lie in lines.)
*/
static inline int luaN_isunseen (global_State *g, const GCObject *o, int tag) {
  const luaN_Gc *c = &g->heap.gc;
  if (!c->mark.minor && (tag == ctb(LUA_VTABLE) || tag == ctb(LUA_VLCL))) {
    const luaN_Block *b = luaN_blockof(&g->heap.blocks, o);
    if (!(b->marks[luaN_lineof(b, o)] & luaN_bit(c->mark.epoch))) return 1;
  }
  return luaN_white(g, o);
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
