/* SPDX-License-Identifier: MIT */
/* Traversal: marks the objects to which marked objects refer, until nothing is left or the slice is
   over. */
#ifndef luaN_traverse_h
#define luaN_traverse_h

#include "lgc.h"
#include "lstate.h"

/* Marks the objects that o refers to, and the lines of its vectors. Returns the cost in bytes. A
   weak table is only listed, without marking its entries (weak.h). Of a thread, a minor collection
   scans the part of the stack that may have changed. */
LUAI_FUNC size_t luaN_traverse (global_State *g, GCObject *o);

/* Traverses marked objects until mark.young is empty, and finds those that did not fit on a mark
   stack. If 'all' is 1, empties mark.old, too. */
LUAI_FUNC void luaN_drain (global_State *g, int all);

/* Clears the bits of all granules, and 'bit' in the headers of the objects of lists.large and of
   the main thread. With LUAN_PENDING, forgets the marked objects that did not fit on a mark
   stack. */
LUAI_FUNC void luaN_clearbits (global_State *g, int bit);

/* Marks for a cost of about 'bytes'. Returns 1 if the mark stacks are empty; objects that did not
   fit on them are left to luaN_drain. */
LUAI_FUNC int luaN_markslice (global_State *g, size_t bytes);

/* Marks up to n more objects of the queue for finalizers. Returns how many objects of the queue
   were unvisited before the call. */
LUAI_FUNC size_t luaN_markfinalized (global_State *g, size_t n);

/* Marks the roots: the main thread, the running thread L, heap.pinned, the registry, the metatables
   of the basic types, and the objects of luaC_fix. */
LUAI_FUNC void luaN_markroots (lua_State *L);

#endif
