/* SPDX-License-Identifier: MIT */
/*
** Copy samples show where a program spends time on copying because a table or a buffer of C code
** grows. The copied bytes are subtracted from the countdown heap.copyleft; when it reaches 0, the
** sampler is called (luaN_setcopies of seam.h). Without copy samples the countdown is
** LUAN_NOCOPIES, which is never used up.
**
** Bytes copied into a new string do not count, because allocation samples count the string.
*/
#ifndef luaN_copies_h
#define luaN_copies_h

#define LUAN_NOCOPIES	UINT64_MAX

/* Calls the sampler's function 'copied' when the countdown has reached 0, and starts the next
   countdown. n: bytes copied just now. */
LUAI_FUNC void luaN_reportcopy (lua_State *L, size_t n);

/* Counts n bytes that were copied because a table or buffer has grown. May call the sampler, which
   may walk L's stack: the stack must be complete. */
static inline void luaN_countcopy (lua_State *L, size_t n) {
  luaN_Heap *h = &G(L)->heap;
  if (l_likely(n < h->copyleft)) h->copyleft -= n;
  else luaN_reportcopy(L, n);
}

#endif
