/* SPDX-License-Identifier: MIT */
/* Objects with finalizers: their lists (G4 of gc.h), and the calls of the finalizers. */
#ifndef luaN_finalize_h
#define luaN_finalize_h

#include "lgc.h"
#include "lstate.h"

/* Moves the dead objects of 'finalizable' to 'tobefinalized', newest first; 'all': every object,
   dead or not. A minor collection moves only young ones. Does not allocate. */
LUAI_FUNC void luaN_selectfinalizable (lua_State *L, int all);

/*
** Select the dead objects in slices: luaN_beginselection prepares the selection, luaN_selectslice
** runs for about 'bytes' of marking cost and returns the cost. All dead objects are queued when
** finalize.selection is LUAN_RESURRECTING.
*/
LUAI_FUNC void luaN_beginselection (luaN_Gc *c);
LUAI_FUNC size_t luaN_selectslice (global_State *g, size_t bytes);

/* Ends a selection, if one runs, for a full collection or the end of the state. If all dead objects
   were found, queues those not queued yet; if not, removes the tags, so that the objects will be
   tested again. */
LUAI_FUNC void luaN_endselection (luaN_Gc *c);

/*
** Calls finalizers of objects pending finalization: LUAN_BATCH, a batch; LUAN_ALL, all;
** LUAN_CLOSING, all, for a state that is closing. If luaD_checkminstack fails for L, the finalizers
** are left to the next collection, except with LUAN_CLOSING. Returns 1 if a batch was ended by the
** clock before all were called. Runs Lua code; errors become warnings.
*/
typedef enum { LUAN_BATCH, LUAN_ALL, LUAN_CLOSING } luaN_Calls;
LUAI_FUNC int luaN_callfinalizers (lua_State *L, luaN_Calls which);

/* Sets the number of calls that a batch makes at least, whatever the time. To be called at the end
   of each step of the collector (collect.c), before its batch. */
LUAI_FUNC void luaN_setquota (global_State *g);

/* Returns unused memory of the lists of objects with finalizers. */
LUAI_FUNC void luaN_shrinkfinalizers (global_State *g);

#endif
