/* SPDX-License-Identifier: MIT */
/* Objects with finalizers: their lists (G4 of gc.h), and the calls of the finalizers. */
#pragma once

#include "lgc.h"

/* Moves the dead objects from 'finalizable', the list of objects with finalizers, to the queue
   'tobefinalized', in reverse order of the list. In a minor collection, moves only young objects.
   If 'all' is 1, moves objects whether they are dead or not. Does not allocate. */
LUAI_FUNC void luaN_selectfinalizable (lua_State *L, int all);

/* Starts the search of a major collection, in slices, for dead objects with finalizers;
   luaN_selectslice queues them. Until all of them are queued, no finalizer is called and no queued
   object is marked. Reason: a queued object may refer to other dead objects with finalizers; these
   would be marked and never queued. */
LUAI_FUNC void luaN_beginselection (luaN_Gc *c);

/* Finds and queues dead objects with finalizers, up to a cost of about 'bytes' (unit: the time to
   mark one byte), and returns the cost. When all objects with finalizers were visited, sets
   finalize.selection to LUAN_RESURRECTING. */
LUAI_FUNC size_t luaN_selectslice (global_State *g, size_t bytes);

/* Calls finalizers of queued objects. 'which' determines how many:
     LUAN_BATCH    as many as fit into about a millisecond
     LUAN_ALL      the finalizers of all queued objects
     LUAN_CLOSING  the same as LUAN_ALL, when the state is closed
   Runs Lua code; an error in a finalizer becomes a warning. Returns 1 if a batch has ended before
   all finalizers were called, else 0. Calls none if L has no stack space (except LUAN_CLOSING), or
   while slices queue dead objects (LUAN_SELECTING). */
typedef enum { LUAN_BATCH, LUAN_ALL, LUAN_CLOSING } luaN_Calls;
LUAI_FUNC int luaN_callfinalizers (lua_State *L, luaN_Calls which);

/* Sets finalize.quota, the number of finalizers that the next batch calls even if its time is up.
   To be called at the end of each step of the collector, before the batch. */
LUAI_FUNC void luaN_setquota (global_State *g);

/* Frees unused memory of the lists 'finalizable' and 'tobefinalized', but keeps capacity in
   'tobefinalized' for all objects of 'finalizable', so that queueing cannot fail. */
LUAI_FUNC void luaN_shrinkfinalizers (global_State *g);
