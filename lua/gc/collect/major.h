/* SPDX-License-Identifier: MIT */
/* The major collection, in slices or in one pause. */
#pragma once

/* Starts a major collection: chooses the next epoch and marks the roots. No object may be young:
   luaN_minor, then luaN_aged with 'start' 1, must have run directly before. */
LUAI_FUNC void luaN_beginmajor (lua_State *L);

/* If a major collection runs, runs slices of it, which together take about as long as the marking
   of 'bytes' bytes. Sets gcstate to GCSpause if the major collection ends. To be called after a
   minor collection in the same pause. */
LUAI_FUNC void luaN_majorstep (lua_State *L, size_t bytes);

/* Runs a complete major collection in one pause. If a major collection is running in slices,
   abandons it. Calls no finalizer. */
LUAI_FUNC void luaN_full (lua_State *L);

/*
** Returns free memory to lua_Alloc or the system: empty chunks, free pages, free memory of malloc.
** If 'all' is 0, returns a bounded number of chunks and pages, and keeps a large reserve. If 'all'
** is 1, returns all free memory above a smaller reserve.
*/
LUAI_FUNC void luaN_trimheap (global_State *g, int all);
