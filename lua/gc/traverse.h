/* SPDX-License-Identifier: MIT */
/*
** Traversal: what marked objects refer to, until nothing is left or a slice is over.
*/
#ifndef luaN_traverse_h
#define luaN_traverse_h

#include "lgc.h"
#include "lstate.h"

/* Traverses o; returns about how many bytes were looked at. */
LUAI_FUNC size_t luaN_traverse (global_State *g, GCObject *o);

/* Until nothing is left on the mark stack of the young (all: on that of the old, too). */
LUAI_FUNC void luaN_drain (global_State *g, int all);

/* What is pending is not traversed: marking begins anew. */
LUAI_FUNC void luaN_forgetpending (global_State *g);

/* A slice of marking: at most about 'bytes'. Returns 1 when all is marked but
   what is pending, which luaN_drain looks for. */
LUAI_FUNC int luaN_markslice (global_State *g, size_t bytes);

/* Marks what is alive without anybody referring to it. */
LUAI_FUNC void luaN_markroots (lua_State *L);

#endif
