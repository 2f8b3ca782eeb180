/* SPDX-License-Identifier: MIT */
/*
** Switches of the debug build in the environment variable LUAN_STRESS, which is read when a state
** is created (luaN_Stress of state.h). A release build has no switches. They are separated by
** commas:
**
**   nursery=N   bytes of every nursery (1: a collection at every safepoint)
**   major       a major collection always runs, one slice at every minor one
**   slice=N     bytes of a major collection's slice after a minor collection
**   verify=N    the heap is verified after every N-th collection only
**   remember=N  the lists of the remembered set are refined at N objects or words
**   emergency=N an emergency collection before every N-th allocation, new finalizer
**               or test for an overdue collection, which are counted together; if
**               the last emergency collection has left k times 64 KiB of old
**               objects, before the N * (k + 1)-th after it
*/
#ifndef luaN_stress_h
#define luaN_stress_h

#if defined(LUAN_DEBUG)
/* Reads LUAN_STRESS for a new state. */
LUAI_FUNC void luaN_readstress (global_State *g);

/* Runs an emergency collection if LUAN_STRESS requests one now. To be called before each
   allocation, each new finalizer, and each test for an overdue collection, that may collect. */
LUAI_FUNC void luaN_stress (lua_State *L);
#else
#define luaN_readstress(g)	((void)0)
#define luaN_stress(L)		((void)0)
#endif

#endif
