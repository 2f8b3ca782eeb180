/* SPDX-License-Identifier: MIT */
/*
** Finds Lua names for the C functions that occur in samples, for native.c, which uses them if the
** object file has no symbol. A name is
**   - "cjson.decode" for a field of a loaded module
**   - "print" for a global
**   - else "FILE*.read" for a field of a metatable made with luaL_newmetatable, or of its __index
**     table
** Of several names the shortest is taken, then the bytewise smallest, so that a function has the
** same name in every run.
**
** Reads tables without metamethods, and allocates nothing in the state. A search reads at most
** CNAMES_SLOTS slots. If the first search for a function finds no name, it is repeated after 2, 4,
** 8, ... samples of the function.
*/
#ifndef asamp_cnames_h
#define asamp_cnames_h

#include "lua.h"

/*
** Limits of the slots that a search reads: CNAMES_SLOTS in total, and CNAMES_TABLE of one table,
** because a larger table is hardly a module.
*/
#define CNAMES_SLOTS	16384u
#define CNAMES_TABLE	2048u

/*
** If 'function' has no name yet and a search is due (registered_iswanted), searches for its name
** and stores it (registered_set). L must run on the calling OS thread, in an allocation, in a C
** function or at a safepoint.
*/
void cnames_meet (lua_State *L, const void *function);

#endif
