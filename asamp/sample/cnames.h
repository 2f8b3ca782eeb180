/* SPDX-License-Identifier: MIT */
/*
** Finds the names of C functions of which samples have a frame, for those that no symbol names
** (registered.h): "cjson.decode" for a field of a loaded module, "print" for a global, else
** "FILE*.read" for a field of a metatable that a module made with luaL_newmetatable, or of the
** table in its field __index. Of several names the shortest counts, then the bytewise smallest,
** so that a function has the same name in every run.
**
** Reads tables without metamethods, and allocates nothing in the state. A search reads at most
** CNAMES_SLOTS slots; a function costs one search, or up to 32 if it is never found.
*/
#ifndef asamp_cnames_h
#define asamp_cnames_h

#include "lua.h"

/*
** Limits of the slots that a search reads: in total, and of one table, since a larger table is
** not a module.
*/
#define CNAMES_SLOTS	16384u
#define CNAMES_TABLE	2048u

/* Finds the name of C function 'function' if registered_iswanted. L runs on the calling OS thread,
   in an allocation, a C function, or at a safepoint. */
void cnames_meet (lua_State *L, const void *function);

#endif
