/* SPDX-License-Identifier: MIT */
/*
** Visits large weak tables in slices before the atomic step of a major collection, so that only
** their undecided entries are left to that step.
**
** Visits. When marking has no other work, slices visit the discovered weak tables of at least
** MIN_SLOTS slots. They mark the objects that an entry holds strongly: a strong key; a strong value
** if the key is alive. An entry whose weak key or value is not marked yet is undecided. Its slot is
** listed, after its table, in weak.doubtful[LUAN_DOUBTKEYS] if the weak key is not marked, and in
** weak.doubtful[LUAN_DOUBTVALUES] if the weak value is not marked. There are two lists because the
** atomic step needs each at a different time. A table whose slots were all visited has LUAN_SCANNED
** (G9).
**
** Passes. Marking one entry may decide others. So slices visit both lists again, as long as many
** entries have had something to mark (MIN_RESOLVED_PART).
**
** Changes. A slot that the program stores to later is listed, if it is undecided, when it leaves
** the remembered set (luaN_doubt). A table that gets other vectors, or is remembered as a whole, is
** visited once more (luaN_lookonce).
**
** Tombstones. If many undecided values are left, slices tombstone them (hidden.h), except those
** under special names (mayhide). The atomic step decides which objects are dead. Then slices clear
** the tombstones of dead objects and restore the others, before the dead with finalizers are
** selected, and another atomic step follows. The sweep starts with the entries whose keys are dead.
** So for the program all entries of a dead object disappear in the same pause: a reference that it
** finds in one table it finds in all. There is one exception: a traversal of weak keys between the
** two atomic steps may resurrect an object that is gone already as a value.
**
** Log. Old objects that are marked during or after the last pass over the undecided keys are logged
** in the list of these keys. The atomic step then looks up only the logged objects in the tables,
** and visits only the slots that were listed after that pass. If too many are logged, or memory is
** short, it visits all undecided keys once more. (Objects that were young are not logged, because
** they are no undecided keys.)
*/
#ifndef luaN_ahead_h
#define luaN_ahead_h

#include "lstate.h"

#include "chase.h"


/* Runs a slice of about 'bytes' of marking cost over the discovered weak tables. To be called when
   there is nothing else to mark. Returns 1 if nothing is left to do for these tables and mark.old
   is empty. Returns 0 if 'bytes' were used up, or if marking must continue. */
LUAI_FUNC int luaN_lookahead (global_State *g, size_t bytes);

/* Makes slices visit all listed undecided entries again, from the start of the lists. */
LUAI_FUNC void luaN_begindoubting (luaN_Weak *w);

/*
** Parts of the atomic step:
**   - luaN_resolvedoubtful marks the strong values of undecided ephemerons whose keys are alive,
**     with everything that they refer to. Returns 1 if there was one, or if there may be more
**     because the log was too long.
**   - luaN_followdoubtful is called in that second case. It adds the entries with undecided keys
**     and strong values to a chase.
**   - luaN_cleardoubtful empties the listed slots whose values are dead and not tombstoned.
**   - luaN_decide makes the tombstones of unmarked objects final (weak.decided) and returns 1:
**     slices must restore or clear all tombstones. Returns 0 if there is none, or if they were
**     decided before.
*/
LUAI_FUNC int luaN_resolvedoubtful (global_State *g);
LUAI_FUNC void luaN_followdoubtful (global_State *g, luaN_Chase *x);
LUAI_FUNC void luaN_cleardoubtful (global_State *g);
LUAI_FUNC int luaN_decide (global_State *g);

/* The sweep of entries with dead keys. luaN_beginclearing prepares it. luaN_clearslice does about
   'bytes' of it, while weak.inmajor has tables, and returns the cost in bytes of marking. */
LUAI_FUNC void luaN_beginclearing (global_State *g);
LUAI_FUNC size_t luaN_clearslice (global_State *g, size_t bytes);

#endif
