/* SPDX-License-Identifier: MIT */
/*
** Allowances: limits on the bytes that a state may allocate, and on its bytes in use
** (luaN_setlimits of seam.h). An allocation that would exceed a limit fails as if there were no
** memory, so that callers handle it like a refusal of lua_Alloc; only the message is the limit's
** own. The fast path of allocation has no additional instruction for limits: nursery_limit includes
** the distance to the nearer one, and only the slow path reads them.
**
** Invariants:
**   LM1  While a state has limits, nursery_limit is at most luaN_left (limit.h) bytes above
**        nursery_free after each call of luaN_setlimit.
**   LM2  If a limit has refused the last failed allocation, heap.refusal is the message of that
**        limit. It is NULL if the last failed allocation had another cause (luaN_unlimited), if no
**        allocation has failed since the limits were set, or if the state has no limits.
**        Allocations that succeed do not change heap.refusal, because a __close handler may run
**        before the message is used.
*/
#ifndef luaN_allowance_h
#define luaN_allowance_h

/* Returns 1 if an allocation of n more bytes would exceed a limit of the state, which must have
   limits; then sets heap.refusal to the limit's message (LM2) and heap.starved to 1. Otherwise
   returns 0. If only the limit of the bytes in use would be exceeded, first runs an emergency
   collection, if one may run. */
LUAI_FUNC int luaN_compare (lua_State *L, uint64_t n) __attribute__((noinline));

/* True if an allocation of n more bytes must be refused because of a limit (luaN_compare). False if
   the state has no limits. */
#define luaN_exceeds(L,n) \
  (l_unlikely(G(L)->heap.limits != NULL) && luaN_compare(L, n))

/* Clears heap.refusal, the message of the limit that has refused an allocation. To be used when an
   allocation has failed for another reason than a limit (LM2). The macro's value is NULL, so that a
   failed function can return it. */
#define luaN_unlimited(g)	((void *)((g)->heap.refusal = NULL))

#endif
