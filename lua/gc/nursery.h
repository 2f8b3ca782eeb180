/* SPDX-License-Identifier: MIT */
/*
** The nursery: bump allocation into the holes of the heap, with everything
** that may ever interrupt it folded into one limit.
**
**   nursery_limit = min(end of the current hole,
**                       address before the sample point,
**                       address at which a collection is due)
**
** An allocation adds its size to nursery_free, compares with nursery_limit
** and stores: these instructions are all there is, whether allocations are
** sampled or not. Only where the limit is passed does luaN_slow ask which of
** the three it was. Sampling off is a sample point at LUAN_INFINITY, not a flag;
** the idea and the words are those of Jung and Bolz-Tereick, "Low Overhead
** Allocation Sampling in a Garbage Collected Virtual Machine" (2026).
**
** Which bytes count, for samples and for the collector's pace: the bytes of
** every block that the core asks for, rounded up to 8: objects, vectors of
** tables, stacks, CallInfos, prototypes, buffers, large blocks too. Growing a
** block counts the growth, shrinking it nothing. What luaL_Buffer and C
** modules take from lua_Alloc or malloc by themselves does not pass here, but for
** what they say that a userdata stands for (luaN_outside): that counts for samples,
** and paces the collector in ways of its own (outside.c, pace.c).
**
** Invariants:
**   N1  free <= limit <= end, and all three lie in one hole (or are NULL).
**   N2  mark <= free: the bytes between them are allocated but not yet in
**       GCdebt and 'allocated'; luaN_flush moves mark up to free.
**   N3  GCdebt as flushed is > 0 no later than at the first slow allocation
**       after the budget is used up: the limit holds the collection's place.
**   S1  point - free = bytes until the next sample, always >= 1. Whatever
**       passes by the nursery (large blocks, the overflow region) moves the point left
**       by its size; whatever does not count (padding, the old bytes of a
**       block that grows) moves it right.
**   S2  a sample is taken after its block has been obtained and before
**       anybody can use it, or, when the block is the running stack that is
**       being moved, as soon as that can be walked again (nothing is allocated
**       between). A failed allocation takes none and moves nothing.
*/
#ifndef luaN_nursery_h
#define luaN_nursery_h

#include "debug.h"
#include "kind.h"

/* Is it memory that is freed by hand, and comes from lua_Alloc at any size? */
#define luaN_isexplicit(what) \
  ((what) == LUAN_VPROTO || (what) == LUAN_VBUFFER || (what) == LUA_VPROTO)

/*
** Allocates n bytes (rounded, > 0) off the fast path. 'what' as above. May
** collect in an emergency; raises a memory error when there is none left.
*/
LUAI_FUNC void *luaN_slow (lua_State *L, size_t size, int what);

/* A large block that was there already counts from now on: it is sampled, and charged to the
   nursery. */
LUAI_FUNC void luaN_countlate (lua_State *L, void *block, size_t size, int what);

/* o, a listed string or userdata, lives on: its lines, if it has some, are HELD. It is dead: frees its
   lines (the block that is returned needs luaN_relist), or gives it back to lua_Alloc. */
LUAI_FUNC void luaN_holdtext (global_State *g, const GCObject *o);
LUAI_FUNC luaN_Block *luaN_freetext (global_State *g, GCObject *o);

/* Bytes allocated since the accounts were flushed. */
#define luaN_unflushed(g)  ((l_mem)((g)->heap.free - (g)->heap.mark))

/* Allocates memory for an object or vector of 'size' bytes. */
#define luaN_new(L,size,what)  luaN_newin(L, &G(L)->heap, size, what)

static inline void *luaN_bump (luaN_Heap *h, size_t n) {
  char *p = h->free;
  char *q = p + n;
  if (l_unlikely(q > h->limit))
    return NULL;
  h->free = q;
  luaN_handedout(&h->blocks, p, n);
  return p;
}

static inline void *luaN_newin (lua_State *L, luaN_Heap *h, size_t size,
                                int what) {
  if (l_likely(size <= luaN_mostbumped(what))) {
    void *p = luaN_bump(h, luaN_round(size));
    if (l_likely(p != NULL))
      return p;
  }
  return luaN_slow(L, size, what);
}

#endif
