/* SPDX-License-Identifier: MIT */
/*
** Allowances: limits on the bytes that a state may allocate, and on its bytes in use
** (luaN_setlimits of seam.h). An allocation that would exceed a limit fails as if there were no
** memory, with the limit's own message, so that callers handle it like a refusal of lua_Alloc.
** nursery_limit includes the distance to the nearer limit, so that the fast path has no additional
** instruction: only the slow path reads the limits.
**
** Invariants:
**   LM1  While a state has limits, the nursery's limit is at most luaN_left (limit.h) bytes from
**        nursery_free after each luaN_setlimit.
**   LM2  'refusal' is the message of the limit that refused the last failed allocation since the
**        limits were set. It is NULL if no allocation has failed, if the last failed allocation had
**        another cause (luaN_unlimited), or if the state has no limits. Allocations that succeed do
**        not change 'refusal': a __close handler may run before the message is used.
*/
#ifndef luaN_allowance_h
#define luaN_allowance_h

/* Returns 1, and sets 'refusal' and heap.starved, if an allocation of n more bytes would exceed a
   limit. If only the limit of the bytes in use would be exceeded, first runs an emergency
   collection, if one may run, and compares again. To be called only if the state has limits
   (luaN_exceeds). */
LUAI_FUNC int luaN_compare (lua_State *L, uint64_t n) __attribute__((noinline));

/* As luaN_compare, for any state; false if the state has no limits. */
#define luaN_exceeds(L,n) \
  (l_unlikely(G(L)->heap.limits != NULL) && luaN_compare(L, n))

/* To be evaluated when an allocation has failed and no limit has refused it (LM2). Value: NULL. */
#define luaN_unlimited(g)	((void *)((g)->heap.refusal = NULL))

#endif
