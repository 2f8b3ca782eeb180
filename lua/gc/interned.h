/* SPDX-License-Identifier: MIT */
/*
** The string table in a collection (the core's part: gc.h).
*/
#ifndef luaN_interned_h
#define luaN_interned_h

LUAI_FUNC void luaN_clearcache (global_State *g);
LUAI_FUNC void luaN_sweepyoungstrings (global_State *g);

/* In a full collection: all that are dead. */
LUAI_FUNC void luaN_sweepallstrings (global_State *g);

/* A major collection has marked all that is alive, and nothing is young: the table is swept. At
   most n buckets; returns how many: less than n, when nothing dead is left. */
LUAI_FUNC void luaN_beginstrings (global_State *g);
LUAI_FUNC unsigned luaN_sweepstrings (global_State *g, unsigned n);

/* Makes the table smaller when it is much too large, some buckets at a time. */
LUAI_FUNC void luaN_shrinkstrings (lua_State *L);

#endif
