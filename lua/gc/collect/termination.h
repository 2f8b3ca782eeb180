/* SPDX-License-Identifier: MIT */
/* The end of marking: ephemerons, dead objects with finalizers, clearing of weak tables. */
#ifndef luaN_termination_h
#define luaN_termination_h

/* Resolves and clears weak tables and queues the dead that have finalizers, in one pause. */
LUAI_FUNC void luaN_terminate (lua_State *L);

/*
** Runs the atomic step of a major collection in slices, when nothing is left to mark. Returns 0
** if it must be called again: slices have to clear tombstones (hidden.h), or there are too many
** objects with finalizers for one pause, so that slices select them and mark the objects that
** they refer to.
*/
LUAI_FUNC int luaN_terminateslice (lua_State *L);

#endif
