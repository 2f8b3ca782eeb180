/* SPDX-License-Identifier: MIT */
/* The end of marking: ephemerons, dead objects with finalizers, clearing of weak tables. */
#pragma once

/* Ends the marking of a minor or full collection: resolves ephemerons, clears weak tables, queues
   dead objects with finalizers, and marks everything that is reachable from these objects. */
LUAI_FUNC void luaN_terminate (lua_State *L);

/*
** The atomic step: tries to end the marking of a major collection. To be called when slices have
** nothing left to mark. Returns 1 if the marking has ended. Returns 0 if slices must do more before
** the next attempt:
** - restore or clear tombstoned weak values (values in slots that look empty, hidden.h)
** - if many objects have finalizers, queue the dead ones
** - mark everything that is reachable from the queued objects
*/
LUAI_FUNC int luaN_terminateslice (lua_State *L);
