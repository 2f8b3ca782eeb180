/* SPDX-License-Identifier: MIT */
/* Snapshots for profiler.core. */
#ifndef asamp_snapshotlib_h
#define asamp_snapshotlib_h

#include "lua.h"
#include "sampler.h"

/* The function profiler.core.snapshot (snapshotlib.c). */
int snapshot_lua (lua_State *L);

/*
** Writes a snapshot next to the session's profile, with .heap in place of .vmprof, in a child with
** a time limit of SNAPSHOT_SECONDS, and a mark into the profile: "heap snapshot" and the path, or
** "heap snapshot failed" and the reason.
*/
#define SNAPSHOT_SECONDS	120
void snapshot_ending (Sampler *s, lua_State *L);

#endif
