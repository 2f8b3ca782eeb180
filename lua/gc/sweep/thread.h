/* SPDX-License-Identifier: MIT */
/* Threads: their allocation, moves and shrinking of their stacks, and their end. The collector
   scans stacks in scan.c. */
#ifndef luaN_thread_h
#define luaN_thread_h

/*
** luaN_shrinkthread frees unused memory of th:
**   - shortens a stack of which little is in use
**   - if the stack's block has a large enough unused part (isroomy), moves the stack to a
**     smaller block
**   - frees half of the next LUAN_ATONCE unused CallInfos or, if 'all' is 1, nearly all of them
**
** If 'all' is 0 and the stack was shortened in place since the last call (LUAN_LONG), only
** clears LUAN_LONG. May allocate.
**
** luaN_shrinkcalls frees more CallInfos. Both functions return the cost in bytes, and set *more
** to 1 if CallInfos may be left to free, else to 0.
**
** Times of these calls:
**   - In the generational mode, the running and the main thread are shrunk every SHRINK_MINORS
**     minor collections (collect.c), all others after every major collection.
**   - In the incremental mode, all threads are shrunk after every major collection.
**   - A full collection shrinks all threads, except in an emergency.
**
** Threads with a short stack and few CallInfos are not shrunk, unless they are the running or
** the main thread.
*/
LUAI_FUNC size_t luaN_shrinkthread (lua_State *th, int all, int *more);
LUAI_FUNC size_t luaN_shrinkcalls (lua_State *th, int *more);

/* Frees unused memory of the running thread L and of the main thread, as luaN_shrinkthread does.
   Frees half of the CallInfos in up to MAX_OWN_SLICES slices of the unused ones of each thread;
   if 'all' is 1, nearly all unused CallInfos. */
LUAI_FUNC void luaN_shrinkown (lua_State *L, int all);

/* Ends the dead thread th: closes those of its open upvalues that are alive, and frees its stack
   if the stack has more than LUAN_LARGE bytes. A smaller stack is in lines, which the sweep
   frees. */
LUAI_FUNC void luaN_endthread (lua_State *L, lua_State *th);

#endif
