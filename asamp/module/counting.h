/* SPDX-License-Identifier: MIT */
/*
** Exact counts of a piece of code: profiler.count, profiler.counter and profiler.alive, and the
** functions for asamp.h. The core does the counting (luaN_setcounts) while at least one count of
** the state is running.
**
** Only counting_open and profiler.counter allocate from the state.
*/
#ifndef asamp_counting_h
#define asamp_counting_h

#include "asamp.h"
#include "binding.h"

/* Puts the functions count, counter and alive into the table on the top of the stack. */
void counting_open (lua_State *L);

/*
** Start and stop the counting. Each start needs a stop; they may be nested. counting_start
** returns 0 if counting_open was not called for the state.
*/
int counting_start (lua_State *L);
void counting_stop (lua_State *L);

/*
** Copies the counts into *to, of which the field 'size' is kept. Returns 0 if counting_open was
** not called for the state.
*/
int counting_read (lua_State *L, asamp_Counts *to);

/* Runs two full collections. Returns the bytes in use, without those of L, the main
   thread and the table of strings; 0 if no collection is possible. */
uint64_t counting_alive (lua_State *L);

#endif
