/* SPDX-License-Identifier: MIT */
/* Heap snapshots for the module profiler.core (snapshot.h). */
#ifndef asamp_snapshotlib_h
#define asamp_snapshotlib_h

#include "lua.h"
#include "sampler.h"

/* The function profiler.core.snapshot. */
int snapshot_lua (lua_State *L);

#define SNAPSHOT_SECONDS	120  /* time limit of the snapshot that snapshot_ending starts, s */

/* Starts a heap snapshot at the end of a session and does not wait for it. Assign this function to
   SamplerOptions.ending. The snapshot has the path of the profile, with .heap in place of .vmprof.
   A mark in the profile records the result: "heap snapshot", or "heap snapshot failed" with the
   reason as its value. */
void snapshot_ending (Sampler *s, lua_State *L);

#endif
