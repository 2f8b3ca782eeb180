/* SPDX-License-Identifier: MIT */
/* The major collection, in slices or in one pause. */
#ifndef luaN_major_h
#define luaN_major_h

/* Starts a major collection: takes a new epoch and marks the roots. Must follow a minor
   collection. */
LUAI_FUNC void luaN_beginmajor (lua_State *L);

/* Continues the running major collection by about 'bytes' of marking cost. Must follow a minor
   collection in the same pause. gcstate is GCSpause when the collection has ended. */
LUAI_FUNC void luaN_majorstep (lua_State *L, size_t bytes);

/* Runs a complete major collection in one pause; abandons one that is running. Calls no
   finalizer. */
LUAI_FUNC void luaN_full (lua_State *L);

/* Returns empty chunks, free pages and free memory of malloc, except a reserve for the next need.
   'all': keeps a smaller reserve, and no empty chunk in an emergency. */
LUAI_FUNC void luaN_trimheap (global_State *g, int all);

#endif
