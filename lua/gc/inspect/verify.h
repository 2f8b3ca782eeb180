/* SPDX-License-Identifier: MIT */
/* The heap verifier, in every build. The debug build runs it after each collection, in a large heap
   after every sixteenth. */
#ifndef luaN_verify_h
#define luaN_verify_h

/*
** Checks the invariants of the collector's headers, as far as a walk over the heap can. Returns
** NULL if all hold. Otherwise returns a line of text in static memory: the first violated
** invariant, or that there is no memory. If a marked object did not fit on a mark stack, no walk is
** possible (visits.h), and only the invariants that need no walk are checked.
**
** over: 1 if a collection has just ended: reachable objects must be old, except those that the
** collection did not tenure (G2). exact: 1 if that was a full collection: bytes.old must be exact,
** unless a table is weak.
*/
LUAI_FUNC const char *luaN_verify (lua_State *L, int exact, int over);

#endif
