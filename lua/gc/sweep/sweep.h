/* SPDX-License-Identifier: MIT */
/* Lists of objects that need work when they are dead: threads, tables that have had large vectors,
   large leaf objects, prototypes, owners of external bytes. The list of objects with finalizers is
   swept, too, but only to close its gaps: its dead objects were removed before. */
#ifndef luaN_sweep_h
#define luaN_sweep_h

#include "lgc.h"
#include "lstate.h"

/* Sweeps the young part of each list in a minor collection, all of each list in a full one. */
LUAI_FUNC void luaN_sweeplists (lua_State *L);

/*
** Sweep the lists in slices (G7). luaN_beginlists prepares the sweep; luaN_sweepslice sweeps for
** about 'bytes' of marking cost and returns the cost; luaN_listsdone returns 1 when all lists are
** swept.
*/
LUAI_FUNC void luaN_beginlists (global_State *g);
LUAI_FUNC size_t luaN_sweepslice (lua_State *L, size_t bytes);
LUAI_FUNC int luaN_listsdone (global_State *g);

/* Returns list number 'which'. Lists are swept in the order of their numbers. */
#define LUAN_LISTS	5
LUAI_FUNC luaN_List *luaN_listof (luaN_Gc *c, int which);

/* Frees all blocks of lua_Alloc that listed objects have, at the end of a state. */
LUAI_FUNC void luaN_freelists (lua_State *L);

#endif
