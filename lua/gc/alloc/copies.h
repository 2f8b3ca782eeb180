/* SPDX-License-Identifier: MIT */
/*
** Copy samples: the bytes that growth moves, in tables and in buffers of C code, are subtracted
** from a countdown, heap.copyleft, that is separate from that of allocation samples; when it
** reaches 0, the sampler is called (luaN_setcopies of seam.h). The bytes copied into a new string
** are not counted, because allocation samples count the string.
**
** Without a sampler the countdown starts at UINT64_MAX, which is 500 years of moving a gigabyte a
** second. So there is one comparison, with and without a sampler.
*/
#ifndef luaN_copies_h
#define luaN_copies_h

#define LUAN_NOCOPIES	UINT64_MAX

/* Calls the sampler's 'copied', because n moved bytes have ended the countdown, and restarts the
   countdown with its result. */
LUAI_FUNC void luaN_reportcopy (lua_State *L, size_t n);

/* Counts n moved bytes. The running stack must be in a state that can be walked. */
static inline void luaN_countcopy (lua_State *L, size_t n) {
  luaN_Heap *h = &G(L)->heap;
  if (l_likely(n < h->copyleft)) h->copyleft -= n;
  else luaN_reportcopy(L, n);
}

#endif
