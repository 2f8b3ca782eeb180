/* SPDX-License-Identifier: MIT */
/* The end of marking: ephemerons, dead objects with finalizers, clearing of weak tables. */
#ifndef luaN_termination_h
#define luaN_termination_h

/* Ends the marking of a minor or full collection: resolves ephemerons, clears weak tables,
   queues the dead objects with finalizers, and marks everything that the queued objects refer
   to. */
LUAI_FUNC void luaN_terminate (lua_State *L);

/*
** Tries to end the marking of a major collection that runs in slices (atomic step). To be called
** when slices have nothing left to mark. Returns 1 if the marking has ended. Returns 0 if slices
** have more to do before another call:
**   - restore or clear the tombstoned slots of weak tables, which look empty (hidden.h)
**   - find and queue the dead among many objects with finalizers
**   - mark the many objects that the queued ones refer to
*/
LUAI_FUNC int luaN_terminateslice (lua_State *L);

#endif
