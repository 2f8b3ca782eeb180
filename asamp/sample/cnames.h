/* SPDX-License-Identifier: MIT */
/*
** Finds names of the C functions of which samples have a frame; native.c uses these names where a
** symbol is missing: "cjson.decode" for a field of a loaded module, "print" for a global, else
** "FILE*.read" for a field of a metatable that a module made with luaL_newmetatable, or of the
** table in its field __index. Of several names the shortest counts, then the bytewise smallest,
** so that a function has the same name in every run.
**
** Reads tables without metamethods, and allocates nothing in the state. A search reads at most
** CNAMES_SLOTS slots; a function costs up to 32 searches, one if the first finds it.
*/
#ifndef asamp_cnames_h
#define asamp_cnames_h

#include "lua.h"

/*
** Limits of the slots that a search reads: in total, and of one table, since a larger table is
** hardly a module.
*/
#define CNAMES_SLOTS	16384u
#define CNAMES_TABLE	2048u

/* Searches for a name of 'function' and registers it, if registered_iswanted returns 1. L runs on
   the calling OS thread, in an allocation, a C function, or at a safepoint. */
void cnames_meet (lua_State *L, const void *function);

#endif
