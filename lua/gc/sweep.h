/* SPDX-License-Identifier: MIT */
/*
** Lists of objects that need more than being forgotten when they are dead: threads,
** tables with large vectors, objects from lua_Alloc, standins; and objects with
** finalizers, whose list loses its gaps.
*/
#ifndef luaN_sweep_h
#define luaN_sweep_h

#include "lgc.h"
#include "lstate.h"

/* The young part of each in a minor collection, else all. */
LUAI_FUNC void luaN_sweeplists (lua_State *L);

/* The same in slices (G7): the first comes, a slice of about so many bytes of marking
   is made (returns what it cost), the last one has ended. */
LUAI_FUNC void luaN_beginlists (global_State *g);
LUAI_FUNC size_t luaN_sweepslice (lua_State *L, size_t bytes);
LUAI_FUNC int luaN_listsdone (global_State *g);

/* One of these lists, in the order in which they are swept. */
#define LUAN_LISTS	5
LUAI_FUNC luaN_List *luaN_listof (luaN_Gc *c, int which);

/* The end of a state: gives back what lua_Alloc gave one by one. */
LUAI_FUNC void luaN_freelists (lua_State *L);

#endif
