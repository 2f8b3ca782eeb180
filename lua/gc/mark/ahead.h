/* SPDX-License-Identifier: MIT */
/*
** Visits large weak tables in slices of a major collection before its atomic step (the pause at the
** end of marking), so that the atomic step visits only undecided entries: those whose weak key or
** value was not marked when a slice visited them.
**
** Visits. When nothing else is left to mark, slices visit the weak tables that marking has reached,
** if the tables have at least MIN_SLOTS slots. The slices mark strong keys, and strong values of
** marked keys. The table and the slot of an undecided entry are appended to the list of undecided
** keys (weak.doubtful[LUAN_DOUBTKEYS]), of undecided values ([LUAN_DOUBTVALUES]), or to both. A
** table whose slots were all visited gets the flag LUAN_SCANNED.
**
** Passes. Marking the value of one entry may mark keys and values of other entries. So slices visit
** both lists again, as long as a visit finds enough to mark.
**
** Changes. If the program stores into a slot, the slot is remembered. If its entry is undecided
** when the slot leaves the remembered set, the slot is listed again (luaN_doubt). A table that was
** resized, or is in the remembered set with all its slots, is visited once more (luaN_lookonce).
**
** Tombstones. If many undecided values are left, slices tombstone them: the slots look empty, but
** keep the addresses of their objects (hidden.h). The atomic step then decides which objects are
** dead. Slices then clear the slots of dead objects and restore the other slots, dead objects with
** finalizers are queued, and a second atomic step ends the marking. So for the program all entries
** with a dead value disappear in one pause. One exception: if the program traverses a table with
** weak keys between the two atomic steps, it may get an object as a key (and so resurrect it)
** although the entries with this object as their value have disappeared.
**
** Log. An old object that is marked after the last visit of the undecided keys is appended to their
** list. The atomic step looks up only these logged objects in the tables, unless the log is too
** long. Young objects need no log, because the list contains only entries with old keys.
*/
#pragma once

#include "chase.h"


/* Visits slot i of the weak table t: marks a strong key, and a strong value unless the slot's weak
   key is unmarked. Returns a bit set: bit number LUAN_DOUBTKEYS if the slot's weak key is not
   marked, bit number LUAN_DOUBTVALUES if its weak value is not. Each bit number is also the index
   of the list in weak.doubtful for such slots. Makes the key of an empty node dead.
   kind   which references of t are weak (luaN_weakness)
   asize  number of slots of the array part */
LUAI_FUNC unsigned luaN_visitslot (global_State *g, Table *t, int kind, unsigned asize, unsigned i);

/* Visits the weak tables that the major collection has reached, up to a cost of about 'bytes'
   (unit: the time to mark one byte). To be called when nothing else is left to mark. Returns 1 if
   the tables need no more visits now. Returns 0 if the cost has reached 'bytes', or if objects on
   mark.old must be traversed first. */
LUAI_FUNC int luaN_lookahead (global_State *g, size_t bytes);

/* Starts a pass: slices will visit all entries of the two lists weak.doubtful (entries with
   unmarked weak keys, entries with unmarked weak values) once more. */
LUAI_FUNC void luaN_begindoubting (luaN_Weak *w);

/*
** To be called in the atomic step. Slices have listed entries whose weak keys were unmarked. If the
** key of a listed entry is marked now, marks its value with everything that the value refers to.
** Finds these entries by the log, the list of objects marked since the last visit of the entries.
** If there is no log, visits all listed entries and starts one.
**
** Returns 1 if it has marked a value, or if it may have missed entries, because the log became too
** long; else 0.
*/
LUAI_FUNC int luaN_resolvedoubtful (global_State *g);

/* Adds the entries with unmarked weak keys that slices have listed (weak.doubtful) to the hash
   table x, which finds an entry by its key (chase.h). Used if luaN_resolvedoubtful may have missed
   entries whose keys are marked now. */
LUAI_FUNC void luaN_followdoubtful (global_State *g, luaN_Chase *x);

/* Clears the listed slots (weak.doubtful[LUAN_DOUBTVALUES]) whose weak values are dead. Skips
   tombstoned values, whose slots look empty already (hidden.h): slices clear them later. */
LUAI_FUNC void luaN_cleardoubtful (global_State *g);

/* If weak values are tombstoned (their slots only look empty, hidden.h) and weak.decided is 0, sets
   weak.decided and returns 1: from now on, a tombstoned value counts as dead if it is not marked,
   and slices must restore or clear all of them. Otherwise does nothing and returns 0. */
LUAI_FUNC int luaN_decide (global_State *g);

/* Starts the removal of entries with dead keys from weak tables, for luaN_clearslice. */
LUAI_FUNC void luaN_beginclearing (global_State *g);

/* Removes entries with dead keys from weak tables, up to a cost of about 'bytes' (unit: the time to
   mark one byte), and returns the cost. To be called until weak.inmajor is empty. */
LUAI_FUNC size_t luaN_clearslice (global_State *g, size_t bytes);
