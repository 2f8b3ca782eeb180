/* SPDX-License-Identifier: MIT */
/*
** Copy samples: the bytes that growth moves, in tables and in buffers of C code, are subtracted
** from a countdown, heap.copyleft, which allocation samples do not change; when it reaches 0, the
** sampler is called (luaN_setcopies of seam.h). The bytes copied into a new string are not counted,
** because allocation samples count the string.
**
** Without copy samples the countdown starts at UINT64_MAX, which is 500 years of moving a gigabyte
** a second. So there is one comparison, with and without copy samples.
*/
#ifndef luaN_copies_h
#define luaN_copies_h

#define LUAN_NOCOPIES	UINT64_MAX

/* Calls the sampler's 'copied', because n moved bytes have ended the countdown, and restarts the
   countdown with the result; with LUAN_NOCOPIES if there is no 'copied'. */
LUAI_FUNC void luaN_reportcopy (lua_State *L, size_t n);

/* Counts n moved bytes. May call the sampler, so it must be possible to walk the running stack. */
static inline void luaN_countcopy (lua_State *L, size_t n) {
  luaN_Heap *h = &G(L)->heap;
  if (l_likely(n < h->copyleft)) h->copyleft -= n;
  else luaN_reportcopy(L, n);
}

#endif
