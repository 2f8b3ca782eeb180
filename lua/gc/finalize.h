/* SPDX-License-Identifier: MIT */
/*
** Objects with finalizers: their lists (G4), and the calls.
*/
#ifndef luaN_finalize_h
#define luaN_finalize_h

#include "lgc.h"
#include "lstate.h"

/* Moves the dead (all: everything) to 'tobefinalized', newest first. */
LUAI_FUNC void luaN_selectfinalizable (lua_State *L, int all);

/* The same in slices, behind luaN_beginselection, for about so many bytes of marking.
   Returns what a slice cost; gc.finalize.selection tells when it was the last one. */
LUAI_FUNC void luaN_beginselection (luaN_Gc *c);
LUAI_FUNC size_t luaN_selectslice (global_State *g, size_t bytes);

/* Gives a selection up, for a full collection or the end of the state: objects that were
   moved to 'tobefinalized' stay there, the others are looked at anew. */
LUAI_FUNC void luaN_endselection (luaN_Gc *c);

/* Marks at most n of those that wait for their finalizer, for a major collection.
   Returns how many of them were left. */
LUAI_FUNC size_t luaN_markfinalized (global_State *g, size_t n);

/*
** Calls the finalizers that are due: a batch of them, or all. Where L has no room
** for a simple function they wait for the next collection, but when the state is
** closing. Returns whether some are left for another batch. Runs Lua code.
*/
typedef enum { LUAN_BATCH, LUAN_ALL, LUAN_CLOSING } luaN_Calls;
LUAI_FUNC int luaN_callfinalizers (lua_State *L, luaN_Calls which);

/* Sets how many calls a batch makes at least, whatever the clock says. To be called at the
   end of every collection. */
LUAI_FUNC void luaN_setquota (global_State *g);

/* The lists of objects with finalizers give back what they do not need. */
LUAI_FUNC void luaN_shrinkfinalizers (global_State *g);

#endif
