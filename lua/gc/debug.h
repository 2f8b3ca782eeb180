/* SPDX-License-Identifier: MIT */
/*
** What the debug and sanitizer builds add:
**
**   LUAN_DEBUG  a bitmap of the granules handed out catches memory that is
**               handed out twice (H3); lines that become free are filled with
**               LUAN_DEADBYTE; the heap is verified after every collection;
**               a sampler that calls the Lua API ends the process; what
**               LUAN_STRESS asks for (pace.c).
**   ASan        lines that are not handed out are poisoned.
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

struct luaN_Heap;

/* n bytes at p are handed out; n bytes (whole lines) at p are free again. */
#if defined(LUAN_DEBUG)
LUAI_FUNC void luaN_setused (struct luaN_Heap *h, void *p, size_t n);
LUAI_FUNC void luaN_setunused (struct luaN_Heap *h, void *p, size_t n);
#define luaN_handedout(h,p,n)	(luaN_asanopen(p, n), luaN_setused(h, p, n))
#define luaN_takenback(h,p,n) \
  (luaN_setunused(h, p, n), luaN_asanclose(p, n))
#else
#define luaN_handedout(h,p,n)	luaN_asanopen(p, n)
#define luaN_takenback(h,p,n)	luaN_asanclose(p, n)
#endif

/*
** Checks the invariants of heap.h, nursery.h and gc.h by a walk over the whole
** heap. Returns NULL, or a line that names the invariant that does not hold;
** the line is in static memory. 'exact': a full collection has just ended, so
** the bytes counted for old objects must be those that can be reached.
*/
struct lua_State;
LUAI_FUNC const char *luaN_verify (struct lua_State *L, int exact);

/* Ends the process with that line when an invariant does not hold. */
#if defined(LUAN_DEBUG)
LUAI_FUNC void luaN_mustverify (struct lua_State *L, int exact);
#else
#define luaN_mustverify(L,exact)	((void)0)
#endif

/*
** An allocation that may collect is about to be made: a full collection comes in
** its place where LUAN_STRESS says so (pace.c). 'isstressed': it is asked for;
** 'slicestress': bytes of a slice that were asked for, or 0.
*/
#if defined(LUAN_DEBUG)
LUAI_FUNC void luaN_stress (struct lua_State *L);
#define luaN_isstressed(g)	((g)->heap.gc.stressemergency != 0)
#define luaN_slicestress(c)	((c)->stressslice)
#else
#define luaN_stress(L)		((void)0)
#define luaN_isstressed(g)	0
#define luaN_slicestress(c)	((size_t)0)
#endif

/*
** A function of the sampler runs, or has ended: until then nobody may enter the
** API (seam.h). 'mayenter' ends the process when somebody does.
*/
#if defined(LUAN_DEBUG)
#define luaN_asking(h,on)	((void)((h)->asking = (on)))
LUAI_FUNC void luaN_mayenter (struct lua_State *L, const char *function);
#else
#define luaN_asking(h,on)	((void)0)
#define luaN_mayenter(L,f)	((void)0)
#endif

#endif
