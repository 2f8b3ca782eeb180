/* SPDX-License-Identifier: MIT */
/*
** The life of a thread beside what collections see of it: its stack comes, moves,
** shrinks and goes.
*/
#ifndef luaN_thread_h
#define luaN_thread_h

/* Gives back most of a stack that is not in use, and was not since the last time (unless
   'all'), and of the CallInfos; may allocate. In the generational mode the running thread
   and the main one have their turn every 64 minor collections, all others after every
   major one; in the incremental mode, and in full collections, all of them do. Returns
   about how many bytes were moved or looked at; '*more': there are CallInfos left to free. */
LUAI_FUNC size_t luaN_shrinkthread (lua_State *th, int all, int *more);
LUAI_FUNC size_t luaN_shrinkcalls (lua_State *th, int *more);

/* The same for a running thread, some of whose CallInfos go at once. */
LUAI_FUNC void luaN_shrinkown (lua_State *th, int all);

/* A dead thread: closes its upvalues and frees what lua_Alloc gave. */
LUAI_FUNC void luaN_endthread (lua_State *L, lua_State *th);

#endif
