/* SPDX-License-Identifier: MIT */
/* The work of a collection on the string table. gc.h declares the functions of interned.c that the
   core calls. */
#ifndef luaN_interned_h
#define luaN_interned_h

/* Removes the strings that the collection has found dead from the cache of luaS_new. */
LUAI_FUNC void luaN_clearcache (global_State *g);
/* Removes the dead young strings from the string table, in a minor collection. */
LUAI_FUNC void luaN_sweepyoungstrings (global_State *g);

/* Removes all dead strings from the string table, in a full collection. */
LUAI_FUNC void luaN_sweepallstrings (global_State *g);

/* Sweep the string table in slices. luaN_beginstrings starts the sweep, after a major collection
   has marked everything. luaN_sweepstrings sweeps up to n buckets and returns the number of
   buckets swept. If the result is less than n, no dead string is left. */
LUAI_FUNC void luaN_beginstrings (global_State *g);
LUAI_FUNC unsigned luaN_sweepstrings (global_State *g, unsigned n);

/* Makes the string table smaller in steps, if it has more than four buckets for each string.
   Each call merges up to MERGES_A_MINOR buckets with others, and so takes them out of use. Does
   nothing while slices sweep the table. May allocate; does not collect. */
LUAI_FUNC void luaN_shrinkstrings (lua_State *L);

#endif
