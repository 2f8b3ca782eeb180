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

/* To be called when n bytes were copied and the countdown heap.copyleft reaches 0: calls the
   sampler's function 'copied' and sets the countdown to its result, or to LUAN_NOCOPIES if there is
   no such function. */
LUAI_FUNC void luaN_reportcopy (lua_State *L, size_t n);

/* Counts n bytes that were copied because a table or buffer has grown. May call the sampler, which
   walks the running stack. So it must be called only where that is possible. */
static inline void luaN_countcopy (lua_State *L, size_t n) {
  luaN_Heap *h = &G(L)->heap;
  if (l_likely(n < h->copyleft)) h->copyleft -= n;
  else luaN_reportcopy(L, n);
}

#endif
