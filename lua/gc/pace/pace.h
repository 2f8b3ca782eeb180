/* SPDX-License-Identifier: MIT */
/*
** The pacer: decides when collections start and how much work each slice does.
**
** The cost model. If L bytes are live and a major collection starts every V bytes of allocation:
**
**   time    Minor collections: a fixed part for each nursery, and the marking of survivors. A
**           larger nursery saves time while it fits into the cache. Major collections: each marks
**           L bytes, so that each allocated byte costs L / V bytes of marking.
**   memory  The nurseries of all states, and the garbage among old objects.
**   pauses  The bytes that are marked at a time: about 2 ns a byte in a heap that no cache holds.
**
** The decisions follow from the costs:
**
**   nursery  About as many bytes as the old objects have, at most about the size of a core's
**            cache. All states of a process share a fixed number of bytes.
**   growth   A major collection starts when the heap has grown by a fixed part of L. This bounds
**            the memory, even if all of the growth is garbage.
**   volume   A major collection also starts when V has reached a multiple of L. This bounds the
**            time for a heap that does not grow. The multiple is raised while major collections
**            find little garbage.
**   retained Objects with finalizers and entries of weak tables retain more than their own bytes.
**            Many new ones start a major collection earlier.
**   slices   Each allocated byte pays for a fixed number of bytes of marking, so that a major
**            collection ends. A pause marks a bounded number of bytes, and leaves the rest to
**            later pauses, as work debt. This debt is at most a part of L: instead of exceeding
**            it, the pause is longer.
**
** Each constant of pace.c belongs to one of these costs or decisions.
*/
#pragma once

/* Cost of one visit of an entry whose memory is rarely cached (unit: the time to mark one byte).
   Such entries are elements of lists, entries of weak tables, slots and CallInfos of deep stacks,
   and buckets of the string table. */
#define LUAN_VISIT	48u

/* A slice of a major collection works in parts of LUAN_SLICE bytes of marking, or of LUAN_ATONCE
   visits of entries. With smaller parts, a slice exceeds its budget by less, but more calls are
   needed. */
#define LUAN_SLICE	((size_t)128 * 1024)
#define LUAN_ATONCE	2048u

/* Returns the number of Lua states of the process. */
LUAI_FUNC unsigned luaN_countstates (void);

/* Adds n to the number of Lua states of the process. */
LUAI_FUNC void luaN_addstates (int n);

/* Adapts the largest size of the nursery after a minor collection in which 'bytes' of the nursery
   have survived: doubles this size if at least half of the nursery has survived, undoes a doubling
   if less than a quarter has. (The comment of WIDER_MOST in pace.c lists further conditions.) */
LUAI_FUNC void luaN_outlived (luaN_Gc *c, size_t bytes);

/* Starts a nursery: computes its size, and sets GCdebt to minus that size. A minor collection is
   due when GCdebt is above 0. */
LUAI_FUNC void luaN_newnursery (global_State *g);

/* Returns the bytes charged to all nurseries in the life of the state: the bytes by which
   allocation has raised GCdebt. Sets *planned to a sum with one number for each nursery: the
   smaller of its size, as computed at its start, and the bytes charged to it. (Both are fields of
   luaN_Memory in seam.h.) */
LUAI_FUNC uint64_t luaN_charged (global_State *g, uint64_t *planned);

/* Returns the bytes that the next slice of a major collection must mark, because 'bytes' bytes were
   allocated since the last slice. */
LUAI_FUNC size_t luaN_markbudget (global_State *g, size_t bytes);

/* Returns the number of bytes that this pause must mark. work: bytes whose marking has become due
   since the last pause. The work debt (pace.owed), which earlier pauses have left, is added to
   them. A pause marks the sum up to a bound; the rest becomes the new debt. The debt has a limit,
   too. If the rest exceeds this limit, the pause also marks the bytes above the limit. */
LUAI_FUNC size_t luaN_pay (luaN_Gc *c, size_t work);

/* Returns upstream's step size, 2^gcstepsize bytes. In the incremental mode, an explicit step does
   the work for this number of bytes of allocation, in addition to the bytes of its argument. */
LUAI_FUNC size_t luaN_stepsize (global_State *g);

/* Returns 1 if an explicit step must do work now. In the generational mode of the program, always
   returns 1. In the incremental mode, returns 1 if a cycle (major collection) runs or is due. A
   cycle is due when enough bytes were allocated since the last one; the sizes of explicit steps
   count as allocated. */
LUAI_FUNC int luaN_cycledue (global_State *g);

/* Returns 1 if a major collection is due. */
LUAI_FUNC int luaN_majordue (global_State *g);

/* To be called when a major collection starts. If weak tables have received many entries, sets
   pace.hurried to 1, so that each slice of the collection does more work; otherwise to 0. */
LUAI_FUNC void luaN_cyclebegins (luaN_Gc *c);

/* To be called when a major collection in slices has found 'dead' bytes dead. Adapts the back-off
   (pace.patience): if these bytes are few and the heap does not grow, the next one starts later. */
LUAI_FUNC void luaN_reclaimed (global_State *g, l_mem dead);

/* Counts a major collection that has ended, and computes when the next major collection is due. */
LUAI_FUNC void luaN_cycleended (global_State *g);

/* Computes when the next major collection is due: from the mode, its parameters, and the live
   bytes. */
LUAI_FUNC void luaN_setpace (global_State *g);
