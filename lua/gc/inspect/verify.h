/* SPDX-License-Identifier: MIT */
/* The heap verifier, which every build has. The debug build runs it after collections; in a large
   heap, after every sixteenth. */
#ifndef luaN_verify_h
#define luaN_verify_h

/*
** Checks the invariants of heap.h, nursery.h, gc.h, allowance.h, outside.h and growth.h, as far as
** a walk over the whole heap can (no walk while objects are pending). Returns NULL, or a line in
** static memory that names the first violated invariant or reports that there is no memory for the
** verifier. 'exact': a full collection has just ended, so that the account of old bytes must equal
** those of the reachable objects if no table is weak. 'over': a collection has just ended, so that
** G2 must hold and no short string may be young.
*/
LUAI_FUNC const char *luaN_verify (lua_State *L, int exact, int over);

#endif
