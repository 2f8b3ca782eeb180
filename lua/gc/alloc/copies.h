/* SPDX-License-Identifier: MIT */
/*
** Copy samples: the bytes that growth moves, in tables and in buffers of C code, are subtracted
** from a countdown that is separate from that of allocation samples; when it reaches 0, the
** sampler is called (luaN_setcopies of seam.h). The bytes copied into a new string need no count,
** because its allocation sample has them.
**
** Without a sampler the count starts at UINT64_MAX, which is 500 years of moving a gigabyte a
** second. So there is one comparison, with and without a sampler.
*/
#ifndef luaN_copies_h
#define luaN_copies_h

#define LUAN_NOCOPIES	UINT64_MAX

/* Calls the sampler, because n moved bytes have reached the point, and sets the next point. */
LUAI_FUNC void luaN_reportcopy (lua_State *L, size_t n);

/* Counts n moved bytes. The running stack must be in a state that can be walked. */
static inline void luaN_countcopy (lua_State *L, size_t n) {
  luaN_Heap *h = &G(L)->heap;
  if (l_likely(n < h->copyleft)) h->copyleft -= n;
  else luaN_reportcopy(L, n);
}

#endif
