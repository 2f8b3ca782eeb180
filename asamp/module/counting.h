/* SPDX-License-Identifier: MIT */
/*
** Exact counts of allocations: the Lua functions profiler.count, profiler.counter and
** profiler.alive, and the C functions of asamp.h that count. The Lua core counts allocations while
** at least one count of the state runs.
**
** counting_start, counting_stop and counting_read allocate nothing and need one free stack slot.
** Do not call the functions of this header in callbacks of the sampler.
*/
#ifndef asamp_counting_h
#define asamp_counting_h

#include "asamp.h"
#include "binding.h"

/* Adds the functions count, counter and alive to the table on top of the stack. Call it once for a
   state. */
void counting_open (lua_State *L);

/* Starts a count. Several counts may overlap. Returns 0 if counting_open was not called. */
int counting_start (lua_State *L);
/* Ends one of the counts that counting_start started. Returns 0 if none is running. */
int counting_stop (lua_State *L);

/* Sets the fields of *to, except 'size', to the counts of the state. Returns 0 if counting_open was
   not called. */
int counting_read (lua_State *L, asamp_Counts *to);

/* Runs two full collections. Returns the bytes in use, without the state itself, L, the main thread
   and the stacks of both; 0: no collection is possible. */
uint64_t counting_alive (lua_State *L);

#endif
