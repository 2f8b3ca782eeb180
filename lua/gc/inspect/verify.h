/* SPDX-License-Identifier: MIT */
/* The heap verifier, which every build has. The debug build runs it after collections. */
#ifndef luaN_verify_h
#define luaN_verify_h

/*
** Checks the invariants of heap.h, nursery.h, gc.h and outside.h by a walk over the whole heap.
** Returns NULL, or a line that names the violated invariant; the line is in static memory.
** 'exact': a full collection has just ended, so that the bytes counted for old objects must be
** those that are reachable. 'over': some collection has just ended, so that G2 holds.
*/
LUAI_FUNC const char *luaN_verify (lua_State *L, int exact, int over);

#endif
