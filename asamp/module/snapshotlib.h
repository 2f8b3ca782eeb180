/* SPDX-License-Identifier: MIT */
/* Snapshots of the heap for profiler.core (snapshot.h). */
#ifndef asamp_snapshotlib_h
#define asamp_snapshotlib_h

#include "lua.h"
#include "sampler.h"

/* The function profiler.core.snapshot. */
int snapshot_lua (lua_State *L);

#define SNAPSHOT_SECONDS	120  /* time limit of the snapshot by snapshot_ending */

/* Starts a heap snapshot at the end of a session and does not wait for it. It is a value for
   'ending' of SamplerOptions. The snapshot has the profile's path, with .heap in place of .vmprof.
   Adds a mark to the profile: "heap snapshot", or "heap snapshot failed" with the reason as its
   value. */
void snapshot_ending (Sampler *s, lua_State *L);

#endif
