/* SPDX-License-Identifier: MIT */
/* nursery_limit, up to which the fast path allocates, and the accounts, that is, the counts of
   allocated bytes (N1 to N3 and S1 of nursery.h). The code that moves nursery_free, nursery_limit
   or the sample point is here, in nursery.h, nursery.c and sampling.c; the debt is also set by
   pace.c, stress.c and lua_gc. */
#ifndef luaN_limit_h
#define luaN_limit_h

#include "seam.h"

/* Bytes of allocation between two safepoints, while there is work that each safepoint does a part
   of: calls of finalizers in batches, or early processing of remembered tables (refine.c). Also the
   usual least size of a nursery. A larger value delays the work; with a smaller one, more time is
   spent on safepoints. */
#define LUAN_GAP	((l_mem)16 * 1024)

/* Adds the bytes that the fast path has allocated since the last update (N2) to the accounts
   GCdebt and heap.allocated. Does not set nursery_limit. */
static inline void luaN_account (global_State *g) {
  luaN_Heap *h = &g->heap;
  g->GCdebt += h->free - h->mark;
  h->allocated += (size_t)(h->free - h->mark);
  h->mark = h->free;
}

/* Returns the number of bytes that may be allocated until the next sample is taken. */
static inline uint64_t luaN_topoint (const luaN_Heap *h) {
  return h->point - (uint64_t)(uintptr_t)h->free;
}

/* Makes the next sample be taken after 'distance' bytes of allocation: sets the sample point.
   The caller must call luaN_setlimit afterwards. */
static inline void luaN_setpoint (luaN_Heap *h, uint64_t distance) {
  h->point = (uint64_t)(uintptr_t)h->free + distance;
}

/*
** Return the number of bytes that may still be allocated within the state's limits, which must
** exist (luaN_setlimits): luaN_leftallocated within the limit of allocated bytes, luaN_leftinuse
** within that of the bytes in use, luaN_left within both.
*/
static inline uint64_t luaN_leftallocated (const global_State *g) {
  const luaN_Heap *h = &g->heap;
  uint64_t n = h->allocated + h->allocatedoutside + (size_t)(h->free - h->mark);
  return (h->limits->allocated > n) ? h->limits->allocated - n : 0;
}

static inline uint64_t luaN_leftinuse (const global_State *g) {
  const luaN_Heap *h = &g->heap;
  uint64_t n = (uint64_t)gettotalbytes(g);
  return (h->limits->inuse > n) ? h->limits->inuse - n : 0;
}

static inline uint64_t luaN_left (const global_State *g) {
  uint64_t a = luaN_leftallocated(g), u = luaN_leftinuse(g);
  return (a < u) ? a : u;
}

/* Sets nursery_limit, the address up to which the fast path may allocate, to the lowest address
   that one of these requires: the current hole (N1), the sample point (S1), the start of the
   next collection (N3), the state's limits (LM1). Sets it to nursery_free if every allocation is
   to be slow. */
LUAI_FUNC void luaN_setlimit (global_State *g);

/* Makes GCdebt and heap.allocated include all allocated bytes (N2), and sets nursery_limit. */
LUAI_FUNC void luaN_flush (global_State *g);

/* Aligns nursery_free to 16 bytes, for a userdata that is allocated next. Does nothing if the
   current hole has no 8 bytes for the padding. The padding does not count as allocated. */
LUAI_FUNC void luaN_pad (global_State *g);

/* Gives up the current hole and the overflow region, the two regions of free lines from which
   the allocator takes memory. Also updates the accounts. The next allocation in lines takes a
   new hole. */
LUAI_FUNC void luaN_retire (global_State *g);

/* Computes the bytes in use of the state (totalbytes + GCdebt) again. To be called after a
   collection. The bytes in use are the sum (H6) of the bytes of old objects, of the memory that
   the core frees explicitly, and of the objects that the collection has left young. */
LUAI_FUNC void luaN_recomputelive (global_State *g);

/* Counts a change of the size of o: its vectors, stack or CallInfos have grown by 'change' bytes
   (negative: have shrunk). Updates bytes.old and, for growth, bytes.tenured. Does nothing if o
   is young. */
LUAI_FUNC void luaN_recounted (lua_State *L, GCObject *o, l_mem change);

/* Returns the bytes of the present nursery that have counted so far for the start of the next
   minor collection: GCdebt plus the nursery's size. GCdebt must be up to date (luaN_flush), and
   no part of the nursery may be withheld (pace.deferred, luaN_resume). */
LUAI_FUNC size_t luaN_unpaid (global_State *g);

/* Moves the next minor collection n bytes of allocation closer; further away if n < 0. */
LUAI_FUNC void luaN_shorten (global_State *g, l_mem n);

/* Exclude allocations from the accounts of the pacer: they then bring no collection closer and
   do not increase the work of marking. luaN_debt is called before the allocations: it updates
   GCdebt, which grows with each allocated byte, and returns GCdebt. luaN_uncharge is called
   after them with that result, 'before': it sets GCdebt back to 'before' if GCdebt has grown. */
LUAI_FUNC l_mem luaN_debt (global_State *g);
LUAI_FUNC void luaN_uncharge (global_State *g, l_mem before);

/* Makes the next safepoint collect, unless the collector is stopped. */
LUAI_FUNC void luaN_hurry (global_State *g);

/* luaN_defer makes the next safepoint come after at most 'gap' bytes of allocation. The
   safepoint then calls another batch of finalizers. For this purpose a part of the nursery is
   withheld (pace.deferred). luaN_resume adds that part to the nursery again. It returns 1 if a
   part was withheld and no collection is due. */
LUAI_FUNC void luaN_defer (global_State *g, l_mem gap);
LUAI_FUNC int luaN_resume (global_State *g);

#endif
