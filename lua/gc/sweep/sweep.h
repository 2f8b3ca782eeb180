/* SPDX-License-Identifier: MIT */
/* Sweeps the lists of objects for which something must be done when they are dead: threads, tables
   that have had large vectors, large leaf objects, prototypes, owners of external bytes. The list
   of objects with finalizers is swept only to remove its empty entries, because its dead objects
   were queued for their finalizers before. */
#ifndef luaN_sweep_h
#define luaN_sweep_h

#include "lgc.h"
#include "lstate.h"

/* Sweeps all lists at once: in a minor collection the young part of each, in a full collection all
   of each. */
LUAI_FUNC void luaN_sweeplists (lua_State *L);

/* Sweep the lists in slices of a major collection. luaN_beginlists prepares that.
   luaN_sweepslice sweeps for about 'bytes' of marking cost and returns the cost. All lists are
   swept when sweep.list is LUAN_LISTS. Between two slices, the entries of the current list from
   index sweep.kept to sweep.next - 1 are NULL (G7). */
LUAI_FUNC void luaN_beginlists (global_State *g);
LUAI_FUNC size_t luaN_sweepslice (lua_State *L, size_t bytes);

/* number of lists of objects that a major collection sweeps */
#define LUAN_LISTS	5
/* Returns the list with number 'which', from 0 to LUAN_LISTS - 1. Lists are swept in the order of
   their numbers. */
LUAI_FUNC luaN_List *luaN_listof (luaN_Gc *c, int which);

/* Frees all blocks of lua_Alloc that the objects of the lists own. To be called when a state
   ends. */
LUAI_FUNC void luaN_freelists (lua_State *L);

#endif
