/* SPDX-License-Identifier: MIT */
/* Marks one object: stores the current epoch (1 to 3, a number that each major collection changes)
   in its header, marks its lines (units of 64 bytes), and pushes it on a mark stack if it may refer
   to unmarked objects. traverse.c traverses the pushed objects. */
#pragma once

#include "lgc.h"
#include "ltable.h"

/* the bit of epoch c (1 to 3, a number of a major collection) in the mark byte of a line (64
   bytes) */
#define luaN_bit(c)	((lu_byte)(1u << ((c) - 1)))

/* Returns the number of slots of t's array part. Calls luaH_realasize only if alimit is not that
   number. */
static inline unsigned luaN_asize (const Table *t) {
  return l_likely(isrealasize(t)) ? t->alimit : luaH_realasize(t);
}

/* Returns the number of slots of t: those of its array part and its nodes. */
static inline unsigned luaN_slots (const Table *t) {
  return luaN_asize(t) + (unsigned)sizenode(t);
}

/* Finds the slot of t that contains address p. Returns 1 and stores its index in *i (array slots
   first, then nodes). Returns 0 if p is not in the array part or hash part of t. asize: number of
   array slots of t. */
static inline int luaN_slotof (const Table *t, unsigned asize, const void *p, unsigned *i) {
  uintptr_t a = (uintptr_t)p - (uintptr_t)t->array;
  uintptr_t n = (uintptr_t)p - (uintptr_t)t->node;
  if (a < asize * sizeof(TValue)) *i = (unsigned)(a / sizeof(TValue));
  else if (n < (size_t)sizenode(t) * sizeof(Node))
    *i = asize + (unsigned)(n / sizeof(Node));
  else return 0;
  return 1;
}

/* bytes of the memory allocated for th's stack */
#define luaN_stackbytes(th) \
  (((size_t)(th)->stackroom + EXTRA_STACK) * sizeof(StackValue))

/* Returns the bytes of th's stack and of its CallInfos, each rounded up to a multiple of 8. */
LUAI_FUNC size_t luaN_threadbytes (const lua_State *th);

/* If the key of the empty node n is an object, makes it a dead key: n keeps only the object's
   address, by which luaH_next continues a traversal. */
static inline void luaN_clearkey (Node *n) {
  /* if the value only looks empty, because it is tombstoned, the entry needs its key (G13) */
  lua_assert(!luaN_ishidden(gval(n)));
  if (keyiscollectable(n)) setdeadkey(n);
}

/* True if all old objects fit into the processor's cache (LUAN_NEAR bytes), so that the order of
   marking does not matter for speed. Always false with LUAN_STRESS=slice=N, to test the code for
   large heaps. */
#define luaN_isnear(c)	((c)->bytes.old <= LUAN_NEAR && luaN_slicestress(c) == 0)

/* Marks o, which must be unmarked: sets the current epoch, and pushes o on a mark stack if o may
   refer to unmarked objects. A young o of a kind that often dies soon (ageing.h) may instead be
   left young; then its bit LUAN_MET records that it is alive. */
LUAI_FUNC void luaN_mark_ (global_State *g, GCObject *o);

/* The word for object o in the log of marked objects that may be weak keys (ahead.h): the address
   of o, with tag 2 in the low bits. */
#define luaN_logged(o)	((void *)((uintptr_t)(o) | 2))

/* Marks object o unless it is marked. */
#define luaN_mark(g,o) \
  { GCObject *o_ = obj2gco(o); \
    if (!luaN_hasepoch(o_, (g)->heap.gc.mark.epoch)) luaN_mark_(g, o_); }

/* Marks object o unless it is NULL or marked. */
#define luaN_markN(g,o)  { if ((o) != NULL) luaN_mark(g, obj2gco(o)); }

/* Marks the object of value v, if there is one and it is not marked. */
#define luaN_markvalue(g,v) \
  { const TValue *v_ = (v); \
    if (iscollectable(v_)) luaN_mark(g, gcvalue(v_)); }

/* Marks the lines (64 bytes each) that contain the n bytes at p, which are in block b, with the bit
   of the current epoch. n must be above 0. */
static inline void luaN_marklinesof (global_State *g, luaN_Block *b, const void *p, size_t n) {
  unsigned i = luaN_lineof(b, p);
  unsigned end = luaN_lineof(b, (const char *)p + n - 1);
  lu_byte bit = g->heap.gc.mark.bit;
  do b->marks[i] |= bit; while (++i <= end);
}

/* Marks the lines (64 bytes each) that contain the n bytes at p. Does nothing if n is 0 or above
   LUAN_LARGE: a block of more bytes comes from lua_Alloc and is not in lines. */
static inline void luaN_marklines (global_State *g, const void *p, size_t n) {
  if (l_likely(n - 1 < LUAN_LARGE)) luaN_marklinesof(g, luaN_blockof(&g->heap.blocks, p), p, n);
}

/* Marks the lines (64 bytes each) that contain t's array part and hash part. Does nothing for a
   part of more than LUAN_LARGE bytes: it comes from lua_Alloc and is not in lines. */
LUAI_FUNC void luaN_markvectors (global_State *g, const Table *t);

/* True if at least one of the four adjacent values from address v on is an object. */
#define luaN_refers(v) \
  (((rawtt(v) | rawtt((v) + 1) | rawtt((v) + 2) | rawtt((v) + 3)) & BIT_ISCOLLECTABLE) != 0)

/* Marks the objects in the array slots from v up to 'last' (excluded). */
static inline void luaN_markarray (global_State *g, const TValue *v, const TValue *last) {
  for (; last - v >= 4; v += 4) {  /* four slots at a time, to skip those without objects quickly */
    if (!luaN_refers(v)) continue;
    luaN_markvalue(g, v);
    luaN_markvalue(g, v + 1);
    luaN_markvalue(g, v + 2);
    luaN_markvalue(g, v + 3);
  }
  for (; v < last; v++) luaN_markvalue(g, v);
}

/* Marks the keys and values of the nodes from n up to 'last' (excluded). Makes the keys of empty
   nodes dead. */
static inline void luaN_marknodes (global_State *g, Node *n, const Node *last) {
  for (; n < last; n++) {
    if (isempty(gval(n))) luaN_clearkey(n);
    else {
      if (keyiscollectable(n)) luaN_mark(g, gckey(n));
      luaN_markvalue(g, gval(n));
    }
  }
}

/* Marks the keys and values of up to n slots of the strong table t, from slot i on. Marks small
   tables among the values recursively if possible (mark.c). Makes the keys of empty nodes dead.
   Returns the index of the next slot, or 0 if no slot is left. */
LUAI_FUNC unsigned luaN_traverseslots (global_State *g, Table *t, unsigned i, unsigned n);
