/* SPDX-License-Identifier: MIT */
/* The heap verifier, in every build. The debug build runs it after each collection, in a large heap
   after every sixteenth. */
#ifndef luaN_verify_h
#define luaN_verify_h

/*
** Checks the invariants of the collector's headers, as far as a walk over the heap can. Returns
** NULL if all hold, else a line in static memory with the first violated one (or that there is no
** memory). Checks fewer if a mark stack has overflowed, because no walk is possible then.
**
** over: 1 if a collection has just ended: reachable objects must be old, except those left young
** (G2). exact: 1 if it was a full one: bytes.old must be exact, unless a table is weak.
*/
LUAI_FUNC const char *luaN_verify (lua_State *L, int exact, int over);

#endif
