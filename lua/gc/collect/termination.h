/* SPDX-License-Identifier: MIT */
/* The end of marking: ephemerons, dead objects with finalizers, clearing of weak tables. */
#ifndef luaN_termination_h
#define luaN_termination_h

/* Resolves ephemerons, clears weak tables, queues the dead that have finalizers, in one pause. */
LUAI_FUNC void luaN_terminate (lua_State *L);

/*
** Runs the atomic step of a major collection that runs in slices, when nothing is left to mark.
** Returns 0 if it must be called again: slices have to clear tombstones (hidden.h), or there are
** too many objects with finalizers for one pause, so that slices select the dead ones and mark the
** objects that these refer to.
*/
LUAI_FUNC int luaN_terminateslice (lua_State *L);

#endif
