/* SPDX-License-Identifier: MIT */
/* The major collection, in slices or in one pause. */
#ifndef luaN_major_h
#define luaN_major_h

/* Starts a major collection: chooses the epoch that marked objects will have from now on, and
   marks the roots. No object may be young. So luaN_minor, and then luaN_aged with 'start' 1,
   must have run directly before. */
LUAI_FUNC void luaN_beginmajor (lua_State *L);

/* Continues the running major collection by slices of about 'bytes' of marking cost in total.
   Does nothing if none runs. Sets gcstate to GCSpause when the major collection ends. To be
   called after a minor collection in the same pause. */
LUAI_FUNC void luaN_majorstep (lua_State *L, size_t bytes);

/* Runs a complete major collection in one pause. If one is running in slices, abandons that one
   first. Calls no finalizer. */
LUAI_FUNC void luaN_full (lua_State *L);

/*
** Returns free memory to lua_Alloc or to the system: empty chunks, free pages, and free memory
** of malloc.
**   - If 'all' is 0, returns only a part at each call, and keeps a reserve, because the heap may
**     grow again.
**   - If 'all' is 1, returns everything above a smaller reserve.
**   - In an emergency with 'all' 1, returns all empty chunks, but does not call malloc_trim.
*/
LUAI_FUNC void luaN_trimheap (global_State *g, int all);

#endif
