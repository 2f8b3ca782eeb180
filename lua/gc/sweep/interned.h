/* SPDX-License-Identifier: MIT */
/* Functions of the collector for the string table. (gc.h declares those that the core calls.) */
#pragma once

/* Removes dead strings from the cache of luaS_new. */
LUAI_FUNC void luaN_clearcache (global_State *g);
/* Removes the dead young strings from the string table, in a minor collection. */
LUAI_FUNC void luaN_sweepyoungstrings (global_State *g);

/* Removes all dead strings from the string table, in a full collection. */
LUAI_FUNC void luaN_sweepallstrings (global_State *g);

/* Starts the sweep of the string table. To be called when everything alive is marked, before
   luaN_sweepstrings, which sweeps some buckets in each call. */
LUAI_FUNC void luaN_beginstrings (global_State *g);

/* Sweeps up to n buckets of the string table and returns the number of swept buckets. If that is
   below n, no dead string is left. */
LUAI_FUNC unsigned luaN_sweepstrings (global_State *g, unsigned n);

/* Shrinks the string table in steps if it has more than four buckets for each string: each call
   takes up to MERGES_A_MINOR buckets out of use. Does nothing while slices of a major collection
   sweep the table. May allocate; runs no collection. */
LUAI_FUNC void luaN_shrinkstrings (lua_State *L);
