/* SPDX-License-Identifier: MIT */
/*
** Visits large weak tables in slices before the atomic step of a major collection. So that step
** visits only the entries whose weak key or value was not marked before it (undecided entries).
**
** Visits. When marking has no other work, slices visit the weak tables of at least MIN_SLOTS slots
** that marking has reached. They mark the objects that an entry holds strongly: a strong key; a
** strong value if the key is marked. An entry whose weak key or value is not marked yet is
** undecided: marking may still reach the key or value. The slot of the entry is listed, after its
** table, in weak.doubtful[LUAN_DOUBTKEYS] if the weak key is not marked, and in
** weak.doubtful[LUAN_DOUBTVALUES] if the weak value is not marked. There are two lists because the
** atomic step needs each at a different time. A table whose slots were all visited has the flag
** LUAN_SCANNED (G9: its undecided entries are listed or remembered).
**
** Passes. When the value of one entry is marked, that may mark the keys or values of other entries.
** So slices visit both lists again (a pass), as long as the previous pass has found an object to
** mark for enough of the entries (MIN_RESOLVED_PART).
**
** Changes. If the program stores into a slot that slices have visited, the slot enters the
** remembered set. When it leaves that set and is undecided, it is added to both lists (luaN_doubt).
** A table that gets other vectors, or is remembered as a whole, is visited once more
** (luaN_lookonce).
**
** Tombstones. If many undecided values are left, slices tombstone them: the slots look empty, and
** keep the addresses of their objects (hidden.h). Metamethods and values in the registry are exempt
** (mayhide). The atomic step decides which objects are dead. Then slices clear the tombstoned slots
** of dead objects and restore the others. After that, dead objects with finalizers are found and
** queued, and another atomic step follows. The sweep starts with the entries whose keys are dead.
** So for the program all entries of a dead object disappear in the same pause: an object that it
** finds in one table it finds in all. There is one exception. If the program traverses a table with
** weak keys between the two atomic steps, it may find a key, and so resurrect it, although the
** entries that had this object as a weak value have disappeared already.
**
** Log. Old objects that are marked during or after the last pass over the list of undecided keys
** are logged, that is, appended to that list. The atomic step then looks up only the logged objects
** as keys in the tables, and visits only the slots that were listed after that pass. If too many
** objects are logged, or memory is short, the atomic step visits all undecided keys once more.
** (Objects that were young are not logged, because the list contains only old keys.)
*/
#ifndef luaN_ahead_h
#define luaN_ahead_h

#include "lstate.h"

#include "chase.h"


/* Visits entries of the weak tables that the major collection has reached, up to a cost of about
   'bytes' of marking. Returns 1 if these tables need no more visits and the mark stack mark.old
   is empty. Returns 0 if 'bytes' were used up, or if marking must continue with the objects on
   mark.old. To be called when nothing else is left to mark. */
LUAI_FUNC int luaN_lookahead (global_State *g, size_t bytes);

/* Makes slices visit again all listed entries whose weak key or value was not marked at the last
   visit, from the start of the lists (a pass). */
LUAI_FUNC void luaN_begindoubting (luaN_Weak *w);

/*
** Parts of the atomic step. An entry is undecided if its weak key or value was not marked when
** slices visited it.
**   - luaN_resolvedoubtful marks the strong values of undecided entries whose keys are marked
**     now, with everything that the values refer to. It returns 1 if it has marked a value, or
**     if more may have to be marked because the log of newly marked keys (see the head) was too
**     long.
**   - luaN_followdoubtful is called in that second case. It adds the entries with undecided keys
**     and strong values to a chase: a hash table from keys to entries, by which the value of an
**     entry is marked when its key is reached (chase.h).
**   - luaN_cleardoubtful empties the listed slots whose values are dead and not tombstoned
**     (hidden.h).
**   - luaN_decide sets weak.decided: every object in a tombstoned slot that is not marked is
**     dead from now on. It returns 1 if slices must restore or clear tombstoned slots. It
**     returns 0 if there is none, or if weak.decided was set before.
*/
LUAI_FUNC int luaN_resolvedoubtful (global_State *g);
LUAI_FUNC void luaN_followdoubtful (global_State *g, luaN_Chase *x);
LUAI_FUNC void luaN_cleardoubtful (global_State *g);
LUAI_FUNC int luaN_decide (global_State *g);

/* Remove, in slices, the entries with dead keys from the weak tables that the major collection
   has reached (weak.inmajor). luaN_beginclearing prepares that. luaN_clearslice runs a slice of
   about 'bytes' of marking cost and returns the cost. It must be called until weak.inmajor is
   empty. */
LUAI_FUNC void luaN_beginclearing (global_State *g);
LUAI_FUNC size_t luaN_clearslice (global_State *g, size_t bytes);

#endif
