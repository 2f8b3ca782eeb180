/* SPDX-License-Identifier: MIT */
/*
** The pacer: decides when collections start and how much work each slice does. It runs no
** collection itself.
**
** The cost model. While a program allocates A bytes and L bytes are live, collection costs:
**
**   time    Of minor collections: a fixed part for each nursery, and the marking of the survivors.
**           A larger nursery needs fewer collections; it saves time while it fits into the cache.
**           Of major collections: each marks L bytes. If one starts after every V bytes of
**           allocation, each allocated byte costs L / V bytes of marking.
**   memory  The nursery of each state, and the garbage among the old objects. If L does not shrink,
**           this garbage is at most the bytes tenured since the last major collection started.
**   pauses  The bytes that are marked at a time. In a heap that no cache holds, marking takes about
**           2 ns for a byte; in other heaps it takes less.
**
** The decisions follow from the costs:
**
**   nursery  It is as large as the cache, but no larger than the old objects need, so that small
**            states stay small. All states of a process share a fixed amount.
**   growth   A major collection starts when the garbage may be a fixed part of L. That bounds the
**            memory.
**   volume   A major collection also starts when V is a multiple of L. That bounds the time for a
**            heap that does not grow. The multiple grows while collections find little.
**   retained Objects with finalizers and entries of weak tables retain more than their own bytes.
**            Many new ones start a major collection after about L bytes of allocation. Many objects
**            with finalizers in a small heap shorten V up to eightfold.
**   slices   Each allocated byte pays for a fixed number of bytes of marking, so that a major
**            collection ends after a fixed part of L was allocated. A pause marks a bounded number
**            of bytes. The rest becomes work debt, up to a part of L; if the debt would exceed
**            that, the pause is longer.
**
** Each constant of pace.c belongs to one of these terms.
*/
#ifndef luaN_pace_h
#define luaN_pace_h

/* Cost of one visit of memory that is rarely in the cache, as the number of bytes whose marking
   takes as long. Visits of these elements count: entries of lists, slots and CallInfos of deep
   stacks, buckets of the string table, threads, objects queued for their finalizers, slots of weak
   tables. */
#define LUAN_VISIT	48u

/* Slices do their work in parts of LUAN_SLICE bytes of marking, or LUAN_ATONCE visits (LUAN_VISIT).
   Some work of the atomic step has the same limits. With smaller parts, a slice exceeds its budget
   by less and makes more calls. */
#define LUAN_SLICE	((size_t)128 * 1024)
#define LUAN_ATONCE	2048u

/* luaN_countstates returns the number of Lua states of this process. luaN_addstates adds n, 1 or
   -1, to that number. */
LUAI_FUNC unsigned luaN_countstates (void);
LUAI_FUNC void luaN_addstates (int n);

/* Adapts the upper bound of the nursery after a minor collection in which 'bytes' of the nursery
   have survived. If that is a large part of the nursery, the bound may be doubled; if it is a
   small part, one earlier doubling is undone (WIDER_MOST in pace.c). */
LUAI_FUNC void luaN_outlived (luaN_Gc *c, size_t bytes);

/* Starts a nursery: computes its size in bytes, and sets GCdebt to minus that size, so that the
   next minor collection is due when GCdebt is above 0. */
LUAI_FUNC void luaN_newnursery (global_State *g);

/* Returns the bytes that have counted for the start of minor collections so far, in all
   nurseries of the state. A vector that was moved counts with its whole new size, a large leaf
   object (long string or userdata) perhaps with less than its size (pace.textroom). Sets
   '*planned' to the sum of the planned sizes of the nurseries, or of the used part if a nursery
   was not used up. Neither number includes the bytes allocated since the last luaN_flush. */
LUAI_FUNC uint64_t luaN_charged (global_State *g, uint64_t *planned);

/* Returns the bytes that a slice of a major collection must mark because the program has allocated
   'bytes' of memory since the last slice. */
LUAI_FUNC size_t luaN_markbudget (global_State *g, size_t bytes);

/* Returns the number of bytes that this pause must mark: 'work' plus the bytes that earlier
   pauses have left undone (the work debt), up to a bound. The bytes above the bound become the
   new work debt. If the new work debt would exceed its limit, this pause must also mark the
   excess. */
LUAI_FUNC size_t luaN_pay (luaN_Gc *c, size_t work);

/* Returns upstream's step size, 2^gcstepsize bytes. An explicit step ("step" of collectgarbage)
   represents this number of bytes in addition to its argument. */
LUAI_FUNC size_t luaN_stepsize (global_State *g);

/* Returns 1 if a cycle (major collection) of upstream's incremental mode runs or is due.
   Explicit steps count as allocation in this test. Always returns 1 if the program has set the
   generational mode, even if LUA_GC has set the other mode. */
LUAI_FUNC int luaN_cycledue (global_State *g);

/* Returns 1 if a major collection is due. */
LUAI_FUNC int luaN_majordue (global_State *g);

/* Records whether weak tables have received many entries, so that the collection must do more
   work in each slice (pace.hurried). To be called when a major collection starts. */
LUAI_FUNC void luaN_cyclebegins (luaN_Gc *c);

/* Adapts the back-off pace.patience, after a major collection in slices that has found 'dead'
   bytes of old objects dead. The back-off determines after how much allocation the next major
   collection starts if the heap does not grow: after more if 'dead' is small. */
LUAI_FUNC void luaN_reclaimed (global_State *g, l_mem dead);

/* Records that a major collection has ended, and computes when the next one is due. */
LUAI_FUNC void luaN_cycleended (global_State *g);

/* Computes when the next major collection is due, from the mode, its parameters, and the bytes that
   were live when the last one ended. */
LUAI_FUNC void luaN_setpace (global_State *g);

#endif
