/* SPDX-License-Identifier: MIT */
/*
** heap.limit, the address up to which the fast path allocates, and the counts of allocated bytes
** (N1 to N3 and S1 of nursery.h).
**
** The host may set two limits of a state (luaN_setlimits of seam.h): on the bytes that it may
** allocate in its life, and on its bytes in use. An allocation that would exceed a limit fails like
** one that lua_Alloc refuses, but with the limit's message. The fast path has no test for these
** limits: heap.limit includes the distance to the nearer one.
**
** Invariants:
**   LM1  While a state has limits, heap.limit is at most luaN_left bytes above heap.free after each
**        call of luaN_setlimit.
**   LM2  If a limit has refused the last failed allocation, heap.refusal is the message of that
**        limit. It is NULL if that allocation has failed for another reason (luaN_unlimited), if
**        none has failed since the limits were set, or if there are no limits. Successful
**        allocations do not change heap.refusal, because a __close handler may run before the
**        message is used.
*/
#pragma once

#include "seam.h"

/* Bytes of allocation between two safepoints that call finalizers or visit remembered tables
   (refine.c), while such work is left. A larger value delays the work, a smaller one costs more
   time. Also the usual smallest size of a nursery. */
#define LUAN_GAP	((l_mem)16 * 1024)

/* Adds the bytes that the fast path has allocated since the last update to GCdebt and
   heap.allocated (N2). Does not set heap.limit. */
static inline void luaN_account (global_State *g) {
  luaN_Heap *h = &g->heap;
  g->GCdebt += h->free - h->mark;
  h->allocated += (size_t)(h->free - h->mark);
  h->mark = h->free;
}

/* Returns the bytes charged to the present nursery: the bytes by which allocation has raised GCdebt
   since the nursery started. */
static inline l_mem luaN_used (const global_State *g) {
  const luaN_Pace *p = &g->heap.gc.pace;
  return g->GCdebt + luaN_unflushed(g) + (l_mem)(p->nursery - p->deferred);
}

/* Returns the number of bytes to allocate until the next sample is due. */
static inline uint64_t luaN_topoint (const luaN_Heap *h) {
  return h->point - (uint64_t)(uintptr_t)h->free;
}

/* Makes the next sample due after 'distance' bytes of allocation from now. The caller must call
   luaN_setlimit afterwards, because heap.limit depends on the sample point. */
static inline void luaN_setpoint (luaN_Heap *h, uint64_t distance) {
  h->point = (uint64_t)(uintptr_t)h->free + distance;
}

/*
** Returns the bytes that the state may still allocate before its limit of allocated bytes refuses
** them. The limit must be set (luaN_setlimits).
*/
static inline uint64_t luaN_leftallocated (const global_State *g) {
  const luaN_Heap *h = &g->heap;
  uint64_t n = h->allocated + h->allocatedoutside + (size_t)(h->free - h->mark);
  return (h->limits->allocated > n) ? h->limits->allocated - n : 0;
}

/* Returns the bytes that the state may still allocate before its limit of the bytes in use refuses
   them. The limit must be set. */
static inline uint64_t luaN_leftinuse (const global_State *g) {
  const luaN_Heap *h = &g->heap;
  uint64_t n = (uint64_t)gettotalbytes(g);
  return (h->limits->inuse > n) ? h->limits->inuse - n : 0;
}

/* Returns the bytes that the state may still allocate before one of its two limits refuses them.
   The limits must be set. */
static inline uint64_t luaN_left (const global_State *g) {
  uint64_t a = luaN_leftallocated(g), u = luaN_leftinuse(g);
  return (a < u) ? a : u;
}

/* Returns 1 if n more bytes would exceed a limit of the state, and stores the limit's message for
   the error. May first run an emergency collection, to get below the limit of the bytes in use. The
   state must have limits. */
LUAI_FUNC int luaN_compare (lua_State *L, uint64_t n) __attribute__((noinline));

/* True if an allocation of n bytes must be refused because of a limit of the state. */
#define luaN_exceeds(L,n) \
  (l_unlikely(G(L)->heap.limits != NULL) && luaN_compare(L, n))

/* Records that an allocation has failed for another reason than a limit, so that the error does not
   get a limit's message (LM2). Yields NULL, so that the caller can return it. */
#define luaN_unlimited(g)	((void *)((g)->heap.refusal = NULL))

/* Sets heap.limit, up to which the fast path allocates, to the lowest of these addresses: end of
   the current hole (N1), next sample (S1), next collection (N3), limits of the state (LM1). Sets it
   to heap.free if every allocation must take the slow path. */
LUAI_FUNC void luaN_setlimit (global_State *g);

/* Adds the bytes that the fast path has allocated since the last update to GCdebt and
   heap.allocated (luaN_account), and sets heap.limit. */
LUAI_FUNC void luaN_flush (global_State *g);

/* Aligns heap.free, the next address of the fast path, to 16 bytes for a userdata. Does nothing if
   fewer than 8 bytes are left in the hole. The padding does not count as allocated. */
LUAI_FUNC void luaN_pad (global_State *g);

/* Gives up the two regions of free lines from which the allocator takes memory (current hole,
   overflow region), and updates the accounts. The next allocation takes other free lines. */
LUAI_FUNC void luaN_retire (global_State *g);

/* Sets the bytes in use (totalbytes + GCdebt) after a collection: the bytes of old objects, of
   objects that the collection has left young, and of explicit memory such as buffers (H6). */
LUAI_FUNC void luaN_recomputelive (global_State *g);

/* Adds 'change' to the counts of old bytes: the vectors, stack or CallInfos of o have grown by this
   number of bytes (shrunk if it is negative). Does nothing if o is young. */
LUAI_FUNC void luaN_recounted (lua_State *L, GCObject *o, l_mem change);

/* Makes the next minor collection due after n fewer bytes of allocation (more bytes if n < 0). */
LUAI_FUNC void luaN_shorten (global_State *g, l_mem n);

/* Makes a minor collection due at the next safepoint, unless the collector is stopped. */
LUAI_FUNC void luaN_hurry (global_State *g);

/* Raises GCdebt so that a safepoint calls more finalizers after at most 'gap' bytes of allocation.
   The bytes added to GCdebt are a part of the nursery, which luaN_resume gives back. */
LUAI_FUNC void luaN_defer (global_State *g, l_mem gap);

/* Gives back the part of the nursery that luaN_defer has withheld: subtracts its bytes from GCdebt.
   Returns 1 if there was such a part, and no collection is due now; else 0. */
LUAI_FUNC int luaN_resume (global_State *g);
