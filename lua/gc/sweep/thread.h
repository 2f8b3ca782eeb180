/* SPDX-License-Identifier: MIT */
/* The life of a thread apart from its scans: its allocation, the moves and the shrinking of its
   stack, its end. */
#ifndef luaN_thread_h
#define luaN_thread_h

/*
** luaN_shrinkthread frees the unused part of the stack's block, and unused CallInfos; nothing if
** the stack was shortened in place since the last call (LUAN_LONG), unless 'all' is 1. May
** allocate. luaN_shrinkcalls frees more CallInfos. Both return the cost in bytes, and set *more to
** 1 if CallInfos are left to free, else to 0.
**
** In the generational mode, the running and the main thread are shrunk every SHRINK_MINORS minor
** collections (collect.c), all other threads after every major collection. In the incremental mode,
** all threads are shrunk after every major collection. A full collection shrinks all threads,
** except in an emergency.
*/
LUAI_FUNC size_t luaN_shrinkthread (lua_State *th, int all, int *more);
LUAI_FUNC size_t luaN_shrinkcalls (lua_State *th, int *more);

/* Shrinks the stack of the running or main thread th, and frees several slices of CallInfos at
   once. */
LUAI_FUNC void luaN_shrinkown (lua_State *th, int all);

/* Ends a dead thread: closes its open upvalues that are alive, and frees a large stack. */
LUAI_FUNC void luaN_endthread (lua_State *L, lua_State *th);

#endif
