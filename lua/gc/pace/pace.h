/* SPDX-License-Identifier: MIT */
/*
** The pacer: decides when to collect and how much. It runs no collection.
**
** The cost model. While a program allocates A bytes and L bytes are live, it pays for:
**
**   time    of minor collections: a fixed part for each nursery, and the marking of the survivors.
**           A larger nursery needs fewer collections; it saves time while it fits into the cache.
**           Of major collections: the marking of L bytes each. If one starts after V bytes of
**           allocation, that is L / V bytes of marking for each allocated byte.
**   memory  the nursery of each state, and the garbage of old objects, which is (if L does not
**           shrink) at most the bytes tenured since the last major collection started.
**   pauses  the bytes that are marked at a time. In a heap that no cache holds, marking takes some
**           2 ns for a byte; in others it takes less.
**
** The decisions follow:
**
**   nursery  as large as the cache, but no larger than the old objects need, so that small states
**            stay small; all states of a process share a fixed amount.
**   growth   a major collection starts when the garbage may be a fixed part of L, which bounds the
**            memory.
**   volume   a major collection also starts when V is a multiple of L, which bounds the time for a
**            heap that does not grow. The multiple grows while collections find little.
**   retained objects with finalizers and entries of weak tables retain more than their own bytes.
**            Many new ones start a major collection after about L bytes of allocation; many objects
**            with finalizers in a small heap shorten V up to eightfold.
**   slices   each allocated byte pays for a fixed number of bytes of marking, so that a major
**            collection ends after a fixed part of L was allocated. A pause marks a bounded number
**            of bytes; the rest is owed, up to a part of L; beyond that the pause is longer.
**
** Each constant of pace.c belongs to one of these terms.
*/
#ifndef luaN_pace_h
#define luaN_pace_h

/* Cost in bytes of marking of one visit of memory that is rarely in the cache: an entry of a list,
   a slot or a CallInfo of a deep stack, a bucket of strings, a thread, an object pending
   finalization, a slot of a weak table. */
#define LUAN_VISIT	48u

/* Bytes of marking (LUAN_SLICE), and number of visits as above (LUAN_ATONCE), that are done at a
   time: the parts of which slices consist, and limits of some work of the atomic step. Smaller
   parts keep closer to the budget and cost more calls. */
#define LUAN_SLICE	((size_t)128 * 1024)
#define LUAN_ATONCE	2048u

/* luaN_countstates returns the number of states of this process; luaN_addstates adds 1 or -1 to
   it. */
LUAI_FUNC unsigned luaN_countstates (void);
LUAI_FUNC void luaN_addstates (int n);

/* Records that 'bytes' of the last nursery have survived a minor collection. May double the later
   nurseries if the bytes are many, or undo one doubling (WIDER_MOST in pace.c). */
LUAI_FUNC void luaN_outlived (luaN_Gc *c, size_t bytes);

/* Sets the size of the next nursery and sets GCdebt to minus that size. */
LUAI_FUNC void luaN_newnursery (global_State *g);

/*
** Returns the bytes with which the state's nurseries were filled so far: of a vector that is moved
** its whole new size, of a large leaf object sometimes less than its size (pace.textroom). Sets
** '*planned' to the sum of the nurseries' planned sizes, as far as they were used. Bytes allocated
** since the last luaN_flush are missing.
*/
LUAI_FUNC uint64_t luaN_charged (global_State *g, uint64_t *planned);

/* Returns the bytes of marking that 'bytes' of allocation pay for. */
LUAI_FUNC size_t luaN_markbudget (global_State *g, size_t bytes);

/* Returns the bytes of marking that this pause does: 'work' and the work debt, up to a bound. The
   rest becomes work debt; if it is above the limit of the debt, the pause does more. */
LUAI_FUNC size_t luaN_pay (luaN_Gc *c, size_t work);

/* Returns the bytes of marking for an explicit step that represents 'bytes' of allocation. */
LUAI_FUNC size_t luaN_budgetbyhand (global_State *g, size_t bytes);

/* Returns upstream's step size (2^gcstepsize bytes), which an explicit step represents in addition
   to its argument. */
LUAI_FUNC size_t luaN_stepsize (global_State *g);

/* Returns 1 if a cycle of upstream's incremental mode runs or is due; explicit steps count as
   allocation. Always 1 in the program's generational mode, whatever LUA_GC sets. */
LUAI_FUNC int luaN_cycledue (global_State *g);

/* Returns 1 if a major collection is due. */
LUAI_FUNC int luaN_majordue (global_State *g);

/* Records that a major collection starts. */
LUAI_FUNC void luaN_cyclebegins (luaN_Gc *c);

/* Records that a major collection in slices has found 'dead' bytes of old objects dead. */
LUAI_FUNC void luaN_reclaimed (global_State *g, l_mem dead);

/* Records that a major collection has ended, and computes when the next one is due. */
LUAI_FUNC void luaN_cycleended (global_State *g);

/* Computes when the next major collection is due, from the mode, its parameters and the live
   bytes. */
LUAI_FUNC void luaN_setpace (global_State *g);

#endif
