/* SPDX-License-Identifier: MIT */
/* The heap verifier, which every build has. The debug build runs it after every collection, or
   after every sixteenth one if the heap is large. */
#ifndef luaN_verify_h
#define luaN_verify_h

/*
** Checks the invariants of heap.h, nursery.h, gc.h, allowance.h, outside.h and growth.h, as far as
** a walk over the heap can. (While marked objects are pending, that is, did not fit on a mark
** stack, no walk is possible, and fewer invariants are checked.) Returns NULL if all hold, else a
** line in static memory: the first violated invariant, or that there is no memory for the verifier.
**
** 'over' is 1 if a collection has just ended: then every reachable object must be old, except those
** that were left young (G2), and no short string may be young. 'exact' is 1 if it was a full one:
** then bytes.old must be the bytes of the reachable objects, unless some table is weak.
*/
LUAI_FUNC const char *luaN_verify (lua_State *L, int exact, int over);

#endif
