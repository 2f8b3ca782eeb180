/* SPDX-License-Identifier: MIT */
/*
** Checks that the debug and sanitizer builds add to every allocation:
**
**   LUAN_DEBUG  A bitmap of the granules in use detects memory that is handed out
**               twice (H3). Lines that become free are filled with LUAN_DEADBYTE.
**               A sampler that calls the Lua API (luaN_mayenter), or a broken
**               invariant (verify.h), ends the process.
**   ASan        Free lines are poisoned, and holes until they are allocated from.
**
** In a release build all hooks are empty.
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

/* Hooks. luaN_handedout: n bytes at p were allocated. luaN_takenback: n bytes at p, whole lines,
   became free. */
#if defined(LUAN_DEBUG)
/* luaN_setused marks n bytes at p as in use; ends the process if some are in use already (H3) or
   are past the block. luaN_setunused marks n bytes as free and fills them with LUAN_DEADBYTE. */
LUAI_FUNC void luaN_setused (luaN_Blocks *h, void *p, size_t n);
LUAI_FUNC void luaN_setunused (luaN_Blocks *h, void *p, size_t n);
#define luaN_handedout(h,p,n)	(luaN_asanopen(p, n), luaN_setused(h, p, n))
#define luaN_takenback(h,p,n) \
  (luaN_setunused(h, p, n), luaN_asanclose(p, n))
#else
#define luaN_handedout(h,p,n)	luaN_asanopen(p, n)
#define luaN_takenback(h,p,n)	luaN_asanclose(p, n)
#endif

/* luaN_asking sets whether a function of the sampler is running. An API function calls
   luaN_mayenter with its name, usually by lua_lock (core.h): luaN_mayenter ends the process if a
   function of the sampler is running, unless the name is lua_getinfo or lua_getstack. */
#if defined(LUAN_DEBUG)
#define luaN_asking(h,on)	((void)((h)->asking = (on)))
LUAI_FUNC void luaN_mayenter (struct lua_State *L, const char *function);
#else
#define luaN_asking(h,on)	((void)0)
#define luaN_mayenter(L,f)	((void)0)
#endif

/* Checks the heap after a collection ('exact': of luaC_fullgc), possibly only after every N-th, and
   ends the process if an invariant does not hold. inspect/verify.c sets luaN_verifier when the
   process starts. */
#if defined(LUAN_DEBUG)
LUAI_DDEC(void (*luaN_verifier) (struct lua_State *L, int exact);)
#define luaN_mustverify(L,exact)	luaN_verifier(L, exact)
#else
#define luaN_mustverify(L,exact)	((void)0)
#endif

#endif
