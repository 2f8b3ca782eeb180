/* SPDX-License-Identifier: MIT */
/*
** The nursery: bump allocation into the holes (runs of free lines) of the heap. One limit covers
** every event that may interrupt an allocation:
**
**   heap.limit = min(end of the current hole,
**                    address before the sample point,
**                    address at which a collection is due,
**                    address at which a limit of the state is reached (LM1 of limit.h))
**
** The fast path adds the size to heap.free and compares the sum with heap.limit; it is the same
** with and without a sampler. If the sum is above the limit, luaN_slow allocates and handles the
** events. (The scheme is that of Jung and Bolz-Tereick; see gc.h.)
**
** Samples and the pacer count each block that the core requests, rounded up to 8 bytes: objects,
** vectors, stacks, CallInfos, prototypes, buffers. Special cases:
** - Of a block that grows, the growth counts; if the block is moved, the pacer counts all its
**   bytes. A block that shrinks does not count.
** - For the pacer, a long string or large userdata may count with fewer bytes (TEXTCHARGE of
**   nursery.c), and growth of the string table does not count.
** - External bytes of userdata count for samples; for the pacer as outside.c and pace.c describe.
** - Memory that luaL_Buffer and C modules allocate does not count.
**
** Invariants. The members free, limit, end, mark, point and allocated are those of luaN_Heap.
**   N1  free <= limit <= end, and all three are addresses in the current hole. If there is none,
**       all three are the address of the luaN_Heap.
**   N2  mark <= free. GCdebt and 'allocated' include the bytes of the hole up to 'mark'. luaN_flush
**       adds the bytes from mark to free, and sets mark to free. A signal handler may run while
**       these members or the hole are being changed. In the handler, the result of luaN_allocated
**       may be wrong by up to LUAN_BLOCK bytes plus the bytes of the block that is being counted.
**   N3  A collection is due when GCdebt is above 0. While GCdebt is at most 0, limit is at most
**       mark - GCdebt. (When 'free' has reached that address, luaN_flush sets GCdebt to 0.) So the
**       allocation that makes a collection due takes the slow path.
**   S1  A sample is due when 'free' reaches 'point', an address that may be above the hole.
**       point - free, the number of bytes until the next sample, is at least 1. An allocation
**       outside the hole lowers 'point' by its size. If 'free' is raised by bytes that do not count
**       (padding, or the old bytes of a block that grows), 'point' is raised, too.
**   S2  The sample of a block is taken after its allocation and before its first use. Exceptions:
**         - A growth buffer (growth.h) is sampled when it becomes a table's vector
**           (luaN_countlate).
**         - The sample of a stack that is being moved is postponed until the stack can be walked
**           again. Nothing is allocated before that.
**       A failed allocation takes no sample and does not change 'point'.
*/
#pragma once

#include "debug.h"
#include "kind.h"

/* True if this kind is explicit memory: it is freed block by block, by explicit calls, and always
   comes from lua_Alloc. */
#define luaN_isexplicit(kind) \
  ((kind) == LUAN_VPROTO || (kind) == LUAN_VBUFFER || (kind) == LUA_VPROTO)

/* Allocates a block of 'size' > 0 bytes and this kind (kind.h) without the fast path. May run an
   emergency collection. Raises a memory error if there is no memory or a limit of the state would
   be exceeded. */
LUAI_FUNC void *luaN_slow (lua_State *L, size_t size, int kind);

/* Counts a block of this size and kind (kind.h), for samples and the pacer, as if it were allocated
   now. Used when a hash part that was allocated in advance (growth.h) becomes part of its table. */
LUAI_FUNC void luaN_countlate (lua_State *L, void *block, size_t size, int kind);

/*
** Gives the lines of o the mark LUAN_HELD, so that they are not reused. o is a long string or
** userdata that a collection has found alive, and that shares no line with other objects. Does
** nothing if o is not in lines.
*/
LUAI_FUNC void luaN_holdtext (global_State *g, const GCObject *o);

/* Frees o, a dead long string or userdata that shares no line with other objects. Returns the block
   in which lines became free, to be passed to luaN_relist; NULL if there is no such block. */
LUAI_FUNC luaN_Block *luaN_freetext (global_State *g, GCObject *o);

/* Bytes allocated by the fast path that GCdebt and heap.allocated do not include yet (N2). */
#define luaN_unflushed(g)  ((l_mem)((g)->heap.free - (g)->heap.mark))

/* Allocates a block of 'size' bytes and this kind (kind.h), on the fast path if possible. */
#define luaN_new(L,size,kind)  luaN_newin(L, &G(L)->heap, size, kind)

/* Allocates n bytes, a multiple of 8, at heap.free (the fast path). Returns NULL if the block would
   end above heap.limit. */
static inline void *luaN_bump (luaN_Heap *h, size_t n) {
  char *p = h->free;
  char *q = p + n;
  if (l_unlikely(q > h->limit))
    return NULL;
  h->free = q;
  luaN_handedout(&h->blocks, p, n);
  return p;
}

/* Like luaN_new, for a caller that has the heap of the state in h already. */
static inline void *luaN_newin (lua_State *L, luaN_Heap *h, size_t size, int kind) {
  if (l_likely(size <= luaN_mostbumped(kind))) {
    void *p = luaN_bump(h, luaN_round(size));
    if (l_likely(p != NULL))
      return p;
  }
  return luaN_slow(L, size, kind);
}
