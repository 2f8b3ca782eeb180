/* SPDX-License-Identifier: MIT */
/* Marking of one object: the object gets the current epoch, its own lines get the mark, and it is
   pushed on a mark stack if it may refer to unmarked objects. traverse.c follows the references. */
#ifndef luaN_mark_h
#define luaN_mark_h

#include "lgc.h"
#include "lobject.h"
#include "lstate.h"
#include "ltable.h"

/* Bit of a line's mark byte for epoch c. */
#define luaN_bit(c)	((lu_byte)(1u << ((c) - 1)))

/* Returns the number of slots of a table's array part. Avoids the call of luaH_realasize in the
   common case. */
static inline unsigned luaN_asize (const Table *t) {
  return l_likely(isrealasize(t)) ? t->alimit : luaH_realasize(t);
}

/* If address p is in a vector of t, stores the index of its slot (array part first, then nodes) in
   *i and returns 1; else returns 0. 'asize' is the size of t's array part. */
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

/* luaN_stackbytes is the number of bytes of the block of th's stack. luaN_threadbytes returns the
   bytes of th's stack and CallInfos, each rounded to granules. */
#define luaN_stackbytes(th) \
  (((size_t)(th)->stackroom + EXTRA_STACK) * sizeof(StackValue))
LUAI_FUNC size_t luaN_threadbytes (const lua_State *th);

/* If the key of the empty node n is an object, makes it a dead key: n keeps only the object's
   address, for luaH_next. */
static inline void luaN_clearkey (Node *n) {
  lua_assert(!luaN_ishidden(gval(n)));  /* G13 */
  if (keyiscollectable(n)) setdeadkey(n);
}

/* True if the old objects have at most LUAN_NEAR bytes and so fit into the processor's cache, where
   the order of visits does not matter. False under LUAN_STRESS slice=N, so that small heaps test
   the code for large ones. */
#define luaN_isnear(c)	((c)->bytes.old <= LUAN_NEAR && luaN_slicestress(c) == 0)

/* Marks o, which does not have the current epoch: gives o the epoch, and pushes o on a mark stack
   if it may refer to unmarked objects; or leaves o young (ageing.h). */
LUAI_FUNC void luaN_mark_ (global_State *g, GCObject *o);

/* Entry for the logged object o in the list of undecided keys (ahead.h): its address, tagged 2. */
#define luaN_logged(o)	((void *)((uintptr_t)(o) | 2))

/* luaN_mark marks o, luaN_markN marks o unless it is NULL, luaN_markvalue marks the object that v
   refers to, if any. No effect on an object with the current epoch. */
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

/* Marks the lines of n bytes at p. No effect if n is 0, or above LUAN_LARGE: such a block is not in
   lines. */
static inline void luaN_marklines (global_State *g, const void *p, size_t n) {
  if (l_likely(n - 1 < LUAN_LARGE)) luaN_marklinesof(g, luaN_blockof(&g->heap.blocks, p), p, n);
}

/* Marks the lines of those vectors of t that are in lines. */
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

/* Marks the keys and values of the nodes from n up to, not including, 'last', and makes the keys of
   empty nodes dead. */
static inline void luaN_marknodes (global_State *g, Node *n, const Node *last) {
  for (; n < last; n++) {
    if (isempty(gval(n))) luaN_clearkey(n);
    else {
      if (keyiscollectable(n)) luaN_mark(g, gckey(n));
      luaN_markvalue(g, gval(n));
    }
  }
}

/* Visits at most n slots of t from slot i on, as those of a strong table: marks keys and values,
   small tables among the values perhaps eagerly, and makes the keys of empty nodes dead. Returns
   the index of the next slot, or 0 if there is none. */
LUAI_FUNC unsigned luaN_traverseslots (global_State *g, Table *t, unsigned i,
                                       unsigned n);

#endif
