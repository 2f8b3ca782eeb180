/* SPDX-License-Identifier: MIT */
/*
** Weak tables, looked at in slices ahead of the atomic step of a major collection,
** so that what is left to it are the entries that may be dead.
**
** When a slice of marking has left nothing to mark, the big tables that were met are
** gone through: what an entry holds is marked (the key of a weak value, the value of
** a key that is alive), and an entry with a weak key or value that has not been
** reached is doubtful: it is listed, as table and slot. The doubtful are looked at
** again as long as a good part of them is found alive. A table that was looked at is
** LUAN_SCANNED (G9); what is stored in it from then on comes by the barriers, whose
** slots are listed when they are doubtful. A table that gets other vectors, or is
** remembered as a whole, is looked at once more.
**
** The atomic step opens, and clears, what is in the list. All entries of a dead
** object go in the same pause: a program that finds it in one table finds it in all.
*/
#ifndef luaN_ahead_h
#define luaN_ahead_h

#include "lstate.h"

/* A slice has left nothing to mark: a slice of the weak tables that were met. Returns
   whether there are no more of these, and there is still nothing to mark. */
LUAI_FUNC int luaN_lookahead (global_State *g, size_t bytes);

/* The atomic step: those with weak keys alone whose key is alive leave the list, and their
   values are marked, with all that these refer to; returns how many they were. Those whose
   values are dead are removed, then (keys) those whose keys are, which nothing may have
   been marked since luaN_resolvedoubtful was called. */
LUAI_FUNC size_t luaN_resolvedoubtful (global_State *g);
LUAI_FUNC void luaN_cleardoubtful (global_State *g, int keys);

#endif
