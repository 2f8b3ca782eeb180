/* SPDX-License-Identifier: MIT */
/* Snapshots of the heap for profiler.core (snapshot.h). */
#ifndef asamp_snapshotlib_h
#define asamp_snapshotlib_h

#include "lua.h"
#include "sampler.h"

/* The function profiler.core.snapshot (snapshotlib.c). */
int snapshot_lua (lua_State *L);

/*
** The function 'ending' of SamplerOptions: starts a heap snapshot when a session ends, and does not
** wait for it. A child process writes it within SNAPSHOT_SECONDS. The snapshot has the path of the
** session's profile, with .heap in place of .vmprof. Adds a mark to the profile: "heap snapshot"
** and the path, or "heap snapshot failed" and the reason why it could not start. Does nothing if
** the session has no file.
*/
#define SNAPSHOT_SECONDS	120
void snapshot_ending (Sampler *s, lua_State *L);

#endif
