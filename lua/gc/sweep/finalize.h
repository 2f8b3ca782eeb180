/* SPDX-License-Identifier: MIT */
/* Objects with finalizers: their lists (G4 of gc.h), and the calls. */
#pragma once

#include "lgc.h"

/* Moves the dead objects from 'finalizable', the list of objects with finalizers, to the queue
   'tobefinalized', the newest first; in a minor collection only young ones. If 'all' is 1, moves
   every object, dead or not. Does not allocate. */
LUAI_FUNC void luaN_selectfinalizable (lua_State *L, int all);

/* Starts to find and queue the dead objects with finalizers in slices of a major collection. Until
   all of them are queued, no finalizer is called and no queued object is marked. Reason: a queued
   object may refer to other dead objects with finalizers; these would be marked and never
   queued. */
LUAI_FUNC void luaN_beginselection (luaN_Gc *c);

/* Finds and queues dead objects with finalizers, for about as long as the marking of 'bytes' bytes
   takes. Returns the cost: the number of bytes whose marking takes as long. When no object is left,
   sets finalize.selection to LUAN_RESURRECTING. */
LUAI_FUNC size_t luaN_selectslice (global_State *g, size_t bytes);

/* Calls finalizers of queued objects, as the argument says:
     LUAN_BATCH    as many as fit into about a millisecond
     LUAN_ALL      the finalizers of all queued objects
     LUAN_CLOSING  the same, when the state is closed
   Runs Lua code; errors become warnings. Returns 1 if a batch has ended before all finalizers were
   called. Calls none if L has no stack space (except LUAN_CLOSING), or while slices queue dead
   objects (LUAN_SELECTING). */
typedef enum { LUAN_BATCH, LUAN_ALL, LUAN_CLOSING } luaN_Calls;
LUAI_FUNC int luaN_callfinalizers (lua_State *L, luaN_Calls which);

/* Sets finalize.quota, the least number of finalizer calls of a batch. To be called at the end of
   each step of the collector, before its batch. */
LUAI_FUNC void luaN_setquota (global_State *g);

/* Frees unused memory of the lists 'finalizable' and 'tobefinalized'. */
LUAI_FUNC void luaN_shrinkfinalizers (global_State *g);
