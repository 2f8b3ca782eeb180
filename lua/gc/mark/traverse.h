/* SPDX-License-Identifier: MIT */
/* Traversal: marks the objects to which marked objects refer, until no marked object is left to
   traverse or the slice is over. */
#pragma once

#include "lgc.h"

/* Traverses o: marks the objects to which o refers, and the lines (64 bytes of memory each) of its
   array part, hash part or stack. Returns the cost: the number of visited bytes. If o is a weak
   table, lists o and does not mark its weak references (weak.h). If o is a thread, a minor
   collection scans only the part of the stack that may have changed. */
LUAI_FUNC size_t luaN_traverse (global_State *g, GCObject *o);

/* Traverses the objects on the mark stack mark.young, and the marked objects that did not fit on a
   mark stack, until none is left. If 'all' is 1, also traverses the objects on mark.old. */
LUAI_FUNC void luaN_drain (global_State *g, int all);

/*
** Clears one bit of all objects. If 'bit' is LUAN_PENDING, this is the bit of objects that did not
** fit on a mark stack. If 'bit' is the mask of TESTBIT, it is the bit of objects that a walk of the
** heap has visited. Objects of lists.large and the main thread have the bit in their headers. For
** all other objects it is the bit of a granule (8 bytes) in their block.
*/
LUAI_FUNC void luaN_clearbits (global_State *g, int bit);

/* Traverses the objects on mark.old, and marks the objects queued for their finalizers, until about
   'bytes' bytes were visited. Returns 1 if nothing of this is left, else 0. Marked objects that did
   not fit on a mark stack may still be left; luaN_drain finds them. */
LUAI_FUNC int luaN_markslice (global_State *g, size_t bytes);

/* Marks up to n objects of finalize.tobefinalized, the queue of objects whose finalizers are to be
   called, from the first object that no earlier call in this major collection has marked. Returns
   the number of such objects before this call. */
LUAI_FUNC size_t luaN_markfinalized (global_State *g, size_t n);

/* Marks the roots: the main thread, the running thread L, heap.pinned, the registry, the metatables
   of the basic types, and the objects that luaC_fix has made permanent. */
LUAI_FUNC void luaN_markroots (lua_State *L);
