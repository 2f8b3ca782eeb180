/* SPDX-License-Identifier: MIT */
/*
** Finds Lua names of C functions that have no symbol in their object file: "cjson.decode" for a
** field of a loaded module, "print" for a global, or "FILE*.read" for a method of a metatable made
** with luaL_newmetatable. The shortest name is taken; of equally short ones, the bytewise
** smallest.
**
** Reads tables without metamethods, and allocates nothing in the Lua state. If a search finds
** nothing, further searches are made at the function's 2nd, 4th, 8th, ... sample.
*/
#ifndef asamp_cnames_h
#define asamp_cnames_h

#include "lua.h"

/* Limits of a search: number of table slots read in total, and in one table. A larger table is
   hardly a module. */
#define CNAMES_SLOTS	16384u
#define CNAMES_TABLE	2048u

/* Call it at each sample whose stack has the C function 'function', on the OS thread that runs L.
   If the function has no name and a search is due, searches for a name and stores it with
   registered_set. */
void cnames_meet (lua_State *L, const void *function);

#endif
