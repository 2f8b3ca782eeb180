/* SPDX-License-Identifier: MIT */
/* Pauses of the collector: their duration, and the number of entries of lists, stacks and weak
   tables that they visit. luaN_memory reports both to users. */
#ifndef luaN_pause_h
#define luaN_pause_h

/* Returns CLOCK_MONOTONIC in nanoseconds. */
LUAI_FUNC uint64_t luaN_now (void);

/* Record the start and the end of a pause, in which the program is stopped. luaN_endpause also
   calls 'collected' of the sampler, if there is one. Finalizers run after the pause. */
LUAI_FUNC void luaN_beginpause (global_State *g);
LUAI_FUNC void luaN_endpause (lua_State *L);

/* Starts to measure the CPU time of the major collection, up to the end of the pause, if there
   is a sampler. To be called when the minor collection of the pause has ended. */
LUAI_FUNC void luaN_beginslice (global_State *g);

/* Records the end of a pause as luaN_endpause does, but does not call the sampler. To be used
   after a pause without a collection, which only processes a part of the remembered set
   (refine.c). */
LUAI_FUNC void luaN_endslice (global_State *g);

#endif
