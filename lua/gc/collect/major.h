/* SPDX-License-Identifier: MIT */
/* The major collection, in slices or in one pause. */
#ifndef luaN_major_h
#define luaN_major_h

/* Starts a major collection: takes a new epoch and marks the roots. To be called directly after
   luaN_minor and luaN_aged with 'start' 1, which leave no object young. */
LUAI_FUNC void luaN_beginmajor (lua_State *L);

/* If a major collection runs, continues it by slices of about 'bytes' of marking cost in total. To
   be called after a minor collection in the same pause. Sets gcstate to GCSpause when the major
   collection ends. */
LUAI_FUNC void luaN_majorstep (lua_State *L, size_t bytes);

/* Runs a complete major collection in one pause; abandons one that is running. Calls no
   finalizer. */
LUAI_FUNC void luaN_full (lua_State *L);

/* Returns free memory to lua_Alloc or to the system: empty chunks, free pages, and free memory of
   malloc. If 'all' is 0, returns only a part at each call, and keeps a reserve, because the heap
   may grow again. If 'all' is 1, returns everything above a smaller reserve; in an emergency, all
   empty chunks, but it does not call malloc_trim. */
LUAI_FUNC void luaN_trimheap (global_State *g, int all);

#endif
