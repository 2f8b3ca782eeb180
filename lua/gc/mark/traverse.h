/* SPDX-License-Identifier: MIT */
/* Traversal: marks the objects to which marked objects refer, until no marked object is left to
   traverse or the slice is over. */
#ifndef luaN_traverse_h
#define luaN_traverse_h

#include "lgc.h"
#include "lstate.h"

/* Marks the objects that o refers to, and the lines of o's vectors. Returns the cost in bytes.
   If o is a weak table, its entries are not marked, but the table is listed for later (weak.h).
   For a thread, a minor collection scans only the part of the stack that may have changed. */
LUAI_FUNC size_t luaN_traverse (global_State *g, GCObject *o);

/* Traverses marked objects until the mark stack mark.young is empty and no object is pending,
   that is, marked but not pushed because a stack was full. If 'all' is 1, also empties mark.old. */
LUAI_FUNC void luaN_drain (global_State *g, int all);

/* Clears the bits of all granules in the blocks (luaN_bits), and 'bit' in the headers of the
   main thread and of the objects of lists.large. If 'bit' is LUAN_PENDING, no object is pending
   after that: marked, but to be traversed later because a mark stack was full. */
LUAI_FUNC void luaN_clearbits (global_State *g, int bit);

/* Marks for about 'bytes'. Returns 0 if 'bytes' were used up, or 1 if nothing was left to
   traverse before that. In both cases, objects may be left that did not fit on a mark stack
   (pending); luaN_drain finds them. */
LUAI_FUNC int luaN_markslice (global_State *g, size_t bytes);

/* Marks the next n, or fewer, of the objects that are queued for their finalizers. Returns the
   number of queued objects that the major collection had not marked in this way before the call. */
LUAI_FUNC size_t luaN_markfinalized (global_State *g, size_t n);

/* Marks the roots: the main thread, the running thread L, heap.pinned, the registry, the metatables
   of the basic types, and the objects of luaC_fix. */
LUAI_FUNC void luaN_markroots (lua_State *L);

#endif
