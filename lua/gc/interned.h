/* SPDX-License-Identifier: MIT */
/*
** The string table in a collection (the core's part: gc.h).
*/
#ifndef luaN_interned_h
#define luaN_interned_h

LUAI_FUNC void luaN_clearcache (global_State *g);
LUAI_FUNC void luaN_sweepyoungstrings (global_State *g);

/* At most n buckets; returns 1 when no bucket is left. */
LUAI_FUNC int luaN_sweepstrings (global_State *g, int n);

/* Makes the table smaller when it is much too large, some buckets at a time. */
LUAI_FUNC void luaN_shrinkstrings (lua_State *L);

#endif
