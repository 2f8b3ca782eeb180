/* SPDX-License-Identifier: MIT */
/*
** The nursery: bump allocation into the holes of the heap. Every event that may interrupt an
** allocation is part of one limit:
**
**   nursery_limit = min(end of the current hole,
**                       address before the sample point,
**                       address at which a collection is due,
**                       address at which a limit of the state is reached (LM1 of allowance.h))
**
** The fast path of an allocation adds the size to nursery_free, compares the sum with nursery_limit
** and stores the sum. It has no other instructions, with or without a sampler: without one the
** sample point is LUAN_INFINITY bytes away. If the sum is above the limit, luaN_slow allocates and
** handles the events. While allocations are counted (luaN_setcounts), the limit is nursery_free, so
** that every allocation is slow. The scheme and its terms are those of Jung and Bolz-Tereick, "Low
** Overhead Allocation Sampling in a Garbage Collected Virtual Machine" (2026).
**
** Samples and the pacer count the bytes of every block that the core requests, rounded up to 8:
** objects, vectors of tables, stacks, CallInfos, prototypes, buffers. Special cases:
**
**   - A block that shrinks counts nothing. A block that grows counts its growth; if it is moved to
**     new memory, the pacer counts all its bytes ('obtain' of nursery.c).
**   - The pacer charges large leaf objects with fewer bytes ('charge'), and does not count growth
**     of the string table.
**   - External bytes of userdata (luaN_outside) count for samples. For the pacer they count as
**     outside.c and pace.c describe.
**   - Memory that luaL_Buffer and C modules take from lua_Alloc or malloc does not count.
**
** Invariants:
**   N1  free <= limit <= end, and all three are addresses in the current hole. If there is none,
**       all three are the address of the luaN_Heap.
**   N2  mark <= free. 'mark' is the address up to which the allocated bytes of the hole were added
**       to GCdebt and 'allocated'. luaN_flush adds the bytes from mark to free, and sets mark to
**       free.
**   N3  Unless GCdebt is above 0, the limit is at most the address at which the updated GCdebt
**       would be 0. So the allocation that makes GCdebt greater than 0, and a collection due, takes
**       the slow path.
**   S1  'point' is the address of the next sample point, which may be above the hole: point - free
**       is the number of bytes until the next sample, and is at least 1. An allocation elsewhere (a
**       large block, or a block in the overflow region, a second hole for blocks that do not fit
**       into the current one) lowers the point by its size. Bytes that do not count (padding, the
**       old bytes of a block that grows) raise the point.
**   S2  The sample of a block is taken after its allocation and before its first use. There are two
**       exceptions. A growth buffer is sampled when it becomes a table's vector (luaN_countlate).
**       The sample of a stack that is being moved is postponed until the stack can be walked again,
**       and nothing is allocated before that. A failed allocation takes no sample and does not
**       change the point.
*/
#ifndef luaN_nursery_h
#define luaN_nursery_h

#include "debug.h"
#include "kind.h"

/* True if memory of this kind is explicit: from lua_Alloc at any size, and freed by the core. */
#define luaN_isexplicit(kind) \
  ((kind) == LUAN_VPROTO || (kind) == LUAN_VBUFFER || (kind) == LUA_VPROTO)

/* Allocates 'size' > 0 bytes for memory of this kind, without the fast path (luaN_bump). May run
   an emergency collection. Raises a memory error if there is no memory, or if a limit of the
   state would be exceeded. */
LUAI_FUNC void *luaN_slow (lua_State *L, size_t size, int kind);

/* Counts a block as if it were allocated now, for samples and for the start of the next
   collection. To be called when a growth buffer (growth.h), which was not counted when it was
   allocated, becomes a table's vector. */
LUAI_FUNC void luaN_countlate (lua_State *L, void *block, size_t size, int kind);

/*
** luaN_holdtext keeps the lines of o, a large leaf object (long string or userdata) that has
** survived a collection, from being reused: sets the mark LUAN_HELD on them. It does nothing if
** o is not in lines.
**
** luaN_freetext frees o, a dead large leaf object: its lines, or its block of lua_Alloc. If
** lines of a block have become free, it returns the block, for which the caller must call
** luaN_relist. Otherwise it returns NULL.
*/
LUAI_FUNC void luaN_holdtext (global_State *g, const GCObject *o);
LUAI_FUNC luaN_Block *luaN_freetext (global_State *g, GCObject *o);

/* Bytes allocated from the current hole (the run of free lines from which the fast path allocates)
   since GCdebt and heap.allocated were last updated (N2). */
#define luaN_unflushed(g)  ((l_mem)((g)->heap.free - (g)->heap.mark))

/* Allocates 'size' bytes of this kind, on the fast path if possible, else by luaN_slow. */
#define luaN_new(L,size,kind)  luaN_newin(L, &G(L)->heap, size, kind)

/* Allocates n bytes, a multiple of 8, from the current hole. Returns NULL if that would pass
   nursery_limit. */
static inline void *luaN_bump (luaN_Heap *h, size_t n) {
  char *p = h->free;
  char *q = p + n;
  if (l_unlikely(q > h->limit))
    return NULL;
  h->free = q;
  luaN_handedout(&h->blocks, p, n);
  return p;
}

/* Allocates 'size' bytes of this kind, as luaN_new does, for a caller that has the heap h of L's
   state already. */
static inline void *luaN_newin (lua_State *L, luaN_Heap *h, size_t size,
                                int kind) {
  if (l_likely(size <= luaN_mostbumped(kind))) {
    void *p = luaN_bump(h, luaN_round(size));
    if (l_likely(p != NULL))
      return p;
  }
  return luaN_slow(L, size, kind);
}

#endif
