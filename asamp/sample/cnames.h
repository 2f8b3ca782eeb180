/* SPDX-License-Identifier: MIT */
/*
** Finds Lua names of C functions, for functions that have no symbol in their object file:
** "cjson.decode" for a field of a loaded module, "print" for a global, or "FILE*.read" for a
** method of a metatable made with luaL_newmetatable. Of several names the shortest is taken, then
** the bytewise smallest.
**
** Reads tables without metamethods, and allocates nothing in the state. A search that finds
** nothing is repeated after 2, 4, 8, ... samples of the function.
*/
#ifndef asamp_cnames_h
#define asamp_cnames_h

#include "lua.h"

/* Limits of a search in table slots: in total, and for one table (a larger table is hardly a
   module). */
#define CNAMES_SLOTS	16384u
#define CNAMES_TABLE	2048u

/* Searches for the name of 'function' if it has none and a search is due, and stores it with
   registered_set. L must run on the calling OS thread. */
void cnames_meet (lua_State *L, const void *function);

#endif
