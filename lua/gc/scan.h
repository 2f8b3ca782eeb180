/* SPDX-License-Identifier: MIT */
/*
** What collections see of a stack, its CallInfos and open upvalues (T1 to T4).
*/
#ifndef luaN_scan_h
#define luaN_scan_h

/* Marks what has changed of a stack since a collection saw it, or all of it. */
LUAI_FUNC size_t luaN_scanthread (global_State *g, lua_State *th, int all);

/* The same for an old thread that is too deep for a slice of a major collection: its
   first slice is to come; a slice of n CallInfos or slots. */
LUAI_FUNC void luaN_beginthread (global_State *g, lua_State *th);
LUAI_FUNC void luaN_threadslice (global_State *g, int n);

#endif
