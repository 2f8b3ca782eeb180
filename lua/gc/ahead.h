/* SPDX-License-Identifier: MIT */
/*
** Weak tables, looked at in slices ahead of the atomic step of a major collection,
** so that what is left to it are the entries that may be dead.
**
** Whenever marking runs out of work, slices go through the big tables that were
** discovered. They mark what an entry holds strongly (the key of a weak value, the value
** of a key that is alive). An entry with a weak key or value that has not been reached is
** doubtful: its slot is listed, behind its table, with those of ephemeron tables or with those
** of weak values, for the atomic step goes through each list when it needs it. The doubtful are
** looked at again as long as that marks something of a good part of them, by which others may
** turn out to be alive. A table that was gone through is LUAN_SCANNED (G9); later stores into it
** pass the barriers, which list their slots if these are doubtful. A table that gets other
** vectors, or is remembered as a whole, is gone through once more.
**
** What is left of the doubtful values then is hidden (hidden.h), and the atomic step decides who is
** dead. Slices clear the values of the dead, before those that have finalizers are selected; a
** second atomic step follows. The sweep begins with the entries whose keys are dead. For a
** program all entries of a dead object go in the same pause: if it finds it in one table, it
** finds it in all. Only a traversal of weak keys may bring back, between the two atomic steps, what
** is gone from values already, or will be shown there.
**
** What is marked while the doubtful keys are looked at again, and after that, is logged in their list:
** the atomic step asks the tables for these keys only. (What was young is none of them.) If
** that gets to be too much, or memory is short, all are looked at once more.
*/
#ifndef luaN_ahead_h
#define luaN_ahead_h

#include "lstate.h"

#include "chase.h"


/* A slice through the discovered weak tables, when there is nothing else to mark. Returns 1
   when it is through with all of them and there is still nothing to mark. */
LUAI_FUNC int luaN_lookahead (global_State *g, size_t bytes);

/* The atomic step. 'resolve': entries of ephemeron tables whose key is alive leave the list;
   their values are marked, with all that these refer to. Returns whether there were any, or there
   may be more (weak.logging has ended).
   'follow': the same entries are given to a chase, if too much was marked to be logged. 'clear': removes the entries whose values are
   dead and not hidden. 'decide': what is hidden is dead unless it is marked. Returns 1 when slices
   are to go through that. */
LUAI_FUNC int luaN_resolvedoubtful (global_State *g);
LUAI_FUNC void luaN_followdoubtful (global_State *g, luaN_Chase *x);
LUAI_FUNC void luaN_cleardoubtful (global_State *g);
LUAI_FUNC int luaN_decide (global_State *g);

/* The sweep: begins; whether there are entries of dead keys to remove; removes some of them. Returns the
   cost. */
LUAI_FUNC void luaN_beginclearing (global_State *g);
LUAI_FUNC int luaN_hasdoubtful (global_State *g);
LUAI_FUNC size_t luaN_clearslice (global_State *g, size_t bytes);

#endif
