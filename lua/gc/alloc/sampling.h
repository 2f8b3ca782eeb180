/* SPDX-License-Identifier: MIT */
/*
** Functions that call the sampler (seam.h). None of them is on the fast path of allocation.
**
** Copy samples show where a program spends time on copying because a table or a buffer of C code
** grows. The copied bytes are subtracted from the countdown heap.copyleft; when it reaches 0, the
** sampler is called (luaN_setcopies of seam.h). Without copy samples the countdown is
** LUAN_NOCOPIES, which is never used up. Bytes copied into a new string do not count, because
** allocation samples count the string.
*/
#pragma once

#define LUAN_NOCOPIES	UINT64_MAX

/* Converts 'kind', the allocator's kind of a block (kind.h), to the luaN_Kind (seam.h) under which
   samples and walks report the block. */
LUAI_FUNC luaN_Kind luaN_kindfor (int kind);

/*
** Counts the block of n bytes at p for samples. If a sample is due, takes it, or postpones it while
** a stack is being moved (S2). The caller must always call luaN_setlimit afterwards.
** - old: bytes that were counted already: those of the block that this block replaces
** - kind: kind of the block (kind.h)
** - d: bytes from the start of the allocation to the next sample (luaN_topoint)
** - outside: 1 if the block is not in the hole (run of free lines) in which the fast path allocates
*/
LUAI_FUNC void luaN_countblock (lua_State *L, char *p, uint64_t n, size_t old,
                                int kind, int outside, uint64_t d);

/* Returns 1 if the sampler is to be called when the block is freed or resized (luaN_watch). Several
   blocks share the bit that is tested, so this function may also return 1 for a block that is not
   watched. */
static inline int luaN_iswatched (const luaN_Heap *h, const void *block) {
  unsigned bit;
  if (l_likely(h->watched == NULL)) return 0;
  bit = luaN_watchbit(block, h->watchlog);
  return l_unlikely(h->watched[bit / 64] >> bit % 64 & 1);
}

/* Calls the sampler's function 'freed' for a block that the sampler watches (luaN_iswatched). Not
   inlined, so that callers need not save registers if the block is not watched. */
LUAI_FUNC void luaN_reportfree (lua_State *L, const void *block)
    __attribute__((noinline));

/* Calls the sampler's function 'resized' for a block that the sampler watches (luaN_iswatched): its
   'before' bytes at 'from' have become 'after' bytes at 'to'. */
LUAI_FUNC void luaN_reportresized (lua_State *L, const void *from, const void *to,
                                 uint64_t before, uint64_t after)
    __attribute__((noinline));

/* If the sample of a moved stack was postponed (heap.waiting), because the stack could not be
   walked during the move (S2), takes the sample now. */
LUAI_FUNC void luaN_takewaiting (lua_State *L);

/* Counts a collection (in heap.majors if 'major' is 1, else in heap.minors), and calls the
   sampler's function 'decide', which finds the dead sampled blocks. To be called when all marks are
   final and dead objects are still intact. */
LUAI_FUNC void luaN_atomic (lua_State *L, int major);

/* Counts n new external bytes (memory outside the heap) of userdata u for samples. May call the
   sampler. */
LUAI_FUNC void luaN_countoutside (lua_State *L, Udata *u, uint64_t n);

/* To be called when n bytes were copied, and the countdown heap.copyleft is at most n. Calls the
   sampler's function 'copied', and starts the next countdown. */
LUAI_FUNC void luaN_reportcopy (lua_State *L, size_t n);

/* Counts n bytes that were copied because a table or buffer has grown. May call the sampler, which
   may walk L's stack: the CallInfo list and the stack's vector must be consistent. */
static inline void luaN_countcopy (lua_State *L, size_t n) {
  luaN_Heap *h = &G(L)->heap;
  if (l_likely(n < h->copyleft)) h->copyleft -= n;
  else luaN_reportcopy(L, n);
}
