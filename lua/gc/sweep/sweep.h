/* SPDX-License-Identifier: MIT */
/* Sweeps the lists of objects that need work when they are dead: threads, tables that have had a
   large array or hash part, long strings, large userdata, prototypes, owners of external bytes.
   Also removes the NULL entries from the list of objects with finalizers, which has no dead objects
   at that time, because they were moved to a queue. */
#pragma once

#include "lgc.h"

/* Sweeps all lists at once: in a minor collection the young part of each list, in a full collection
   all of it. */
LUAI_FUNC void luaN_sweeplists (lua_State *L);

/* Continues the sweep of the lists in a major collection, up to a cost of about 'bytes' (unit: the
   time to mark one byte), and returns the cost. The caller must set sweep.list, sweep.kept and
   sweep.next to 0 before the first call. When all lists are swept, sweep.list is LUAN_LISTS.
   Between two calls, entries that were swept may be NULL (G7). */
LUAI_FUNC size_t luaN_sweepslice (lua_State *L, size_t bytes);

/* number of lists that a major collection sweeps */
#define LUAN_LISTS	5
/* Returns list number 'which' (0 to LUAN_LISTS - 1), in the order of the sweep. */
LUAI_FUNC luaN_List *luaN_listof (luaN_Gc *c, int which);

/* When the state is closed: frees the memory from lua_Alloc that belongs to threads, tables and
   large objects in the lists of luaN_Lists. */
LUAI_FUNC void luaN_freelists (lua_State *L);
