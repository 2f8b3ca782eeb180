/* SPDX-License-Identifier: MIT */
/* The life of a thread apart from its scans: allocation, moves and shrinking of its stack, its
   end. */
#ifndef luaN_thread_h
#define luaN_thread_h

/*
** luaN_shrinkthread returns the part of the stack's block that is not in use and was not used
** since the last call ('all': that is not in use), and unused CallInfos. May allocate.
** luaN_shrinkcalls returns more CallInfos. Both return the cost in bytes and set *more to 1 if
** CallInfos are left to free.
**
** In the generational mode, the running and the main thread are shrunk every 64 minor collections
** and all others after every major one. In the incremental mode, and in full collections, all
** threads are shrunk.
*/
LUAI_FUNC size_t luaN_shrinkthread (lua_State *th, int all, int *more);
LUAI_FUNC size_t luaN_shrinkcalls (lua_State *th, int *more);

/* Shrinks the stack of the running or main thread th, and frees several slices of CallInfos at
   once. */
LUAI_FUNC void luaN_shrinkown (lua_State *th, int all);

/* Ends a dead thread: closes its upvalues that are alive and frees its large blocks. */
LUAI_FUNC void luaN_endthread (lua_State *L, lua_State *th);

#endif
