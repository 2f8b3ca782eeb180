/* SPDX-License-Identifier: MIT */
/*
** What LUAN_STRESS asks of the debug build, read from the environment when a state is
** made (state.h has what it sets). In a release build all of this is empty. Words with
** commas between them:
**   nursery=N   bytes of every nursery (1: a collection at every safe point)
**   major       a major collection always runs, a slice at every minor one
**   slice=N     bytes of a major collection's work behind a minor one
**   verify=N    the heap is verified after every N-th collection only
**   remember=N  the lists of what is remembered are long with N words
**   emergency=N a full collection, as in an emergency, before every N-th
**               allocation and every N-th place that asks whether one is overdue;
**               beside k times 64 KiB of old objects before one in N * (k + 1)
*/
#ifndef luaN_stress_h
#define luaN_stress_h

#if defined(LUAN_DEBUG)
LUAI_FUNC void luaN_readstress (global_State *g);

/* An allocation that may collect is about to be made: a full collection comes in its
   place where LUAN_STRESS says so. */
LUAI_FUNC void luaN_stress (lua_State *L);
#else
#define luaN_readstress(g)	((void)0)
#define luaN_stress(L)		((void)0)
#endif

#endif
