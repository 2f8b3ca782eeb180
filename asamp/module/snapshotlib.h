/* SPDX-License-Identifier: MIT */
/* Snapshots of the heap for profiler.core (snapshot.h). */
#ifndef asamp_snapshotlib_h
#define asamp_snapshotlib_h

#include "lua.h"
#include "sampler.h"

/* The function profiler.core.snapshot. */
int snapshot_lua (lua_State *L);

/* Starts a heap snapshot at the end of a session, without waiting ('ending' of SamplerOptions).
   The file has the profile's path with .heap. Adds the mark "heap snapshot", or "heap snapshot
   failed" with the reason. */
#define SNAPSHOT_SECONDS	120
void snapshot_ending (Sampler *s, lua_State *L);

#endif
