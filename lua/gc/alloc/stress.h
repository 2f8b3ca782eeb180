/* SPDX-License-Identifier: MIT */
/*
** Settings of the debug build for tests, in the environment variable LUAN_STRESS, separated by
** commas. A new state reads the variable.
**
**   nursery=N    bytes of every nursery (1: a collection at every safepoint)
**   major        a major collection always runs, one slice after each minor collection
**   slice=N      bytes of marking in each slice of a major collection
**   verify=N     the heap is verified only after every N-th collection
**   remember=N   a list of the remembered set is shortened by refine.c, before the next minor
**                collection, when its length is N (remset.many)
**   emergency=N  an emergency collection runs before every N-th event: a slow allocation, a new
**                thread, a new finalizer, a test for an overdue collection. The interval grows with
**                the heap.
*/
#pragma once

#if defined(LUAN_DEBUG)
/* Reads LUAN_STRESS for a new state. */
LUAI_FUNC void luaN_readstress (global_State *g);

/* If LUAN_STRESS has emergency=N, runs an emergency collection in every N-th call, less often in a
   large heap. To be called at events that run an emergency collection if memory is short: a slow
   allocation, a new thread, a new finalizer, a test for an overdue collection. */
LUAI_FUNC void luaN_stress (lua_State *L);
#else
#define luaN_readstress(g)	((void)0)
#define luaN_stress(L)		((void)0)
#endif
