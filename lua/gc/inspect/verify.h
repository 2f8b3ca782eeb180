/* SPDX-License-Identifier: MIT */
/* The heap verifier, which every build has. The debug build runs it after collections. */
#ifndef luaN_verify_h
#define luaN_verify_h

/*
** Checks the invariants of heap.h, nursery.h, gc.h, allowance.h, outside.h and growth.h, as far as
** a walk over the whole heap can. Returns NULL, or a line that names the first violated invariant;
** the line is in static memory. 'exact': a full collection has just ended, so that the account of
** old bytes must equal those of the reachable objects. 'over': a collection has just ended, so that
** G2 must hold.
*/
LUAI_FUNC const char *luaN_verify (lua_State *L, int exact, int over);

#endif
