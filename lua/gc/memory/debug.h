/* SPDX-License-Identifier: MIT */
/*
** Checks that the debug and sanitizer builds add to every allocation. In a release build all hooks
** are empty.
**
**   LUAN_DEBUG  A bitmap of the granules in use detects memory that is allocated twice (H3). Lines
**               that become free are filled with LUAN_DEADBYTE. The process is ended if a function
**               of the sampler calls the Lua API (luaN_mayenter), or if luaN_verify finds a broken
**               invariant (verify.h).
**   ASan        Free lines are poisoned. The lines of a hole stay poisoned until an allocation uses
**               them.
*/
#ifndef luaN_debug_h
#define luaN_debug_h

#include "heap.h"

#define LUAN_DEADBYTE	0x5D

struct lua_State;

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define luaN_asanopen(p,n)	ASAN_UNPOISON_MEMORY_REGION(p, n)
#define luaN_asanclose(p,n)	ASAN_POISON_MEMORY_REGION(p, n)
#else
#define luaN_asanopen(p,n)	((void)0)
#define luaN_asanclose(p,n)	((void)0)
#endif

/* Hooks of all builds. luaN_handedout is called when n bytes at p were allocated; luaN_takenback
   when n bytes at p, which are whole lines, have become free. */
#if defined(LUAN_DEBUG)
/* luaN_setused marks n bytes at p as in use. It ends the process if some of them are in use already
   (H3) or are not in the block of p. luaN_setunused marks n bytes as free and fills them with
   LUAN_DEADBYTE. */
LUAI_FUNC void luaN_setused (luaN_Blocks *h, void *p, size_t n);
LUAI_FUNC void luaN_setunused (luaN_Blocks *h, void *p, size_t n);
#define luaN_handedout(h,p,n)	(luaN_asanopen(p, n), luaN_setused(h, p, n))
#define luaN_takenback(h,p,n) \
  (luaN_setunused(h, p, n), luaN_asanclose(p, n))
#else
#define luaN_handedout(h,p,n)	luaN_asanopen(p, n)
#define luaN_takenback(h,p,n)	luaN_asanclose(p, n)
#endif

/* Sets whether a function of the sampler is running ('on'). Such a function must not call the API,
   except lua_getinfo and lua_getstack. Each API function calls luaN_mayenter with its own name,
   usually by lua_lock (core.h); luaN_mayenter ends the process if the call is not allowed. */
#if defined(LUAN_DEBUG)
#define luaN_asking(h,on)	((void)((h)->asking = (on)))
LUAI_FUNC void luaN_mayenter (struct lua_State *L, const char *function);
#else
#define luaN_asking(h,on)	((void)0)
#define luaN_mayenter(L,f)	((void)0)
#endif

/* luaN_mustverify checks the heap after a collection, and ends the process if an invariant does not
   hold. 'exact' is 1 after luaC_fullgc. In a large heap only every N-th call checks. The check is
   luaN_verifier, which inspect/verify.c sets when the process starts. */
#if defined(LUAN_DEBUG)
LUAI_DDEC(void (*luaN_verifier) (struct lua_State *L, int exact);)
#define luaN_mustverify(L,exact)	luaN_verifier(L, exact)
#else
#define luaN_mustverify(L,exact)	((void)0)
#endif

#endif
