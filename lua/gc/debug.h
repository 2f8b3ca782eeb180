/* SPDX-License-Identifier: MIT */
/*
** What the debug and sanitizer builds add to every allocation:
**
**   LUAN_DEBUG  a bitmap of the granules handed out catches memory that is
**               handed out twice (H3); lines that become free are filled with
**               LUAN_DEADBYTE; a sampler that calls the Lua API ends the process
**               (and so does a heap in which an invariant is broken: verify.h).
**   ASan        lines that are not handed out are poisoned.
**
** In a release build all hooks are empty.
*/
#ifndef luaN_debug_h
#define luaN_debug_h

#include "heap.h"

#define LUAN_DEADBYTE	0x5D

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define luaN_asanopen(p,n)	ASAN_UNPOISON_MEMORY_REGION(p, n)
#define luaN_asanclose(p,n)	ASAN_POISON_MEMORY_REGION(p, n)
#else
#define luaN_asanopen(p,n)	((void)0)
#define luaN_asanclose(p,n)	((void)0)
#endif

/* n bytes at p are handed out; n bytes (whole lines) at p are free again. */
#if defined(LUAN_DEBUG)
LUAI_FUNC void luaN_setused (luaN_Blocks *h, void *p, size_t n);
LUAI_FUNC void luaN_setunused (luaN_Blocks *h, void *p, size_t n);
#define luaN_handedout(h,p,n)	(luaN_asanopen(p, n), luaN_setused(h, p, n))
#define luaN_takenback(h,p,n) \
  (luaN_setunused(h, p, n), luaN_asanclose(p, n))
#else
#define luaN_handedout(h,p,n)	luaN_asanopen(p, n)
#define luaN_takenback(h,p,n)	luaN_asanclose(p, n)
#endif

/*
** A function of the sampler runs, or has ended: until then nobody may enter the
** API (seam.h). 'mayenter' ends the process when somebody does.
*/
#if defined(LUAN_DEBUG)
#define luaN_asking(h,on)	((void)((h)->asking = (on)))
struct lua_State;
LUAI_FUNC void luaN_mayenter (struct lua_State *L, const char *function);
#else
#define luaN_asking(h,on)	((void)0)
#define luaN_mayenter(L,f)	((void)0)
#endif

#endif
