/* SPDX-License-Identifier: MIT */
/* The end of marking: ephemerons, dead objects with finalizers, clearing of weak tables. */
#ifndef luaN_termination_h
#define luaN_termination_h

/* Ends the marking of a minor or full collection: resolves ephemerons, clears weak tables, queues
   the dead objects with finalizers and keeps everything that these refer to. */
LUAI_FUNC void luaN_terminate (lua_State *L);

/*
** Runs an atomic step of a major collection that runs in slices. To be called when slices have
** nothing left to mark. Returns 1 if the step ends the marking. Returns 0 if slices have more to do
** before another call:
**   - restore or clear the tombstoned slots of weak tables, which look empty (hidden.h)
**   - find and queue the dead among many objects with finalizers
**   - mark the many objects that the queued ones refer to
*/
LUAI_FUNC int luaN_terminateslice (lua_State *L);

#endif
