/* SPDX-License-Identifier: MIT */
/*
** Switches of the debug build in the environment variable LUAN_STRESS, separated by commas. The
** variable is read when a state is created (luaN_Stress of state.h). A release build ignores it.
**
**   nursery=N   bytes of every nursery (1: a collection at every safepoint)
**   major       a major collection always runs, one slice after every minor collection
**   slice=N     bytes of marking of each slice of a major collection
**   verify=N    the heap is verified only after every N-th collection
**   remember=N  the lists of the remembered set are refined at N objects or words
**   emergency=N an emergency collection runs before every N-th event: a slow allocation,
**               a new finalizer, or a test for an overdue collection. The interval
**               grows by N events for each 64 KiB of old objects that the last
**               emergency collection has left.
*/
#ifndef luaN_stress_h
#define luaN_stress_h

#if defined(LUAN_DEBUG)
/* Reads LUAN_STRESS for a new state. */
LUAI_FUNC void luaN_readstress (global_State *g);

/* Runs an emergency collection at every N-th call, for the switch emergency=N. To be called,
   where a collection may run, for slow allocations (with the switch, all allocations are slow),
   new finalizers and tests for an overdue collection. */
LUAI_FUNC void luaN_stress (lua_State *L);
#else
#define luaN_readstress(g)	((void)0)
#define luaN_stress(L)		((void)0)
#endif

#endif
