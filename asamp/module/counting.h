/* SPDX-License-Identifier: MIT */
/*
** Exact counts of the allocations of a piece of code: profiler.count, profiler.counter and
** profiler.alive, and the functions for asamp.h. The core counts (luaN_setcounts) while at least
** one count of the state is running.
**
** counting_start, counting_stop and counting_read allocate nothing from the state; each needs one
** free slot of L's stack. Not to be called from the functions of a luaN_Sampler.
*/
#ifndef asamp_counting_h
#define asamp_counting_h

#include "asamp.h"
#include "binding.h"

/* Puts the functions count, counter and alive into the table on the top of the stack, and makes the
   state's userdata for exact counts. Allocates. To be called once for a state. */
void counting_open (lua_State *L);

/*
** Start and stop the counting. Each counting_start needs a counting_stop; the pairs may be nested.
** counting_start returns 0 if counting_open was not called for the state, counting_stop if no count
** is running.
*/
int counting_start (lua_State *L);
int counting_stop (lua_State *L);

/*
** Copies the counts into *to, except 'size', which it does not change. Returns 0 if counting_open
** was not called for the state.
*/
int counting_read (lua_State *L, asamp_Counts *to);

/* Runs two full collections. Returns the bytes in use after them, minus those of luaN_statebytes,
   and minus those of L, the main thread, and their stacks. Returns 0 if no collection is
   possible. */
uint64_t counting_alive (lua_State *L);

#endif
