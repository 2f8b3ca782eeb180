/* SPDX-License-Identifier: MIT */
/*
** Copies: bytes that growth moves, of tables and of C code's buffers, counted down to a
** point of their own where the sampler is told (luaN_setcopies of seam.h). What a new
** string copies needs nothing here: an allocation's sample knows it.
**
** Without a sampler the count begins at UINT64_MAX, 500 years of moving a gigabyte a
** second: so there is one test on the way, with and without a sampler.
*/
#ifndef luaN_copies_h
#define luaN_copies_h

#define LUAN_NOCOPIES	UINT64_MAX

/* n bytes were moved, and the count has come to its point. */
LUAI_FUNC void luaN_toldcopy (lua_State *L, size_t n);

/* n bytes were moved. To be called where the running stack can be walked. */
static inline void luaN_countcopy (lua_State *L, size_t n) {
  luaN_Heap *h = &G(L)->heap;
  if (l_likely(n < h->copyleft)) h->copyleft -= n;
  else luaN_toldcopy(L, n);
}

#endif
