/* SPDX-License-Identifier: MIT */
/* Traversal: marks the objects to which marked objects refer, until nothing is left or a slice is
   over. */
#ifndef luaN_traverse_h
#define luaN_traverse_h

#include "lgc.h"
#include "lstate.h"

/* Marks everything that o refers to. Returns the cost in bytes. */
LUAI_FUNC size_t luaN_traverse (global_State *g, GCObject *o);

/* Traverses until mark.young is empty and no object is pending; 'all': until mark.old is empty,
   too. */
LUAI_FUNC void luaN_drain (global_State *g, int all);

/* Drops all pending objects, because marking starts again. */
LUAI_FUNC void luaN_forgetpending (global_State *g);

/* Runs a slice of marking of at most about 'bytes'. Returns 1 if nothing is left to traverse except
   pending objects, which luaN_drain finds. */
LUAI_FUNC int luaN_markslice (global_State *g, size_t bytes);

/* Marks up to n objects pending finalization, for a major collection. Returns how many entries of
   tobefinalized were not visited before the call. */
LUAI_FUNC size_t luaN_markfinalized (global_State *g, size_t n);

/* Marks the roots: objects that are alive without a reference to them. */
LUAI_FUNC void luaN_markroots (lua_State *L);

#endif
