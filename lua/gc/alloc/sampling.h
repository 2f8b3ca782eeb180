/* SPDX-License-Identifier: MIT */
/* Functions that call the sampler (seam.h). None of them is on the fast path of allocation. */
#ifndef luaN_sampling_h
#define luaN_sampling_h

/*
** Counts the block of n bytes at p for samples. If the next sample is due, takes the sample, or
** postpones it while a stack is being moved (S2). Sets the next sample point. The caller must
** then call luaN_setlimit, because nursery_limit may be wrong.
**   - 'old' is the number of the n bytes that were counted already, as a part of the block that
**     this one replaces
**   - 'd' is the number of bytes that remained until the next sample before the allocation
**   - 'outside' is 1 if the block is not from the current hole
*/
LUAI_FUNC void luaN_countblock (lua_State *L, char *p, uint64_t n, size_t old,
                                int kind, int outside, uint64_t d);

/* Returns 1 if the sampler must be called when the block is freed or resized (luaN_watch).
   Several blocks share a bit, so the result may also be 1 for another block. */
static inline int luaN_iswatched (const luaN_Heap *h, const void *block) {
  unsigned bit;
  if (l_likely(h->watched == NULL)) return 0;
  bit = luaN_watchbit(block, h->watchlog);
  return l_unlikely(h->watched[bit / 64] >> bit % 64 & 1);
}

/* Calls the sampler's function 'freed', for a block whose freeing the sampler has requested to be
   reported (luaN_iswatched). This function and luaN_reportresized are not inlined, so that their
   callers need not save registers on the common path. */
LUAI_FUNC void luaN_reportfree (lua_State *L, const void *block)
    __attribute__((noinline));

/* Calls the sampler's function 'resized', for a block whose resizing the sampler has requested to
   be reported (luaN_iswatched). */
LUAI_FUNC void luaN_reportresized (lua_State *L, const void *from, const void *to,
                                 uint64_t before, uint64_t after)
    __attribute__((noinline));

/* Takes the sample that was postponed while a stack moved (S2), if there is one. */
LUAI_FUNC void luaN_takewaiting (lua_State *L);

/* Calls the sampler's function 'decide', which finds out which sampled blocks are dead, and
   increments heap.minors or heap.majors. To be called when all marks of the collection are final
   and dead objects are not overwritten yet. */
LUAI_FUNC void luaN_atomic (lua_State *L, int major);

/* Counts n new external bytes of u, bytes outside the heap that u owns, for samples. May call the
   sampler. */
LUAI_FUNC void luaN_countoutside (lua_State *L, Udata *u, uint64_t n);

/* Reports the external bytes of u, bytes outside the heap, as freed, if the sampler has
   requested that for the address &u->outside, which represents them (luaN_iswatched). To be
   called when u owns no external bytes any more. */
LUAI_FUNC void luaN_tookback (lua_State *L, Udata *u);

#endif
