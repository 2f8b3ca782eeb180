/* SPDX-License-Identifier: MIT */
/* Traversal: marks the objects to which marked objects refer, until no marked object is left to
   traverse or the slice is over. */
#ifndef luaN_traverse_h
#define luaN_traverse_h

#include "lgc.h"
#include "lstate.h"

/* Marks the objects that o refers to, and the lines of o's vectors. The entries of a weak table are
   not marked: the table is listed (weak.h). A minor collection scans only the part of a thread's
   stack that may have changed. Returns the cost in bytes. */
LUAI_FUNC size_t luaN_traverse (global_State *g, GCObject *o);

/* Traverses objects until the mark stack mark.young is empty and no object is pending, that is,
   marked but not pushed because a stack was full. If 'all' is 1, also until mark.old is empty. */
LUAI_FUNC void luaN_drain (global_State *g, int all);

/* Clears the bits of all granules in the blocks (luaN_bits), and 'bit' in the headers of the
   objects of lists.large and of the main thread. With LUAN_PENDING, no object is pending after
   that: those are marked objects that did not fit on a mark stack and are still to be traversed. */
LUAI_FUNC void luaN_clearbits (global_State *g, int bit);

/* Runs a slice of about 'bytes' of marking. Returns 0 if 'bytes' were used up, or 1 if nothing was
   left to traverse before that. Pending objects, which did not fit on a mark stack, may be left in
   any case; luaN_drain finds them. */
LUAI_FUNC int luaN_markslice (global_State *g, size_t bytes);

/* Marks, for a major collection, the next objects that are queued for the call of their finalizers,
   at most n of them. Returns the number of queued objects that this function had not marked before
   the call. */
LUAI_FUNC size_t luaN_markfinalized (global_State *g, size_t n);

/* Marks the roots: the main thread, the running thread L, heap.pinned, the registry, the metatables
   of the basic types, and the objects of luaC_fix. */
LUAI_FUNC void luaN_markroots (lua_State *L);

#endif
