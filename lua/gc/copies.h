/* SPDX-License-Identifier: MIT */
/*
** Copies: bytes that growth moves, of tables and of C code's buffers, counted down to a
** point of their own where the sampler is told (luaN_setcopies of seam.h). What a new
** string copies needs nothing here: an allocation's sample knows it.
**
** Without a sampler the count goes down from UINT64_MAX: 500 years of moving a gigabyte
** a second. So nothing is asked for on the way but whether it is through.
*/
#ifndef luaN_copies_h
#define luaN_copies_h

#define LUAN_NOCOPIES	UINT64_MAX

/* The count is through: n bytes were moved. */
LUAI_FUNC void luaN_toldcopy (lua_State *L, size_t n);

/* n bytes were moved, and the running stack can be walked. */
static inline void luaN_countcopy (lua_State *L, size_t n) {
  luaN_Heap *h = &G(L)->heap;
  if (l_likely(n < h->copyleft)) h->copyleft -= n;
  else luaN_toldcopy(L, n);
}

#endif
