/* SPDX-License-Identifier: MIT */
/* Snapshots of the heap for profiler.core (snapshot.h). */
#ifndef asamp_snapshotlib_h
#define asamp_snapshotlib_h

#include "lua.h"
#include "sampler.h"

/* The function profiler.core.snapshot (snapshotlib.c). */
int snapshot_lua (lua_State *L);

/*
** The function 'ending' of SamplerOptions. Starts a child with a time limit of SNAPSHOT_SECONDS,
** which writes a snapshot next to the session's profile, with .heap in place of .vmprof, and does
** not wait for it. Adds a mark to the profile: "heap snapshot" and the path, or "heap snapshot
** failed" and the reason why it could not start. Does nothing if the session has no file.
*/
#define SNAPSHOT_SECONDS	120
void snapshot_ending (Sampler *s, lua_State *L);

#endif
