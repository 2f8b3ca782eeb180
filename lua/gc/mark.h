/* SPDX-License-Identifier: MIT */
/*
** Marking one object: it gets the epoch, its lines their marks, and what has
** references goes on a stack. What these are followed by is traverse.c's business.
*/
#ifndef luaN_mark_h
#define luaN_mark_h

#include "lgc.h"
#include "lobject.h"
#include "lstate.h"
#include "ltable.h"

#define luaN_bit(c)	((lu_byte)(1u << ((c) - 1)))	/* of a line's marks */

/* Slots of a table's array part: luaH_realasize without the call, as a rule. */
static inline unsigned luaN_asize (const Table *t) {
  return l_likely(isrealasize(t)) ? t->alimit : luaH_realasize(t);
}

/* The slot of t, whose array part has asize, that address p lies in, counted as
   luaN_traverseslots does. 0: none, t has had other vectors then. */
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

/* Bytes of a stack's block; of a thread's stack and CallInfos. */
#define luaN_stackbytes(th) \
  (((size_t)(th)->stackroom + EXTRA_STACK) * sizeof(StackValue))
LUAI_FUNC size_t luaN_threadbytes (const lua_State *th);

/* An empty entry keeps its key's address only, for next. */
static inline void luaN_clearkey (Node *n) {
  lua_assert(!luaN_ishidden(gval(n)));  /* G13 */
  if (keyiscollectable(n)) setdeadkey(n);
}

/* Does a cache hold all that is old? Then it is of no account in which order things are looked
   at. (Small slices are to meet what is done for large heaps.) */
#define LUAN_NEAR	((l_mem)256 * 1024)
#define luaN_isnear(c)	((c)->bytes.old <= LUAN_NEAR && luaN_slicestress(c) == 0)

LUAI_FUNC void luaN_mark_ (global_State *g, GCObject *o);

/* o, which was marked, in a list of doubtful keys (ahead.h). */
#define luaN_logged(o)	((void *)((uintptr_t)(o) | 2))

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

/* Marks the lines of n bytes at p, unless lua_Alloc gave them. */
static inline void luaN_marklines (global_State *g, const void *p, size_t n) {
  if (l_likely(n - 1 < LUAN_LARGE)) luaN_marklinesof(g, luaN_blockof(&g->heap.blocks, p), p, n);
}

/* Marks the lines of a table's vectors. */
LUAI_FUNC void luaN_markvectors (global_State *g, const Table *t);

/* Does one of the four values from v on refer to an object? */
#define luaN_refers(v) \
  (((rawtt(v) | rawtt((v) + 1) | rawtt((v) + 2) | rawtt((v) + 3)) & BIT_ISCOLLECTABLE) != 0)

/* Marks what the slots from v to 'last' of a table's array part hold. */
static inline void luaN_markarray (global_State *g, const TValue *v, const TValue *last) {
  for (; last - v >= 4; v += 4) {  /* numbers are passed over by fours */
    if (!luaN_refers(v)) continue;
    luaN_markvalue(g, v);
    luaN_markvalue(g, v + 1);
    luaN_markvalue(g, v + 2);
    luaN_markvalue(g, v + 3);
  }
  for (; v < last; v++) luaN_markvalue(g, v);
}

/* The same of the nodes of its hash part. */
static inline void luaN_marknodes (global_State *g, Node *n, const Node *last) {
  for (; n < last; n++) {
    if (isempty(gval(n))) luaN_clearkey(n);
    else {
      if (keyiscollectable(n)) luaN_mark(g, gckey(n));
      luaN_markvalue(g, gval(n));
    }
  }
}

/* Traverses the entries of a strong table from slot i on, at most n of them, and settles small
   tables there. Returns the first slot that was not looked at; 0: there are no more. */
LUAI_FUNC unsigned luaN_traverseslots (global_State *g, Table *t, unsigned i,
                                       unsigned n);

#endif
