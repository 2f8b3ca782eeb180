/* SPDX-License-Identifier: MIT */
/* The major collection, in slices or in one pause. */
#ifndef luaN_major_h
#define luaN_major_h

/* Starts a major collection: takes a new epoch and marks the roots. Must follow luaN_minor and
   luaN_aged with 'start' 1, after which nothing is young. */
LUAI_FUNC void luaN_beginmajor (lua_State *L);

/* Continues the running major collection, if there is one, by about 'bytes' of marking cost. Must
   follow a minor collection in the same pause. gcstate is GCSpause when the collection is over. */
LUAI_FUNC void luaN_majorstep (lua_State *L, size_t bytes);

/* Runs a complete major collection in one pause; abandons one that is running. Calls no
   finalizer. */
LUAI_FUNC void luaN_full (lua_State *L);

/* Returns empty chunks, free pages and free memory of malloc, some at a time, except a reserve for
   the next need. 'all': at once, except a smaller reserve; in an emergency keeps no empty chunk and
   does not call malloc_trim. */
LUAI_FUNC void luaN_trimheap (global_State *g, int all);

#endif
