/* SPDX-License-Identifier: MIT */
/* Marking of one object: the object gets the current epoch, its own lines get their marks, and an
   object with references is pushed on a mark stack. traverse.c follows the references. */
#ifndef luaN_mark_h
#define luaN_mark_h

#include "lgc.h"
#include "lobject.h"
#include "lstate.h"
#include "ltable.h"

/* Bit of a line's marks for epoch c. */
#define luaN_bit(c)	((lu_byte)(1u << ((c) - 1)))

/* Returns the number of slots of a table's array part. Avoids the call of luaH_realasize in the
   common case. */
static inline unsigned luaN_asize (const Table *t) {
  return l_likely(isrealasize(t)) ? t->alimit : luaH_realasize(t);
}

/* Finds the slot of t at address p and stores its index (the array part first, then the nodes) in
   *i; 'asize' is the size of the array part. Returns 0 if p is not in the table's vectors. */
static inline int luaN_slotof (const Table *t, unsigned asize, const void *p,
                               unsigned *i) {
  uintptr_t a = (uintptr_t)p - (uintptr_t)t->array;
  uintptr_t n = (uintptr_t)p - (uintptr_t)t->node;
  if (a < asize * sizeof(TValue)) *i = (unsigned)(a / sizeof(TValue));
  else if (n < (size_t)sizenode(t) * sizeof(Node))
    *i = asize + (unsigned)(n / sizeof(Node));
  else return 0;
  return 1;
}

/* luaN_stackbytes is the number of bytes of a stack's block. luaN_threadbytes returns the bytes
   of a thread's stack and CallInfos. */
#define luaN_stackbytes(th) \
  (((size_t)(th)->stackroom + EXTRA_STACK) * sizeof(StackValue))
LUAI_FUNC size_t luaN_threadbytes (const lua_State *th);

/* Makes the key of an empty node dead: the node keeps only the key's address, for luaH_next. */
static inline void luaN_clearkey (Node *n) {
  lua_assert(!luaN_ishidden(gval(n)));  /* G13 */
  if (keyiscollectable(n)) setdeadkey(n);
}

/* True if all old objects fit into the processor's cache, so that the order of visits does not
   matter. False under LUAN_STRESS slice=N, so that small heaps test the code for large ones. */
#define luaN_isnear(c)	((c)->bytes.old <= LUAN_NEAR && luaN_slicestress(c) == 0)

/* Marks o, which does not have the current epoch: gives o the epoch, and pushes it on a mark stack
   if it has references; or leaves o young (ageing.h). */
LUAI_FUNC void luaN_mark_ (global_State *g, GCObject *o);

/* Tag of a marked object in the list of undecided keys (ahead.h). */
#define luaN_logged(o)	((void *)((uintptr_t)(o) | 2))

/* luaN_mark marks o, luaN_markN marks o unless it is NULL, luaN_markvalue marks the object that v
   refers to, if any. No effect on a marked object. */
#define luaN_mark(g,o) \
  { GCObject *o_ = obj2gco(o); \
    if (!luaN_hasepoch(o_, (g)->heap.gc.mark.epoch)) luaN_mark_(g, o_); }
#define luaN_markN(g,o)  { if ((o) != NULL) luaN_mark(g, obj2gco(o)); }
#define luaN_markvalue(g,v) \
  { const TValue *v_ = (v); \
    if (iscollectable(v_)) luaN_mark(g, gcvalue(v_)); }

/* Marks the lines of n > 0 bytes at p, in block b. */
static inline void luaN_marklinesof (global_State *g, luaN_Block *b, const void *p, size_t n) {
  unsigned i = luaN_lineof(b, p);
  unsigned end = luaN_lineof(b, (const char *)p + n - 1);
  lu_byte bit = g->heap.gc.mark.bit;
  do b->marks[i] |= bit; while (++i <= end);
}

/* Marks the lines of n bytes at p, unless n is above LUAN_LARGE: such a block is not in lines. */
static inline void luaN_marklines (global_State *g, const void *p, size_t n) {
  if (l_likely(n - 1 < LUAN_LARGE)) luaN_marklinesof(g, luaN_blockof(&g->heap.blocks, p), p, n);
}

/* Marks the lines of a table's vectors. */
LUAI_FUNC void luaN_markvectors (global_State *g, const Table *t);

/* True if at least one of the four values at v refers to an object. */
#define luaN_refers(v) \
  (((rawtt(v) | rawtt((v) + 1) | rawtt((v) + 2) | rawtt((v) + 3)) & BIT_ISCOLLECTABLE) != 0)

/* Marks the objects in the array slots from v up to, not including, 'last'. */
static inline void luaN_markarray (global_State *g, const TValue *v, const TValue *last) {
  for (; last - v >= 4; v += 4) {  /* skips four slots at a time if none refers to an object */
    if (!luaN_refers(v)) continue;
    luaN_markvalue(g, v);
    luaN_markvalue(g, v + 1);
    luaN_markvalue(g, v + 2);
    luaN_markvalue(g, v + 3);
  }
  for (; v < last; v++) luaN_markvalue(g, v);
}

/* Marks the keys and values of the nodes from n up to, not including, 'last', and clears the keys
   of empty ones. */
static inline void luaN_marknodes (global_State *g, Node *n, const Node *last) {
  for (; n < last; n++) {
    if (isempty(gval(n))) luaN_clearkey(n);
    else {
      if (keyiscollectable(n)) luaN_mark(g, gckey(n));
      luaN_markvalue(g, gval(n));
    }
  }
}

/* Marks the entries in at most n slots of the strong table t, from slot i on; small tables that are
   values may be marked eagerly. Returns the index of the next slot, or 0 if there are no more. */
LUAI_FUNC unsigned luaN_traverseslots (global_State *g, Table *t, unsigned i,
                                       unsigned n);

#endif
