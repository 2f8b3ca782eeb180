/* SPDX-License-Identifier: MIT */
/*
** The end of marking: ephemerons, the dead with finalizers, what is cleared.
*/
#ifndef luaN_termination_h
#define luaN_termination_h

/* Marks and clears weak tables, separates the dead that have finalizers. */
LUAI_FUNC void luaN_terminate (lua_State *L);

/* The same for a major collection in slices, when a slice has left nothing to mark. 0:
   there are too many of these objects, or of what they refer to, for one pause; it is
   to be called again when they are separated, and all is marked once more. */
LUAI_FUNC int luaN_terminateslice (lua_State *L);

#endif
