/* SPDX-License-Identifier: MIT */
/*
** Limits on the bytes that a state may allocate in its life, and on its bytes in use
** (luaN_setlimits of seam.h). An allocation that would exceed a limit fails like one that lua_Alloc
** refuses, but with the limit's message. The fast path has no test for limits: nursery_limit
** includes the distance to the nearer limit.
**
** Invariants:
**   LM1  While a state has limits, nursery_limit is at most luaN_left (limit.h) bytes above
**        nursery_free after each call of luaN_setlimit.
**   LM2  If a limit has refused the last failed allocation, heap.refusal is the message of that
**        limit. It is NULL if that allocation had another cause (luaN_unlimited), if none has
**        failed since the limits were set, or if there are no limits. Successful allocations do not
**        change it, because a __close handler may run before the message is used.
*/
#ifndef luaN_allowance_h
#define luaN_allowance_h

/* The state must have limits. Returns 1 if n more bytes would exceed one of these limits, and
   stores the limit's message for the error. May run an emergency collection first, to get below the
   limit of the bytes in use. */
LUAI_FUNC int luaN_compare (lua_State *L, uint64_t n) __attribute__((noinline));

/* True if an allocation of n bytes must be refused because of a limit of the state. */
#define luaN_exceeds(L,n) \
  (l_unlikely(G(L)->heap.limits != NULL) && luaN_compare(L, n))

/* Records that the last allocation has failed for another reason than a limit, so that the error
   does not get a limit's message (LM2). The value is NULL, for use in a return statement. */
#define luaN_unlimited(g)	((void *)((g)->heap.refusal = NULL))

#endif
