/* SPDX-License-Identifier: MIT */
/*
** Checks of allocations in the debug build and the sanitizer builds. In a release build, the macros
** of this file are empty.
**
**   LUAN_DEBUG  Detects memory that is allocated twice (H3), with a bitmap of the granules in use.
**               Fills free lines with LUAN_DEADBYTE. Ends the process if a function of the sampler
**               calls the Lua API, or if the verifier finds a violated invariant.
**   ASan        Poisons free lines, and lines of a hole until they are allocated.
*/
#pragma once

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

/* luaN_handedout is called for n bytes at p that were allocated just now. luaN_takenback is called
   for n bytes at p, whole lines, that became free. */
#if defined(LUAN_DEBUG)
/* Marks n bytes at p as in use. Ends the process if some of these bytes are in use already (H3). */
LUAI_FUNC void luaN_setused (luaN_Blocks *h, void *p, size_t n);

/* Marks n bytes at p as free, and fills them with LUAN_DEADBYTE. */
LUAI_FUNC void luaN_setunused (luaN_Blocks *h, void *p, size_t n);
#define luaN_handedout(h,p,n)	(luaN_asanopen(p, n), luaN_setused(h, p, n))
#define luaN_takenback(h,p,n) \
  (luaN_setunused(h, p, n), luaN_asanclose(p, n))
#else
#define luaN_handedout(h,p,n)	luaN_asanopen(p, n)
#define luaN_takenback(h,p,n)	luaN_asanclose(p, n)
#endif

/* luaN_asking records that a function of the sampler runs (on: 1) or has ended (0). Each API
   function calls luaN_mayenter with its own name. While a function of the sampler is running,
   luaN_mayenter ends the process, except in lua_getinfo and lua_getstack. */
#if defined(LUAN_DEBUG)
#define luaN_asking(h,on)	((void)((h)->asking = (on)))
LUAI_FUNC void luaN_mayenter (struct lua_State *L, const char *function);
#else
#define luaN_asking(h,on)	((void)0)
#define luaN_mayenter(L,f)	((void)0)
#endif

/* Evaluates 'call', which calls a function of the sampler. The debug build records meanwhile that
   this function runs. */
#define luaN_callsampler(h,call)	(luaN_asking(h, 1), (call), luaN_asking(h, 0))

/* luaN_mustverify is called after each collection: checks the invariants of the heap, and ends the
   process if one is violated. In a large heap it checks only every sixteenth time (with
   LUAN_STRESS=verify=N: every N-th time). exact: 1 if luaC_fullgc has run just now, so that no old
   object is dead and the count of old bytes must be exact. inspect/verify.c sets luaN_verifier. */
#if defined(LUAN_DEBUG)
LUAI_DDEC(void (*luaN_verifier) (struct lua_State *L, int exact);)
#define luaN_mustverify(L,exact)	luaN_verifier(L, exact)
#else
#define luaN_mustverify(L,exact)	((void)0)
#endif
