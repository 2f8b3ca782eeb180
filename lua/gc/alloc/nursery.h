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
** An allocation adds its size to nursery_free, compares the sum with nursery_limit and stores it.
** There are no other instructions on this path, with or without sampling. If the sum is above the
** limit, luaN_slow allocates and handles the events. Without a sampler the sample point is
** LUAN_INFINITY bytes away; there is no flag. While allocations are counted (luaN_setcounts), the
** limit is nursery_free. The scheme and its terms are those of Jung and
** Bolz-Tereick, "Low Overhead Allocation Sampling in a Garbage Collected Virtual Machine" (2026).
**
** Samples and the pacer count the bytes of every block that the core requests, rounded up to 8:
** objects, vectors of tables, stacks, CallInfos, prototypes, buffers, large blocks. A block that
** shrinks counts nothing; one that grows counts its growth, or all its bytes for the pacer if it
** is moved to new memory ('obtain' of nursery.c). The pacer charges large leaf objects less
** ('charge'), and growth of the string table not at all. Memory that luaL_Buffer and C modules take
** from lua_Alloc or malloc does not pass here. External bytes of userdata (luaN_outside) count for
** samples; for the pacer they count as outside.c and pace.c describe.
**
** Invariants:
**   N1  free <= limit <= end, and all three are in one hole, or at the start of luaN_Heap if
**       there is no hole.
**   N2  mark <= free. The bytes between them are allocated and not yet in GCdebt and 'allocated';
**       luaN_flush adds them and sets mark to free.
**   N3  When GCdebt, updated, becomes > 0, an allocation takes the slow path: the limit is at
**       most the address at which the budget is used up.
**   S1  point - free is the number of bytes until the next sample, and is at least 1. An
**       allocation that passes by the nursery (large block, overflow region) moves the point to a
**       lower address, by its size; bytes that do not count (padding, the old bytes of a block that
**       grows) move the point to a higher one.
**   S2  A sample is taken after its block was allocated and before the block can be used, except a
**       growth buffer (luaN_countlate). If the block is a stack that is being moved, the sample is
**       postponed until the stack can be walked again; nothing is allocated between. A failed
**       allocation takes no sample and does not move the point.
*/
#ifndef luaN_nursery_h
#define luaN_nursery_h

#include "debug.h"
#include "kind.h"

/* True if memory of this kind is explicit: from lua_Alloc at any size, and freed by the core. */
#define luaN_isexplicit(kind) \
  ((kind) == LUAN_VPROTO || (kind) == LUAN_VBUFFER || (kind) == LUA_VPROTO)

/* Allocates 'size' > 0 bytes of this kind off the fast path. May run an emergency collection;
   raises a memory error if there is no memory, or if a limit of the state would be exceeded. */
LUAI_FUNC void *luaN_slow (lua_State *L, size_t size, int kind);

/* Counts a large block that was allocated earlier, for samples and for the nursery, as if it were
   allocated now (a growth buffer that becomes a table's vector). */
LUAI_FUNC void luaN_countlate (lua_State *L, void *block, size_t size, int kind);

/*
** luaN_holdtext sets LUAN_HELD on the lines of o, a large leaf object that survives, if o is in
** lines. luaN_freetext frees o, a dead large leaf object: its lines, or its block of lua_Alloc.
** Returns the block whose lines became free, for which luaN_relist must be called, or NULL.
*/
LUAI_FUNC void luaN_holdtext (global_State *g, const GCObject *o);
LUAI_FUNC luaN_Block *luaN_freetext (global_State *g, GCObject *o);

/* Bytes allocated from the current hole since the accounts were updated (N2). */
#define luaN_unflushed(g)  ((l_mem)((g)->heap.free - (g)->heap.mark))

/* Allocates 'size' bytes of this kind, on the fast path if possible, else by luaN_slow. */
#define luaN_new(L,size,kind)  luaN_newin(L, &G(L)->heap, size, kind)

/* Allocates n bytes (rounded) from the current hole. Returns NULL if that would pass the limit. */
static inline void *luaN_bump (luaN_Heap *h, size_t n) {
  char *p = h->free;
  char *q = p + n;
  if (l_unlikely(q > h->limit))
    return NULL;
  h->free = q;
  luaN_handedout(&h->blocks, p, n);
  return p;
}

/* As luaN_new, for a caller that has the heap h of L's state already. */
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
