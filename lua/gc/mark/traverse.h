/* SPDX-License-Identifier: MIT */
/* Traversal: marks the objects to which marked objects refer, until nothing is left or the slice is
   over. */
#ifndef luaN_traverse_h
#define luaN_traverse_h

#include "lgc.h"
#include "lstate.h"

/* Marks the objects to which o refers, and the lines of o's vectors. Returns the cost in bytes. If
   o is a weak table, lists o and does not mark its weak references (weak.h). If o is a thread, a
   minor collection scans only the part of the stack that may have changed. */
LUAI_FUNC size_t luaN_traverse (global_State *g, GCObject *o);

/* Traverses the objects on the mark stack mark.young, and marked objects that did not fit on a mark
   stack, until none is left. If 'all' is 1, also those on mark.old. */
LUAI_FUNC void luaN_drain (global_State *g, int all);

/* Clears the bit of each granule (8 bytes) in all blocks, and 'bit' in the headers of the objects
   of lists.large and of the main thread. If 'bit' is LUAN_PENDING, this removes all records of
   marked objects that did not fit on a mark stack. */
LUAI_FUNC void luaN_clearbits (global_State *g, int bit);

/* Traverses marked objects until the cost is about 'bytes'. Returns 1 if the mark stacks are empty.
   Marked objects that did not fit on a mark stack may still be left; luaN_drain finds them. */
LUAI_FUNC int luaN_markslice (global_State *g, size_t bytes);

/* Marks up to n more objects of finalize.tobefinalized, the queue of objects whose finalizers are
   to be called. Returns how many of its objects earlier calls had not marked. */
LUAI_FUNC size_t luaN_markfinalized (global_State *g, size_t n);

/* Marks the roots: the main thread, the running thread L, heap.pinned, the registry, the metatables
   of the basic types, and the objects that luaC_fix has made permanent. */
LUAI_FUNC void luaN_markroots (lua_State *L);

#endif
