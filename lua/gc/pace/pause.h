/* SPDX-License-Identifier: MIT */
/* Pauses of the collector: their duration, and the number of entries of lists, stacks and weak
   tables that they visit. luaN_memory reports both to users. */
#ifndef luaN_pause_h
#define luaN_pause_h

/* Returns CLOCK_MONOTONIC in nanoseconds. */
LUAI_FUNC uint64_t luaN_now (void);

/* Start and end a pause, in which the program is stopped. luaN_endpause calls 'collected' of the
   sampler, if there is one; finalizers run after the pause. */
LUAI_FUNC void luaN_beginpause (global_State *g);
LUAI_FUNC void luaN_endpause (lua_State *L);

/* If there is a sampler, counts the CPU time from this call to the end of the pause as time of the
   major collection. To be called when the minor collection of the pause has ended. */
LUAI_FUNC void luaN_beginslice (global_State *g);

/* Ends a pause as luaN_endpause, but does not call the sampler. To be used after pauses that only
   process a part of the remembered set (refine.c), without a collection. */
LUAI_FUNC void luaN_endslice (global_State *g);

#endif
