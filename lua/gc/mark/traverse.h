/* SPDX-License-Identifier: MIT */
/* Traversal: marks the objects to which marked objects refer, until nothing is left or a slice is
   over. */
#ifndef luaN_traverse_h
#define luaN_traverse_h

#include "lgc.h"
#include "lstate.h"

/* Marks the objects that o refers to, and the lines of o's vectors. Lists a weak table (weak.h)
   instead of marking its entries. In a minor collection, scans only the part of a thread's stack
   that may have changed. Returns the cost in bytes. */
LUAI_FUNC size_t luaN_traverse (global_State *g, GCObject *o);

/* Traverses until mark.young is empty and no object is pending; 'all': until mark.old is empty,
   too. */
LUAI_FUNC void luaN_drain (global_State *g, int all);

/* Drops all pending objects, because marking starts again. */
LUAI_FUNC void luaN_forgetpending (global_State *g);

/* Runs a slice of at most about 'bytes' of marking. Returns 1 if nothing was left to traverse
   except pending objects, which luaN_drain finds; 0 if 'bytes' were used up before. */
LUAI_FUNC int luaN_markslice (global_State *g, size_t bytes);

/* Marks up to n objects pending finalization, for a major collection. Returns how many entries of
   tobefinalized were not visited before the call. */
LUAI_FUNC size_t luaN_markfinalized (global_State *g, size_t n);

/* Marks the roots: the main thread, the running thread L, the pinned object, the registry, the
   metatables of the basic types, and the objects of luaC_fix. */
LUAI_FUNC void luaN_markroots (lua_State *L);

#endif
