/* SPDX-License-Identifier: MIT */
/* Pauses of the collector: durations, and numbers of visited entries. luaN_memory reports them. */
#pragma once

/* Returns CLOCK_MONOTONIC in nanoseconds. */
LUAI_FUNC uint64_t luaN_now (void);

/* Records the start of a pause, in which the program is stopped. */
LUAI_FUNC void luaN_beginpause (global_State *g);

/* Records the end of a pause, and calls the sampler's function 'collected', if there is a sampler.
   Finalizers run after the pause. */
LUAI_FUNC void luaN_endpause (lua_State *L);

/* If there is a sampler, starts to measure the CPU time of the slice of a major collection in this
   pause. To be called between the minor collection and the slice. */
LUAI_FUNC void luaN_beginslice (global_State *g);

/* Records the end of a pause that has only visited a part of the remembered set (refine.c), without
   a collection. Does not call the sampler. luaN_endpause also calls this function. */
LUAI_FUNC void luaN_endslice (global_State *g);
