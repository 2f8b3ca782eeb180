/* SPDX-License-Identifier: MIT */
/*
** The life of a thread beside what collections see of it: its stack comes, moves,
** shrinks and goes.
*/
#ifndef luaN_thread_h
#define luaN_thread_h

/* Gives back most of the stack and of the CallInfos that are not in use, and (but
   for all) were not since the last time; may allocate. The running thread and the
   main one are asked every 64 minor collections, others behind every major one,
   as those two are in full cycles (the incremental mode) and full collections. Returns
   about how many bytes were moved or looked at; *more: there are CallInfos left to go. */
LUAI_FUNC size_t luaN_shrinkthread (lua_State *th, int all, int *more);
LUAI_FUNC size_t luaN_shrinkcalls (lua_State *th, int *more);

/* The same for a thread that is running: its CallInfos may go at once, up to some. */
LUAI_FUNC void luaN_shrinkown (lua_State *th, int all);

/* A dead thread: closes its upvalues and frees what lua_Alloc gave. */
LUAI_FUNC void luaN_endthread (lua_State *L, lua_State *th);

#endif
