/* SPDX-License-Identifier: MIT */
/*
** The end of marking: ephemerons, the dead with finalizers, what is cleared.
*/
#ifndef luaN_termination_h
#define luaN_termination_h

/* Resolves and clears weak tables, and selects the dead that have finalizers. */
LUAI_FUNC void luaN_terminate (lua_State *L);

/* The same for a major collection in slices, when there is nothing left to mark. 0: this is called
   once more. Values of weak tables are hidden (hidden.h): slices clear those of the dead; or there
   are too many objects with finalizers for one pause: slices select them, and mark what they
   refer to. */
LUAI_FUNC int luaN_terminateslice (lua_State *L);

#endif
