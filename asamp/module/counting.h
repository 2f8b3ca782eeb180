/* SPDX-License-Identifier: MIT */
/*
** Exact counts of allocations: profiler.count, profiler.counter and profiler.alive, and the
** functions for asamp.h. The Lua core counts while at least one count of the state runs.
** counting_start, counting_stop and counting_read allocate nothing and need one free stack slot.
** Do not call these functions in callbacks of the sampler.
*/
#ifndef asamp_counting_h
#define asamp_counting_h

#include "asamp.h"
#include "binding.h"

/* Puts count, counter and alive into the table on top of the stack. Call it once for a state. */
void counting_open (lua_State *L);

/* Starts a count. Several counts may run at a time. Returns 0 if counting_open was not called. */
int counting_start (lua_State *L);
/* Ends one of the counts that counting_start started. Returns 0 if none is running. */
int counting_stop (lua_State *L);

/* Sets the fields of *to, except 'size', to the counts of the state. Returns 0 if counting_open was
   not called. */
int counting_read (lua_State *L, asamp_Counts *to);

/* Runs two full collections. Returns the bytes in use without the state itself, L, the main
   thread and their stacks; 0: no collection is possible. */
uint64_t counting_alive (lua_State *L);

#endif
