/* SPDX-License-Identifier: MIT */
/*
** Copy samples show where a program spends time on growth that moves bytes, in tables and in
** buffers of C code. The moved bytes are subtracted from a countdown, heap.copyleft. When it
** reaches 0, the sampler is called (luaN_setcopies of seam.h). Allocation samples do not change the
** countdown. Bytes that are copied into a new string do not count, because allocation samples count
** the string.
**
** Without copy samples the countdown starts at UINT64_MAX and never reaches 0: at a gigabyte a
** second that would take 500 years. So the same comparison is enough with and without copy samples.
*/
#ifndef luaN_copies_h
#define luaN_copies_h

#define LUAN_NOCOPIES	UINT64_MAX

/* To be called when n moved bytes have ended the countdown: calls the sampler's 'copied' and sets
   the countdown to the result, or to LUAN_NOCOPIES if there is no 'copied'. */
LUAI_FUNC void luaN_reportcopy (lua_State *L, size_t n);

/* Counts n moved bytes. May call the sampler, so it must be possible to walk the running stack. */
static inline void luaN_countcopy (lua_State *L, size_t n) {
  luaN_Heap *h = &G(L)->heap;
  if (l_likely(n < h->copyleft)) h->copyleft -= n;
  else luaN_reportcopy(L, n);
}

#endif
