/* SPDX-License-Identifier: MIT */
/* Functions that call the sampler (seam.h). None of them is on the fast path of allocation. */
#ifndef luaN_sampling_h
#define luaN_sampling_h

/*
** Counts the block of n bytes at p for samples. If the sample point is reached, takes the sample or
** postpones it (S2). Sets the next sample point; the caller must set the limit.
**   - 'old' of the n bytes were counted already
**   - 'd' is the distance to the sample point before the allocation
**   - 'outside' is 1 if the block is not from the current hole
*/
LUAI_FUNC void luaN_countblock (lua_State *L, char *p, uint64_t n, size_t old,
                                int kind, int outside, uint64_t d);

/* Returns 1 if the sampler watches the block, or another block that shares its bit. */
static inline int luaN_iswatched (const luaN_Heap *h, const void *block) {
  unsigned bit;
  if (l_likely(h->watched == NULL)) return 0;
  bit = luaN_watchbit(block, h->watchlog);
  return l_unlikely(h->watched[bit / 64] >> bit % 64 & 1);
}

/* Calls the sampler's 'freed' for a watched block. This function and luaN_reportresized are not
   inlined, so that their callers need not save registers on the common path. */
LUAI_FUNC void luaN_reportfree (lua_State *L, const void *block)
    __attribute__((noinline));

/* Calls the sampler's 'resized' for a watched block. */
LUAI_FUNC void luaN_reportresized (lua_State *L, const void *from, const void *to,
                                 uint64_t before, uint64_t after)
    __attribute__((noinline));

/* Takes the sample that was postponed while a stack moved (S2), if there is one. */
LUAI_FUNC void luaN_takewaiting (lua_State *L);

/* Counts a minor or major collection and calls the sampler's 'decide'. To be called when all marks
   of the collection are final and dead objects are still whole. */
LUAI_FUNC void luaN_atomic (lua_State *L, int major);

/* Counts n new external bytes of u for samples. May call the sampler. */
LUAI_FUNC void luaN_countoutside (lua_State *L, Udata *u, uint64_t n);

/* To be called when u owns no external bytes any more: reports them as freed if the
   address &u->outside, which represents them as a block, is watched. */
LUAI_FUNC void luaN_tookback (lua_State *L, Udata *u);

#endif
