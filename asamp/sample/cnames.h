/* SPDX-License-Identifier: MIT */
/*
** Finds Lua names of C functions that have no symbol in their object file: "cjson.decode" for a
** field of a loaded module, "print" for a global, or "FILE*.read" for a method of a metatable made
** with luaL_newmetatable. The shortest name is taken; among several names of this length, the
** bytewise smallest.
**
** Reads tables without metamethods, and allocates nothing in the Lua state. If the search at a
** function's first sample finds nothing, the search is repeated at its 2nd, 4th, 8th, ... sample.
*/
#ifndef asamp_cnames_h
#define asamp_cnames_h

#include "lua.h"

/* Limits of a search for one name: largest number of table slots read in total (CNAMES_SLOTS), and
   in one table (CNAMES_TABLE). A table with more slots is hardly a module. */
#define CNAMES_SLOTS	16384u
#define CNAMES_TABLE	2048u

/* Call it at each sample whose stack has the C function 'function', on the OS thread that runs L.
   If registered_iswanted returns 1, searches for the function's name and stores it with
   registered_set. */
void cnames_meet (lua_State *L, const void *function);

#endif
