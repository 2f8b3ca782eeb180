/* SPDX-License-Identifier: MIT */
/* Marking of one object: gives the object the current epoch, marks its lines, and pushes it on a
   mark stack if it may refer to unmarked objects. traverse.c follows the references. */
#ifndef luaN_mark_h
#define luaN_mark_h

#include "lgc.h"
#include "lobject.h"
#include "lstate.h"
#include "ltable.h"

/* Bit of the mark byte of a line of the heap that says that the line has objects with epoch c. */
#define luaN_bit(c)	((lu_byte)(1u << ((c) - 1)))

/* Returns the number of slots of a table's array part. In the common case it does not call
   luaH_realasize. */
static inline unsigned luaN_asize (const Table *t) {
  return l_likely(isrealasize(t)) ? t->alimit : luaH_realasize(t);
}

/* Returns the number of slots of t: those of its array part and its nodes. */
static inline unsigned luaN_slots (const Table *t) {
  return luaN_asize(t) + (unsigned)sizenode(t);
}

/* Finds the slot of t that contains address p, in the array part or the nodes of t. Returns 1
   and stores the slot's index in *i: array slots come first, then nodes. Returns 0 if p is in
   neither. 'asize' is the size of t's array part. */
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

/* luaN_stackbytes is the size of the block of th's stack, in bytes. luaN_threadbytes returns the
   bytes of the stack and the CallInfos of th, each block rounded up to granules. */
#define luaN_stackbytes(th) \
  (((size_t)(th)->stackroom + EXTRA_STACK) * sizeof(StackValue))
LUAI_FUNC size_t luaN_threadbytes (const lua_State *th);

/* If the key of node n is an object, makes the key dead: n keeps only the object's address,
   which luaH_next needs. n must be empty, that is, have no value. */
static inline void luaN_clearkey (Node *n) {
  lua_assert(!luaN_ishidden(gval(n)));  /* a tombstoned entry keeps its key (G13) */
  if (keyiscollectable(n)) setdeadkey(n);
}

/* True if the old objects have at most LUAN_NEAR bytes in total. They fit into the processor's
   cache then, and the order in which marking visits them does not matter. With LUAN_STRESS=slice=N
   it is always false, so that small heaps test the code for large ones. */
#define luaN_isnear(c)	((c)->bytes.old <= LUAN_NEAR && luaN_slicestress(c) == 0)

/* Marks o: gives o the current epoch, and pushes o on a mark stack if o may refer to unmarked
   objects. May leave a young o young instead (ageing.h). To be called only if o does not have
   the current epoch, that is, is not marked. */
LUAI_FUNC void luaN_mark_ (global_State *g, GCObject *o);

/* The word that records object o in the log of marked objects, which is a part of the list
   weak.doubtful[LUAN_DOUBTKEYS] (ahead.h): the address of o, with tag 2 in the low bits. */
#define luaN_logged(o)	((void *)((uintptr_t)(o) | 2))

/* luaN_mark marks o. luaN_markN marks o unless o is NULL. luaN_markvalue marks the object that
   value v refers to, if there is one. An object that has the current epoch already is not
   changed. */
#define luaN_mark(g,o) \
  { GCObject *o_ = obj2gco(o); \
    if (!luaN_hasepoch(o_, (g)->heap.gc.mark.epoch)) luaN_mark_(g, o_); }
#define luaN_markN(g,o)  { if ((o) != NULL) luaN_mark(g, obj2gco(o)); }
#define luaN_markvalue(g,v) \
  { const TValue *v_ = (v); \
    if (iscollectable(v_)) luaN_mark(g, gcvalue(v_)); }

/* Sets the bit of the current epoch in the mark bytes of the lines of the n bytes at p, so that
   these lines are not reused. The bytes are in block b; n must not be 0. */
static inline void luaN_marklinesof (global_State *g, luaN_Block *b, const void *p, size_t n) {
  unsigned i = luaN_lineof(b, p);
  unsigned end = luaN_lineof(b, (const char *)p + n - 1);
  lu_byte bit = g->heap.gc.mark.bit;
  do b->marks[i] |= bit; while (++i <= end);
}

/* Marks the lines of the n bytes at p as in use. Does nothing if n is 0, or if n is above
   LUAN_LARGE, because the bytes are not in lines then. */
static inline void luaN_marklines (global_State *g, const void *p, size_t n) {
  if (l_likely(n - 1 < LUAN_LARGE)) luaN_marklinesof(g, luaN_blockof(&g->heap.blocks, p), p, n);
}

/* Marks the lines of the array part and of the nodes of t as in use. Skips a vector of more than
   LUAN_LARGE bytes, which is not in lines. */
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

/* Marks the keys and values of the nodes from n up to, not including, 'last'. Makes the keys of
   empty nodes dead (luaN_clearkey). */
static inline void luaN_marknodes (global_State *g, Node *n, const Node *last) {
  for (; n < last; n++) {
    if (isempty(gval(n))) luaN_clearkey(n);
    else {
      if (keyiscollectable(n)) luaN_mark(g, gckey(n));
      luaN_markvalue(g, gval(n));
    }
  }
}

/* Marks the keys and values of at most n slots of the strong table t, from slot i on. Makes the
   keys of empty nodes dead. Small tables among the values may be marked together with their
   contents, without being pushed on a mark stack. Returns the index of the next slot, or 0 if no
   slot is left. */
LUAI_FUNC unsigned luaN_traverseslots (global_State *g, Table *t, unsigned i,
                                       unsigned n);

#endif
