/* SPDX-License-Identifier: MIT */
/*
** What the debug and sanitizer builds add to every allocation and free:
**
**   LUAN_DEBUG  a bitmap of the granules in use catches memory that is handed
**               out twice, freed twice or freed with a wrong size (H3); freed
**               memory is filled with LUAN_DEADBYTE; every collection verifies
**               the heap.
**   ASan        memory of a block that is not handed out is poisoned.
**
** In a release build all hooks are empty.
*/
#ifndef luaN_debug_h
#define luaN_debug_h

#define LUAN_DEADBYTE	0x5D

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define luaN_asanopen(p,n)	ASAN_UNPOISON_MEMORY_REGION(p, n)
#define luaN_asanclose(p,n)	ASAN_POISON_MEMORY_REGION(p, n)
#else
#define luaN_asanopen(p,n)	((void)0)
#define luaN_asanclose(p,n)	((void)0)
#endif

#if defined(LUAN_DEBUG)
LUAI_FUNC void luaN_setused (void *p, size_t n);
LUAI_FUNC void luaN_setunused (void *p, size_t n);
#define luaN_handedout(p,n)	(luaN_asanopen(p, n), luaN_setused(p, n))
#define luaN_takenback(p,n)	(luaN_setunused(p, n), luaN_asanclose(p, n))
#else
#define luaN_handedout(p,n)	luaN_asanopen(p, n)
#define luaN_takenback(p,n)	luaN_asanclose(p, n)
#endif

/*
** Checks the invariants that can be seen from outside at any time (H1 sums,
** H4, H5, N1, N2, S1). Returns NULL, or a line that names the invariant that
** does not hold; the line is in static memory.
*/
struct lua_State;
LUAI_FUNC const char *luaN_verify (struct lua_State *L);

/* Ends the process with that line when an invariant does not hold. */
#if defined(LUAN_DEBUG)
LUAI_FUNC void luaN_mustverify (struct lua_State *L);
#else
#define luaN_mustverify(L)	((void)0)
#endif

#endif
