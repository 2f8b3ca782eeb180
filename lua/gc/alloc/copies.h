/* SPDX-License-Identifier: MIT */
/*
** Copy samples show where a program spends time on copying bytes because a table or a buffer of C
** code grows. The copied bytes are subtracted from a countdown, heap.copyleft. When it reaches 0,
** the sampler is called (luaN_setcopies of seam.h). Allocation samples do not change the countdown.
** Bytes that are copied into a new string do not count, because allocation samples count the
** string.
**
** Without copy samples the countdown starts at UINT64_MAX and never reaches 0: at a gigabyte a
** second that would take 500 years. So the same comparison is enough with and without copy samples.
*/
#ifndef luaN_copies_h
#define luaN_copies_h

#define LUAN_NOCOPIES	UINT64_MAX

/* Calls the sampler's function 'copied' for n copied bytes, and sets the countdown heap.copyleft
   to its result; to LUAN_NOCOPIES if there is no such function. To be called when the countdown
   reaches 0. */
LUAI_FUNC void luaN_reportcopy (lua_State *L, size_t n);

/* Counts n bytes that were copied because a table or buffer has grown. May call the sampler,
   which walks the running stack, so the stack must be complete at the time of the call. */
static inline void luaN_countcopy (lua_State *L, size_t n) {
  luaN_Heap *h = &G(L)->heap;
  if (l_likely(n < h->copyleft)) h->copyleft -= n;
  else luaN_reportcopy(L, n);
}

#endif
