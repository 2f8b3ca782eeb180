/* SPDX-License-Identifier: MIT */
/* Objects with finalizers: their lists (G4 of gc.h), and the calls of the finalizers. */
#ifndef luaN_finalize_h
#define luaN_finalize_h

#include "lgc.h"
#include "lstate.h"

/* Queues the dead objects with finalizers: moves them from the list 'finalizable' to the queue
   'tobefinalized', the newest first. A minor collection moves only young ones. If 'all' is 1,
   moves every object of 'finalizable', dead or not. Does not allocate. */
LUAI_FUNC void luaN_selectfinalizable (lua_State *L, int all);

/* Find the dead objects with finalizers and queue them, in slices of a major collection (a
   selection). luaN_beginselection prepares that. luaN_selectslice runs for about 'bytes' of
   marking cost and returns the cost. All dead objects are queued when finalize.selection is
   LUAN_RESURRECTING. */
LUAI_FUNC void luaN_beginselection (luaN_Gc *c);
LUAI_FUNC size_t luaN_selectslice (global_State *g, size_t bytes);

/* Ends the slices that find and queue dead objects with finalizers (a selection), because a full
   collection starts or the state ends. If all dead objects were found, queues those that are not
   queued yet. Otherwise removes the tags of those that were found; the full collection tests
   them again. */
LUAI_FUNC void luaN_endselection (luaN_Gc *c);

/* Calls finalizers of queued objects: as many as take about a millisecond (a batch, LUAN_BATCH),
   all (LUAN_ALL), or all of a closing state (LUAN_CLOSING). Runs Lua code; errors become
   warnings. Returns 1 if the clock has ended a batch before all were called, else 0. Calls none
   if the stack of L has no space for a call (luaD_checkminstack), except with LUAN_CLOSING. */
typedef enum { LUAN_BATCH, LUAN_ALL, LUAN_CLOSING } luaN_Calls;
LUAI_FUNC int luaN_callfinalizers (lua_State *L, luaN_Calls which);

/* Sets finalize.quota: the number of finalizer calls that a batch makes even if they take long.
   To be called at the end of each step of the collector (collect.c), before the batch of the
   step. */
LUAI_FUNC void luaN_setquota (global_State *g);

/* Frees unused memory of the lists 'finalizable' and 'tobefinalized'. */
LUAI_FUNC void luaN_shrinkfinalizers (global_State *g);

#endif
