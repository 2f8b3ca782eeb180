/* SPDX-License-Identifier: MIT */
/*
** The pacer: numbers in, decisions out. It runs no collection.
*/
#ifndef luaN_pace_h
#define luaN_pace_h

/* The states of this process; there is one more, or one less (-1). */
LUAI_FUNC unsigned luaN_countstates (void);
LUAI_FUNC void luaN_addstates (int n);

/* A minor collection has found so many bytes alive. */
LUAI_FUNC void luaN_outlived (luaN_Gc *c, size_t bytes);

/* How many bytes the next nursery has: the debt becomes what is left until the next minor
   collection. */
LUAI_FUNC void luaN_newnursery (global_State *g);

/* Bytes that the state's nurseries were filled with so far: more than was allocated, for a
   vector that grows takes up its whole new size. '*planned': the sizes that they were meant
   to have, as far as they came. The accounts must have been flushed. */
LUAI_FUNC uint64_t luaN_charged (global_State *g, uint64_t *planned);

/* Bytes that a major collection may look at after 'bytes' of allocation. */
LUAI_FUNC size_t luaN_markbudget (global_State *g, size_t bytes);

/* A large stack has grown by n bytes. */
LUAI_FUNC void luaN_stackgrew (luaN_Gc *c, size_t n);

/* How many bytes of marking a pause does, of 'work' and what is owed; the rest is owed. */
LUAI_FUNC size_t luaN_pay (luaN_Gc *c, size_t work);

/* Bytes that a cycle may look at for a step by hand that stands for 'bytes'. */
LUAI_FUNC size_t luaN_budgetbyhand (global_State *g, size_t bytes);

/* Bytes that a step by hand stands for at least. */
LUAI_FUNC size_t luaN_stepsize (global_State *g);

/* By upstream's incremental mode: does a cycle run, or is it time for one? Steps by
   hand count. Always in the generational mode. */
LUAI_FUNC int luaN_cycledue (global_State *g);

/* Is it time for a major collection? */
LUAI_FUNC int luaN_majordue (global_State *g);

/* A major collection begins: what it is told of is what came since the one before. */
LUAI_FUNC void luaN_cyclebegins (luaN_Gc *c);

/* A major collection has found so many bytes of old objects dead. */
LUAI_FUNC void luaN_reclaimed (global_State *g, l_mem dead);

/* A major collection is over. */
LUAI_FUNC void luaN_cycleended (global_State *g);

/* When the next one is due, by the mode and its parameters. */
LUAI_FUNC void luaN_setpace (global_State *g);

#endif
