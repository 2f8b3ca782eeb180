/* SPDX-License-Identifier: MIT */
/*
** The collector's interface for the core (lgc.h includes this header last), and the design of the
** collector. A source file that includes lgc.h has lstate.h, state.h, core.h, limit.h and all
** headers that these include; it does not include them again.
**
** Contents: 1 heap layout, 2 generations and epochs, 3 allocation and the sampling check, 4 write
** barrier and remembered set, 5 minor collection, 6 major collection, 7 weak tables and
** ephemerons, 8 finalizers, 9 stacks and coroutines, 10 external memory, 11 pacing, 12 shortage
** of memory, 13 threads, signals and fork, 14 invariants. doc/glossary.md defines the terms;
** doc/exercises.md has questions with answers.
**
** 1 Heap layout
**
** Objects never move. In this file, lua_Alloc means the state's allocation function. Each block of
** memory that the core allocates is in exactly one of two places (H2 of heap.h): in lines, or by
** itself in memory from lua_Alloc.
**
** A line is 64 bytes. A block is 32 KiB of lines; its head has one mark byte for each line. Blocks
** are aligned to 32 KiB, so that an address leads to its block by a mask. A chunk contains one or
** more blocks and comes from lua_Alloc; if lua_Alloc is luaN_alloc, the function of luaL_newstate,
** chunks come from mmap instead (chunks.c, mapped.c).
**
** A heap has small blocks while it is small (less than 1 MiB, or 128 KiB if chunks are mapped) or
** when it is short of memory. A small block has any length up to 32 KiB and any address, and is
** found by a search (H7). It is a chunk of its own, always from lua_Alloc.
**
** A line with no mark is free (H1). A run of free lines is a hole, and the allocator bumps a
** pointer through one hole after another. Objects in lines are not freed explicitly: a collection
** marks the lines of everything that it reaches, and the allocator reuses the lines without a mark.
** (Exception: when the core replaces a vector, the lines that only this vector fills become free at
** once. If they are in a hole taken since the last minor collection, the next minor collection
** frees them, together with the other unmarked lines of that hole.) This is the mark-region heap of
** Immix (Blackburn and McKinley, PLDI 2008) without its copying, and with sticky marks: a minor
** collection keeps the marks of the old objects.
**
** Three kinds of memory are not freed in this way:
**
**   - A large allocation (more than LUAN_LARGE bytes: 8 KiB) comes from lua_Alloc. The object that
**     it belongs to, its owner, is in a list: a table in lists.tables, for example. The sweep of
**     that list frees the memory when the owner is dead (sweep.c).
**   - A large leaf object is a long string or a userdata of more than LUAN_LARGETEXT bytes (512).
**     It is in lists.large. With more than 8,000 bytes (LUAN_LINETEXT) it comes from lua_Alloc;
**     otherwise it has lines of its own, which marking does not mark. If its first collection finds
**     it dead, its lines become free with the other unmarked lines. Otherwise the sweep of the list
**     gives its lines the mark LUAN_HELD, which no sweep of lines removes. When a later sweep of
**     the list finds the object dead, it frees the lines (luaN_freetext).
**   - Explicit memory comes from lua_Alloc and is freed by the core's own code: prototypes and
**     their vectors, buffers, growth buffers, the string table.
**
** 2 Generations and epochs
**
** Two bits of 'marked' are the epoch of an object. Epoch 0 is young: allocated since the last minor
** collection, or left young by it (below). Epochs 1 to 3 are old. A collection tenures an object,
** that is, makes it old, by setting its epoch; the object stays at its address.
**
** While no major collection runs, all live old objects have the epoch heap.gc.mark.epoch. A major
** collection takes the next epoch and gives it to each object that it reaches. When it has marked
** everything, an old object with the previous epoch is dead. A line has one mark bit for each
** epoch, so that old and new marks exist side by side while the major collection runs. There are
** three old epochs because a full collection may start while a major collection is marking: two
** epochs are in use then, and the full collection needs a third one.
**
** Most objects are tenured by the first collection that they survive. Objects of three kinds often
** die soon and retain many bytes, or resources outside the heap. They may stay young longer,
** because only a major collection frees old objects (ageing.h, waiting.h):
**
**   - Live large leaf objects are left young by up to two minor collections.
**   - Live small userdata with finalizers are left young by at most one.
**   - Young userdata with finalizers that a minor collection finds dead are left young until their
**     finalizer has run.
**
** The survivor age of a large leaf object is the number of collections that have left it young, at
** most 2. A small userdata has the age 2 after the first such collection, because age 2 means that
** the next collection tenures the object. The next minor collection must reach a live object that
** was left young. So its holder, the object or slot that refers to it, is added to the remembered
** set (section 4), unless the holder is the main thread, a root. If the holder cannot be added, for
** example a weak table, the object is tenured. When a major collection starts, all objects of the
** three kinds are tenured, and while it runs none is left young (G10, G11).
**
** 3 Allocation and the sampling check
**
** The nursery is the memory allocated since the last collection: parts of holes. A sampler is a set
** of functions of a client, such as a profiler. One of them takes a sample of the allocation that
** reaches the sample point, and returns the distance to the next sample point in bytes.
**
** An allocation rounds the size up to 8 bytes, adds it to heap.free, the address of the next free
** byte, and compares the sum with heap.limit (luaN_bump of nursery.h). If the sum is not above the
** limit, the allocation is done: no account is updated, and these instructions are the same with
** and without a sampler. The limit is the lowest of four addresses:
**
**   - the end of the current hole;
**   - the last address before the sample point (S1 of nursery.h);
**   - the last address at which GCdebt is not above 0, so that no collection is due (N3). A new
**     nursery sets GCdebt to minus its size (section 11), and allocation raises GCdebt;
**   - in a state with limits of allocated or live bytes, the address at which the first of these
**     limits is reached (LM1 of limit.h).
**
** If the sum is above the limit, or the size is above LUAN_LARGE (LUAN_LARGETEXT for a long string
** or userdata), luaN_slow allocates:
**
**   1. It refuses an allocation that would exceed a limit of the state (LM2).
**   2. It takes memory from the current hole, the next hole, the overflow region (a separate hole,
**      for sizes above 256 that do not fit into the current one) or lua_Alloc.
**   3. It adds the bytes since the last update to the accounts (N2).
**   4. It calls the sampler if the sample point was reached, and sets the limit again.
**
** Without a sampler the sample point is LUAN_INFINITY bytes away. While a client counts allocations
** (luaN_setcounts), the limit is heap.free, so that every allocation is slow. The scheme is that of
** Jung and Bolz-Tereick, "Low Overhead Allocation Sampling in a Garbage Collected Virtual Machine"
** (2026).
**
** An allocation runs no collection except an emergency collection (section 12). Minor collections
** and slices of major ones run in explicit steps, and at safepoints: where the core calls
** luaC_checkGC, if GCdebt is above 0.
**
** 4 Write barrier and remembered set
**
** A store into object p of a reference to object o needs a barrier if p is old and o does not
** have p's epoch. The same test serves both kinds of collection. If o is young, a minor collection
** would not find o through p. If o is old with another epoch, a major collection is marking, which
** could miss o if p is marked and o is not. (The test also passes if only o is marked, which is
** harmless.)
**
** The barrier tests the bit LUAN_UNLOGGED of p first. If it is clear, p is young or already
** remembered as a whole, and nothing is to be done. If it is set, the barrier compares the epochs.
** Exception: if p is a huge table (LUAN_VAST, from 4,096 slots on), the barrier remembers the slot
** whatever the epoch of o, because reading the header of o would be a cache miss. refine.c reads
** the headers of many such objects together later, with prefetching.
**
** A slot of a table is an element of its array or the value of a node. The remembered set has four
** parts (remset.h):
**
**   - remset.objects: objects to be traversed as a whole. A store into a table of up to
**     LUAN_SMALLTABLE slots (32) remembers the table.
**   - remset.slots: pairs of a table and a slot. A store into a table of more slots remembers the
**     slot.
**   - remset.whole: tables to be traversed as a whole that have had a large vector. Such a table is
**     added, for example, after as many remembered stores as it has slots. If the tables of the
**     list have many slots together, safepoints traverse them in slices.
**   - remset.dirty: old threads whose stack may have changed (section 9). A minor collection moves
**     them to remset.objects when it starts.
**
** If a list becomes long, refine.c shortens it before the next minor collection. It tenures the
** young objects to which an entry refers; then the entry is not needed and is removed. If an object
** tenured in this way may itself refer to young objects, it is remembered. (Threads, open upvalues
** and weak tables stay in the list.) A list that cannot grow is shortened, too. If it is still full
** then, remset.overflow is set and the next collection is a full one, which needs no remembered
** set. So a barrier never fails, never raises an error and never collects.
**
** A store that lacks its barrier has this effect: if only the old object refers to the young one,
** the next minor collection does not mark the young object, and its lines are reused while the
** reference still exists. To find such a store, call luaN_check (verify.c): it reports G1 from the
** store on, or G3 if the stored object is old and a major collection is marking. The debug build
** runs the verifier after each collection; if the old objects have more than 4 MiB, only after
** every sixteenth collection. After a collection the error is H1: a reachable object is in free
** lines.
**
** 5 Minor collection
**
** luaN_minor marks the young objects that are reachable, and treats every old object as alive.
** Steps:
**
**   1. Retire the nursery: give up the current hole and the overflow region, update the accounts.
**   2. Mark from the roots: the main thread, the running thread, the registry, the metatables of
**      the basic types, the pinned closure (one that a C function of the core uses, luaN_pin), the
**      objects of luaC_fix (luaN_markroots).
**   3. Mark from the remembered set, and empty it (luaN_markremembered).
**   4. Keep young userdata that are pending finalization (luaN_keepwaiting). In the incremental
**      mode, mark all young objects with finalizers.
**   5. Termination (luaN_terminate): resolve ephemerons, clear dead weak values, queue dead
**      objects that have finalizers and mark the objects that they refer to, clear dead weak
**      keys.
**   6. Let the sampler find out which sampled objects are dead (luaN_atomic). At this time all
**      marks are final, and dead objects are still whole.
**   7. Sweep the young entries of the lists of sweep.c, and the short strings made since the last
**      collection.
**   8. Free the unmarked lines of the holes that the allocator has taken (luaN_recycle).
**
** The cost is that of the survivors, the roots, the remembered set and the listed young objects.
** A dead young object costs nothing if it is in lines and in no list; a listed one, such as a
** table with a large vector, costs one visit of the sweep.
**
** While a major collection marks, mark.epoch is the new epoch, and a minor collection also marks
** for the major one: if it reaches an old object that is not marked yet, it sets the object's epoch
** and pushes the object on mark.old, the mark stack of the major collection. So the remembered set
** serves both collections and the major collection has no barrier of its own (the scheme of PyPy's
** incminimark).
**
** 6 Major collection
**
** A major collection runs in slices, each right after a minor collection in the same pause (step in
** collect.c). While a major collection runs, a minor collection leaves no object young and empties
** the remembered set. So in a slice no object is young, and at most the running thread is
** remembered. gcstate contains the phase:
**
**   - GCSpropagate: slices traverse the objects on mark.old; they traverse large tables and deep
**     stacks in parts. When mark.old is empty, they visit weak tables (ahead.h). Then follows an
**     atomic step (GCSatomic): the termination of section 5, in one pause. An atomic step does not
**     end the marking if it leaves work for slices: tombstones (section 7), or many objects that
**     only dead objects with finalizers retain. Then GCSpropagate continues, and another atomic
**     step follows.
**   - GCSselect, after an atomic step, only if more than LUAN_ATONCE objects (2,048) have
**     finalizers: slices find the dead ones and queue them. GCSpropagate follows again, to mark the
**     objects to which these refer.
**   - GCSswpallgc: removes weak entries with dead keys, then dead strings from the string table.
**   - GCSswpfinobj: sweeps the lists of sweep.c.
**   - GCSswpend: removes the marks of the previous epoch from all lines.
**   - GCSstacks: threads return unused stack memory.
**
** Marking comes to an end although the program continues to allocate. An object that is tenured
** during marking adds no work for slices: it gets the new epoch, and the minor collection that
** tenures it visits its references. A slice is planned to mark at least as many bytes as were
** allocated since the last slice (luaN_markbudget). luaN_pay limits how much of this work one pause
** does and leaves the rest to later pauses.
**
** After the last atomic step, objects of the previous epoch are dead (isdead). They stay whole
** until they are swept, and the program can reach one of them only if it is a short string, through
** the string table: luaN_resurrect marks the string again.
**
** luaN_full does all of this in one pause, for collectgarbage(), an emergency, an overdue
** collection or remset.overflow. It abandons a major collection that is running.
**
** Marking cannot fail. If a mark stack is full and cannot grow, the object becomes pending: it gets
** a bit in its block or, if it is in lists.large or is the main thread, the bit LUAN_PENDING in its
** header. When the stacks are empty, a search for these bits finds the pending objects, and they
** are traversed (mark.c). ("Pending finalization", section 8, is another state.)
**
** 7 Weak tables and ephemerons
**
** When marking reaches a weak table, it marks the table and its vectors, adds the table to a list
** of weak tables, with the kind of its weak references, and leaves the entries to the termination.
** (If there is no memory for the list, the table counts as strong.) Strings count as values, not as
** objects: a weak reference to a string keeps the string alive, so that no entry is removed because
** of a string.
**
** An entry with a weak key and a strong value is an ephemeron: the entry keeps its value alive only
** if its key is alive. Termination visits each ephemeron table once and puts the entries whose keys
** are not marked into a list of unresolved entries. Passes over this list follow until nothing
** changes; if they do not end soon, a hash table from keys to entries resolves the rest in linear
** time (chase.h).
**
** In a major collection, slices visit the large weak tables before the atomic step. They mark the
** values of ephemerons whose keys are marked. An entry whose weak key or value is not marked yet is
** undecided: its slot is added to a list in weak.doubtful (G9).
**
** If many values are undecided, slices tombstone them (hidden.h), except metamethods and values in
** the registry. A tombstoned slot looks empty to fast paths and keeps the address of its object. A
** slow path that reads the slot before the atomic step restores the value. The atomic step visits
** no tombstoned slot; it sets weak.decided. From then on, a read restores the value only if its
** object is marked; otherwise it clears the slot. Slices do the same with all tombstoned slots, and
** then another atomic step follows.
**
** So all weak values that refer to a dead object disappear in the same pause, whatever their
** number. Entries with dead keys need no tombstone, because the program has no reference with which
** to look them up. Slices remove these entries after the marking. If a traversal (next) or an
** insertion reaches one of them earlier, it removes the entry.
**
** 8 Finalizers
**
** An object that gets a metatable with __gc is added to finalize.finalizable. At that time capacity
** for it is reserved in finalize.tobefinalized, so that queueing it later cannot fail (G4). A
** collection that finds such objects dead does three things, in this order:
**
**   1. It clears the weak values that refer to these objects.
**   2. It moves the objects to tobefinalized, newest first, keeps them, and marks everything that
**      they refer to. Until its finalizer is called, such an object is pending finalization.
**   3. It removes the entries of weak tables whose keys are dead. (A major collection leaves that
**      to slices: section 7.)
**
** After the collection a batch of finalizers is called (luaN_callfinalizers), usually for about a
** millisecond at most. The others are called at safepoints before the next minor collection
** (luaN_defer). After collectgarbage(), and after the explicit step that ends a cycle of the
** incremental mode, all finalizers are called; after an emergency collection, none. Inside a
** finalizer only emergency collections run. In the incremental mode only major collections find
** finalizable objects dead, because programs take the call of a finalizer as a sign that a cycle
** has ended.
**
** 9 Stacks and coroutines
**
** A stack has no barrier. The main thread is a root. Every other old thread is either clean
** (LUAN_CLEAN), which means that its stack has not changed since a collection scanned it, or
** remembered (T1). The macro lua_lock, at the start of each function of the API that changes a
** stack, tests LUAN_CLEAN and links a clean thread into remset.dirty, inline.
**
** If a thread was scanned before, a minor collection scans only the part of its stack that may have
** changed. A scan goes from the running frame outwards, to lower addresses of the stack, and sets
** CIST_CLEAN in each frame. A new frame lacks the bit, and each event that may change slots below
** the function of a frame clears its bit (T2). So the next scan ends with the first frame that has
** the bit: below its function, only stores through open upvalues may have changed slots, and these
** stores have a barrier. After a scan all slots from 'top' on are nil (T3).
**
** The usable part of a stack, up to stack_last, may be shorter than the block of the stack (T4): a
** stack that was deep is shortened in place first, and moved to a smaller block later. A major
** collection scans a deep stack in slices, from the top to the bottom (luaN_threadslice).
**
** 10 External memory
**
** luaN_outside reports that a userdata owns n bytes outside the heap. The pacer counts these bytes
** as growth, and samples count them as allocated. If many external bytes are new, the next minor
** collection starts earlier (outside.c). When the dead userdata is swept, its external bytes are
** subtracted.
**
** 11 Pacing
**
** After each collection, luaN_newnursery computes the size of the next nursery and sets GCdebt to
** minus that size. A major collection is due (luaN_majordue) if the bytes in use or the footprint
** have grown, if enough has been allocated since the last one, or if many objects with finalizers
** or many entries of weak tables are new. The footprint is the reserved memory without empty
** blocks. luaN_markbudget returns the work for one slice; luaN_pay bounds the work of one pause and
** carries the rest as work debt (pace.c).
**
** In the generational mode the major multiplier bounds the growth of the heap between major
** collections. In the incremental mode the same collections run, but the program's pause determines
** when a major collection starts, and its step multiplier how much a step does. Until LUA_GC or the
** program sets a mode, a state collects as in the generational mode, but the program's pause bounds
** the growth and its step multiplier scales the work of slices. LUA_GC overrides the program's
** parameters (tuning.c).
**
** 12 Shortage of memory
**
** If lua_Alloc refuses memory, the allocator runs an emergency collection (luaN_emergency: a full
** collection that calls no finalizer and moves no stack) and tries again. If lua_Alloc refuses
** again, the allocation fails, and the core raises a memory error (or does without the memory, such
** as that of a larger string table). If no collection may run at that time, the allocation fails at
** once.
**
** Small blocks and longer lists of the collector are requested with luaN_askmore, because their
** refusal is no error: a collection frees memory, or the collector works without the longer list.
** If lua_Alloc refuses such a request, luaN_askmore records the sum of the reserved and the refused
** bytes (blocks.ceiling). Until a major collection ends, it refuses requests that would raise the
** reserved bytes to this sum, without calling lua_Alloc.
**
** A C function that only stores may run long without a safepoint. So the raw stores of the API call
** luaN_checkoverdue. It runs an emergency collection, which calls no finalizer, if GCdebt exceeds
** both LUAN_OVERDUE and the bytes of old objects, unless the collector is stopped.
**
** 13 Threads, signals and fork
**
** One OS thread at a time runs a state, as in upstream Lua. The collector starts no thread and
** waits for no lock. Data shared by all states of a process are counters with atomic operations and
** two caches of free memory: the last block of malloc's heap (giveback.c) and the spare mappings
** for chunks (mapped.c). Each cache has a flag that is taken by an atomic exchange; code that does
** not get it works without the cache: it allocates and frees, maps and unmaps directly. So a child
** process that was forked while another thread held the flag loses the cache and nothing else.
**
** A signal handler changes only heap.tick and a bit of 'hookmask' of a state (tick.h), never the
** collector's data, so a signal may arrive at any time during a collection. A time sample that is
** requested then is completed at the end of the collection (luaN_collected).
**
** 14 Invariants
**
** The verifier checks those that a walk over the heap can test. H1 to H8 are in heap.h, N1 to N3,
** S1 and S2 in nursery.h, LM1 and LM2 in limit.h, UO1 and UO2 in outside.h, GA1 to GA3 in
** growth.h, TK1 to TK6 in tick.h.
**
**   G1  For each reference from an old object to a young one, at least one of these holds:
**         - the old object is in remset.objects or remset.whole;
**         - the slot is in remset.slots;
**         - the old object is remset.refining, the table that refine.c traverses at present, and
**           the slot's index is at least remset.refined;
**         - the old object is a thread that is not clean (T1);
**         - the old object is a thread, and an open upvalue of the slot is in remset.objects;
**         - remset.overflow is set.
**       An open upvalue refers to a stack slot, into which the function of the frame stores without
**       a barrier. A minor collection finds the value when it scans the thread; but it may not
**       reach a young thread, while a closure still uses the upvalue. So an old open upvalue of a
**       young thread is in remset.objects, whatever it refers to.
**   G2  After a minor collection every reachable object is old, except objects with a survivor
**       age above 0 (G10) and userdata pending finalization (G11).
**   G3  While a major collection marks, an object with the current epoch refers to an old object
**       with another epoch only if the reference is remembered as in G1, or if the referring object
**       is yet to be traversed: it is on mark.young or mark.old, is pending, is mark.table or
**       mark.thread, or is a weak table in weak.inmajor (G6).
**   G4  Every object with FINALIZEDBIT is once in exactly one of two lists of luaN_Finalize:
**       'finalizable', or 'tobefinalized' from its death to the call of its finalizer. The first
**       finalizable.old entries are old objects or NULL (G7). tobefinalized has capacity for all
**       of 'finalizable'.
**   G5  Every reachable short string is in the string table exactly once. No string in the table is
**       in free lines.
**   G6  weak.inmajor, the list of the weak tables that slices of a major collection have reached,
**       contains exactly the tables whose bit LUAN_DISCOVERED is set, each once.
**   G7  While slices sweep the list with index sweep.list (luaN_listof), its entries from
**       sweep.kept to sweep.next - 1 are NULL. No other entry of the lists of sweep.c is NULL,
**       except entries of 'finalizable' that were queued and not swept yet.
**   G8  An old object has LUAN_UNLOGGED if and only if it is neither in remset.objects nor in
**       remset.whole; it is in them at most once. A young object never has the bit.
**   G9  The flag LUAN_SCANNED of a table in weak.inmajor is set when slices have visited all its
**       slots. An entry is undecided if its key or value is old and does not have the current
**       epoch. In a table with the flag, each undecided entry is in the list for keys,
**       weak.doubtful[LUAN_DOUBTKEYS], or in the list for values, weak.doubtful[LUAN_DOUBTVALUES],
**       or its slot is remembered as in G1. Both lists are empty if weak.inmajor is empty and no
**       major collection marks.
**   G10 A young large leaf object of survivor age 1 or 2 is in lists.large, at index
**       lists.large.old or higher. A young small userdata of survivor age 2 is in finalize.aged if
**       it was found alive, or in finalize.left (G11) if it was found dead; its lines have the mark
**       LUAN_HELD, which keeps them in use. While a major collection runs, no object has a survivor
**       age above 0. LUAN_MET, the bit of an object that the running minor collection has reached
**       and leaves young, is set only while a minor collection runs.
**   G11 finalize.left contains the userdata that are left young for their finalizers. The
**       finalizers of the first finalize.called entries were called; the next minor collection
**       removes these entries. The other entries are young and are in 'tobefinalized', in the same
**       order. The list is empty while a major collection runs.
**   G12 strings.seen is the number of short strings in the string table that have the current
**       epoch. While the string table is swept, strings.dead is the number of its dead strings;
**       after the sweep the table has no dead string.
**   G13 Tombstoned slots exist only while a major collection marks, and only in tables with
**       LUAN_SCANNED (G9). A tombstoned slot keeps its key, and its object is old.
**   T1  An old thread has LUAN_CLEAN, is in remset.objects, or is in remset.dirty, which a
**       collection empties when it starts. (The main thread is exempt, because it is a root.) The
**       stack of a clean thread has not changed since a collection scanned it last: code that is
**       about to change the stack makes the thread dirty first (lua_lock).
**   T2  Slots below the function of a frame with CIST_CLEAN have not changed since a collection
**       scanned them, except by stores through open upvalues, which have their own barrier. These
**       events clear the bit: the CallInfo is used for another call; the frame's function is
**       replaced by a tail call (a vararg function may then store extra arguments below its own
**       slot); lua_setlocal is called; or a scan finds, in the frame or in a frame outside it, an
**       object that stays young.
**   T3  After a collection has scanned a stack, its slots from 'top' to the end of the usable part,
**       stack_last + EXTRA_STACK, are nil, so that a frame that grows over them contains no dead
**       value. The CallInfos cannot show how far earlier frames reached: later calls reuse them.
**   T4  The block of a stack has stackroom + EXTRA_STACK slots, and stack_last is at most
**       'stackroom' slots above its start. Slots from stack_last + EXTRA_STACK on are not scanned,
**       and are set to nil when the stack grows over them.
*/
#pragma once

#include "mark/hidden.h"
#include "alloc/limit.h"

/* Bits of 'marked' with the epoch of an object: 0 if it is young, 1 to 3 if it is old. */
#define LUAN_EPOCH	0x03
/* Bit of 'marked' of an old object: a store into the object needs a barrier, because it is not in
   the remembered set as a whole (G8). */
#define LUAN_UNLOGGED	0x04
/* Bit of 'marked' of a weak table: the table is in weak.inmajor, the list of the weak tables that
   the major collection has reached (G6). */
#define LUAN_DISCOVERED	0x08
/* Bit of 'marked' of a table in lists.tables (it has had a vector of more than LUAN_LARGE bytes),
   or of a userdata in lists.standins (it owns external bytes, or has done so since the last
   sweep). */
#define LUAN_LISTED	0x10
/* Bit of a thread's 'marked': a collection has shortened the thread's stack in place, and the stack
   may soon be deep again. Therefore the next call of luaN_shrinkthread does not move the stack to a
   smaller block, but only clears the bit. (If its argument 'all' is 1, luaN_shrinkthread ignores
   the bit.) */
#define LUAN_LONG	0x10
/* Bit of 'marked' of a long string or userdata: the running minor collection has reached the object
   but does not tenure it (ageing.h, waiting.h). */
#define LUAN_MET	0x08
/* Bit of a long string's 'marked': the string has survived at least one minor collection without
   being tenured (survivor age 1 or 2). */
#define LUAN_AGED	0x10
/* Bit of a long string's 'marked': the string has survived two minor collections without being
   tenured (survivor age 2). A userdata uses this bit as FINALIZEDBIT; therefore the survivor age of
   a large userdata is not in 'marked', but in the byte before the userdata (luaN_age). */
#define LUAN_TWICE	0x40
/* Bit of 'marked' of a small userdata: it has survived one minor collection without being tenured,
   and the next one tenures it. A long string may survive two. Therefore luaN_age returns the
   largest survivor age, 2, for such a userdata. */
#define LUAN_AGEDUDATA	0x20
/* Bit of 'marked' of a huge table (at least 4,096 slots, now or earlier; luaN_isvast). The barrier
   of a huge table remembers the slot without reading the header of the stored object. */
#define LUAN_VAST	0x80
/* Bit of 'flags' of a weak table: slices of the running major collection have visited all its
   entries, and have listed those with an unmarked weak key or value in weak.doubtful (G9). */
#define LUAN_SCANNED	0x40
/* Bit of 'marked' of an object in lists.large or of the main thread: the object is marked, but did
   not fit on a mark stack, so it must still be traversed (mark.c). */
#define LUAN_PENDING	0x20

/* Phases (values of gcstate) of this project's major collection. They reuse the numbers of two
   phases of upstream's collector that this collector does not have. GCSselect: slices queue dead
   objects with finalizers. GCSstacks: threads return unused stack memory. */
#define GCSselect	GCSenteratomic
#define GCSstacks	GCScallfin

/* true if object o is young (epoch 0) */
#define luaN_isyoung(o)	(((o)->marked & LUAN_EPOCH) == 0)

/* true if object o is old */
#define luaN_isold(o)	(((o)->marked & LUAN_EPOCH) != 0)

/* true if the old object o itself, not only one of its slots, is in the remembered set (G8) */
#define luaN_islogged(o) \
  (((o)->marked & LUAN_EPOCH) != 0 && !((o)->marked & LUAN_UNLOGGED))

/* true if object o has epoch c. Epoch 0: young; epochs 1 to 3: old. A major collection gives a new
   epoch to each object that it marks. */
#define luaN_hasepoch(o,c)	(((o)->marked & LUAN_EPOCH) == (c))

/* Bit of callstatus: no slot below the frame's function has changed since a collection scanned the
   stack, except through open upvalues (T2). */
#define CIST_CLEAN	(1 << 14)
/* Bit of CallInfo.callstatus: luaN_newframes has reported this frame (seam.h). */
#define CIST_SHOWN	(1 << 15)

/* Two bits of callstatus. Both are set in an unused CallInfo that a collection has visited since
   the last use of the CallInfo. A CallInfo in use never has both bits. */
#define CIST_CACHED	(CIST_C | CIST_FRESH)
#define luaN_iscached(ci)  (((ci)->callstatus & CIST_CACHED) == CIST_CACHED)

/* A store into a table of at most this number of slots adds the table to the remembered set. A
   store into a larger table adds only the slot. With a higher value, minor collections visit more
   slots; with a lower one, the list of slots is longer. */
#define LUAN_SMALLTABLE	32

/* True if the running collection has not marked o: o is young (minor collection), or lacks the
   current epoch (major collection). Also true for an object that a minor collection has reached but
   does not tenure (luaN_ismet). */
#define luaN_white(g,o) \
  ((g)->heap.gc.mark.minor ? luaN_isyoung(o) \
                      : !luaN_hasepoch(o, (g)->heap.gc.mark.epoch))

/* True if the old object p and the object o have different epochs. After a store of o into p, a
   collection might then miss o. If o is young (epoch 0): a minor collection does not traverse the
   old object p. If o has another old epoch: a major collection may have traversed p already. */
#define luaN_differ(p,o) \
  ((((p)->marked ^ (o)->marked) & LUAN_EPOCH) != 0)

/* True if a store of o into p needs a barrier. For tables, see luaN_crossestable. */
#define luaN_crosses(p,o)  (((p)->marked & LUAN_UNLOGGED) && luaN_differ(p, o))

/* True if a store of o into table t needs a barrier. Does not read o if t is huge (LUAN_VAST),
   because that would be a cache miss. */
#define luaN_crossestable(t,o) \
  (((t)->marked & LUAN_UNLOGGED) && \
   (((t)->marked & LUAN_VAST) || luaN_differ(t, o)))

/* {== definitions of upstream's names =================================== */

/* The value of the mark bits of a new object: young (epoch 0). */
#define luaC_white(g)	0

/* True if a major collection has found o dead and the sweep of this collection has not ended
   yet. */
#define isdead(g,o) \
  ((g)->heap.gc.sweep.active && luaN_hasepoch(o, (g)->heap.gc.mark.previous))

#define luaC_newobj(L,tt,sz)	luaN_newobject(L, tt, sz)

#define luaC_objbarrier(L,p,o) \
  (l_unlikely(luaN_crosses(p, o)) ? luaC_barrier_(L, obj2gco(p), obj2gco(o)) \
                                  : cast_void(0))
#define luaC_objbarrierback(L,p,o) \
  (l_unlikely(luaN_crosses(p, o)) ? luaC_barrierback_(L, obj2gco(p)) \
                                  : cast_void(0))

/* }===================================================================== */

/* To be called after an error was caught. If an allocation has failed since the last call
   (heap.starved is 1), sets the slots of L's stack from the top on to nil. Reason: these slots
   contain old values of ended frames. The frame that continues may use the slots as registers, and
   an emergency collection would then mark the old values. */
#define luaN_erasestarved(L) \
  (l_unlikely(G(L)->heap.starved) ? luaN_eraserest(L) : cast_void(0))

/* Sets the slots of L's stack from the top on to nil, so that no collection marks the old values in
   them. Clears heap.starved, the flag of a failed allocation. Called by luaN_erasestarved if the
   flag is set. */
LUAI_FUNC void luaN_eraserest (lua_State *L);

/* Converts the number at o to a string, like luaO_tostring. If o is an upvalue of the running C
   function, also executes the write barrier. May run an emergency collection. */
LUAI_FUNC void luaN_tostring (lua_State *L, TValue *o);

/* If more than this number of bytes was allocated since a collection became due, code without a
   safepoint may run an emergency collection (luaN_checkoverdue). A lower value limits the growth of
   the heap, and makes these collections more frequent. */
#define LUAN_OVERDUE	((l_mem)1 << 20)

/*
** True if a collection is long overdue: GCdebt, the bytes allocated since the collection became
** due, exceeds LUAN_OVERDUE and also the bytes of all old objects.
*/
#define luaN_isoverdue(g) \
  ((g)->GCdebt > LUAN_OVERDUE && (g)->GCdebt > (g)->heap.gc.bytes.old)

/* Runs an emergency collection, a full collection that calls no finalizer, if a collection is long
   overdue (luaN_isoverdue) and the collector is not stopped. API functions that only store into
   tables call it, because they have no safepoint. */
#define luaN_checkoverdue(L) \
  (l_unlikely(luaN_isoverdue(G(L)) || luaN_isstressed(G(L))) ? luaN_overdue(L) \
                                                             : cast_void(0))

LUAI_FUNC void luaN_overdue (lua_State *L);

/* Makes closure f a root until the next luaN_pin, luaN_unpin or memory error. If f is NULL, only
   unpins the closure of the previous call. */
#define luaN_pin(L,f) \
  (G(L)->heap.pinned = ((f) != NULL) ? obj2gco(&(f)->c) : NULL)

/* Unpins the closure that luaN_pin has made a root. */
#define luaN_unpin(L)	(G(L)->heap.pinned = NULL)

/* Write barrier, to be called after a store of value v into 'slot' of table t. */
#define luaN_slotbarrier(L,t,slot,v) \
  (iscollectable(v) && l_unlikely(luaN_crossestable(t, gcvalue(v))) \
   ? luaN_rememberslot(L, t, cast(TValue *, slot), gcvalue(v)) : cast_void(0))

/* Write barrier, to be called after a store of value v under 'key' in table t. */
#define luaN_keybarrier(L,t,key,v)	luaN_slotbarrier(L, t, luaH_get(t, key), v)

/* Write barrier, to be called after a store of value v under the integer key i in table t. */
#define luaN_intbarrier(L,t,i,v)	luaN_slotbarrier(L, t, luaH_getint(t, i), v)

/* Makes the next collection scan all frames of L. To be called before a frame other than the
   running one is written to, because a scan skips frames that have not changed (T2). */
#define luaN_dirty(L) \
  { CallInfo *ci_; \
    for (ci_ = (L)->ci; ci_ != NULL; ci_ = ci_->previous) \
      ci_->callstatus &= cast(unsigned short, ~CIST_CLEAN); }

/* Marks frame ci as that of a tail call, and clears its CIST_CLEAN, because the tail call may
   change slots below the frame's function (T2). */
#define luaN_tailcall(ci) \
  ((ci)->callstatus = cast(unsigned short, \
                           ((ci)->callstatus | CIST_TAIL) & ~CIST_CLEAN))

/*
** Remembers a store of object o into table t; o is NULL if the object is not known. Adds 'slot',
** the address of the stored value, to the remembered set; if t is small (LUAN_SMALLTABLE), adds t
** instead.
**
** If t is huge, may make o old instead, so that nothing need be remembered. Never fails, raises no
** error and runs no collection.
*/
LUAI_FUNC void luaN_rememberslot (lua_State *L, Table *t, TValue *slot, GCObject *o);

/* Write barrier, to be called when node n of table t has received a new key. v is the value that
   will be stored in n; NULL if a whole entry was moved to n because of a collision. */
#define luaN_nodebarrier(L,t,n,v) \
  (((t)->marked & LUAN_UNLOGGED) ? luaN_remembernode(L, t, n, v) : cast_void(0))

LUAI_FUNC void luaN_remembernode (lua_State *L, Table *t, Node *n, const TValue *v);

/*
** Announces that values will be copied to new vectors of table t. Until luaN_resized is called,
** stores into the new vectors need no barrier, and collections treat a weak t as strong. If t is
** NULL, no table is treated in this way.
**
** unanchored: a new vector of n bytes to which no object refers yet, so that an emergency
** collection keeps it; NULL: none. After a resize that has failed, call this function with NULL for
** both instead of luaN_resized.
*/
LUAI_FUNC void luaN_resizing (lua_State *L, const Table *t, const void *unanchored, size_t n);

/*
** Ends a resize of table t, which has its new vectors now: updates the remembered set (G1), adds t
** to lists.tables if a vector has more than LUAN_LARGE bytes, and counts the copied bytes for
** samples (sampling.h).
**
** before  bytes of the previous array part and hash part together
** array   address of the previous array part; only the address is used, not the memory
** asize   number of slots of the previous array part
** old     a temporary table that has the previous hash part
*/
LUAI_FUNC void luaN_resized (lua_State *L, Table *t, size_t before,
                             const TValue *array, unsigned asize,
                             const Table *old);

/* Frees the growth buffer of t, if any: the larger hash part to which keys of t were copied in
   advance (growth.h). To be called before t is resized to a vector other than the buffer. */
LUAI_FUNC void luaN_leavegrowth (global_State *g, const Table *t);

/* Returns the bytes of the array part and the hash part of t, each rounded up to 8. */
LUAI_FUNC size_t luaN_vectorbytes (const Table *t);

/* To be called before object o gets metatable mt (or NULL). If mt has a finalizer, reserves
   capacity in the lists of objects with finalizers, so that queueing o later cannot fail (G4). If
   memory is short even after an emergency collection, raises a memory error; o is unchanged. */
LUAI_FUNC void luaN_beforefinalizer (lua_State *L, GCObject *o, Table *mt);

/* Initializes the heap of a new state. Allocates nothing. */
LUAI_FUNC void luaN_openheap (luaN_Heap *h);

/* Returns all memory of a closed state to lua_Alloc or the system. May keep a mapping of the
   state's chunks for the next state. */
LUAI_FUNC void luaN_closeheap (global_State *g);

/* Calls the sampler's function 'closing', if there is a sampler. For lua_close, while the state is
   complete. */
LUAI_FUNC void luaN_closing (lua_State *L);

/* Reserves memory for the lists of weak tables, and reads the environment variables LUA_GC and
   LUAN_STRESS; for a new state. Raises a memory error. */
LUAI_FUNC void luaN_start (lua_State *L);

/* Marks the dead short string o. To be called when the program has found o in the string table,
   from which the sweep has not removed it yet. A write barrier would not suffice: the only
   reference to o may be in the cache of luaS_new. */
LUAI_FUNC void luaN_resurrect (global_State *g, GCObject *o);

/* Adds the new short string ts to the list of strings that the next minor collection sweeps. If
   there is no memory for the list, that collection sweeps the whole string table instead. */
LUAI_FUNC void luaN_bornstring (global_State *g, TString *ts);

/*
** Runs the step of collectgarbage("step"), as if 'kilobytes' KiB had been allocated; 'stopped' is 1
** if the collector does not run by itself. Returns 1 if the step has ended a major collection of
** the incremental mode and called its finalizers.
**
** The step collects
** - if 'kilobytes' is 0
** - if these KiB use up the nursery and the collector is not stopped
** - if the collector is stopped; but in the incremental mode only if a major collection runs or is
**   due
*/
LUAI_FUNC int luaN_step (lua_State *L, int kilobytes, int stopped);

/* Returns the index of the bucket for hash h in the string table (interned.c). */
static inline int luaN_bucket (const global_State *g, unsigned int h) {
  int i = cast_int(h & cast_uint(g->strt.size - 1));
  return l_likely(i < g->heap.gc.strings.limit) ? i : i - g->strt.size / 2;
}

/* Adds a few buckets to the string table for a new string. If all buckets of its array are in use,
   doubles the array. Does nothing if there is no memory or the table is being shrunk: then the
   chains of strings get longer. */
LUAI_FUNC void luaN_growstrings (lua_State *L);

/* Sets the size of L's stack to 'size' slots in place, and returns 1. All frames must end within
   'size' slots (T4). Returns 0 if the stack has that size already, or if the block of the stack is
   too short. Does not allocate or collect. */
LUAI_FUNC int luaN_limitstack (lua_State *L, int size);

/* Largest growth of a stack, in slots. With a higher value stacks are moved less often, but each
   scan writes more, because a scan sets all slots above the top to nil (T3). */
#define LUAN_STRIDE	8192
/* Returns the next size of a stack that is too short, in slots: twice the size, at most LUAN_STRIDE
   slots more. */
#define luaN_longer(size) \
  ((size) + ((size) < LUAN_STRIDE ? (size) : LUAN_STRIDE))

/* Returns the number of slots that the block of L's stack must have for a stack of 'size' slots
   (T4). If the present block is shorter, sets the unused slots of this block to nil, because the
   caller will copy the whole block. */
LUAI_FUNC int luaN_roomfor (lua_State *L, int size);

/*
** The distance in bytes by which L's stack was moved, computed from base_ci.func, which refers to
** the first slot of the stack. To be used after stack.p has received the new address and before
** base_ci.func has; 0 if the stack was not moved.
*/
#define luaN_stackmoved(L) \
  ((ptrdiff_t)((size_t)(L)->stack.p - (size_t)(L)->base_ci.func.p))

/* Returns where p, a pointer into a stack, points after the stack was moved by 'by' bytes. */
#define luaN_movedby(p,by)	((StkId)((size_t)(p) + (size_t)(by)))

/*
** To be called when a CallInfo was added after the running one of L, L->ci. Counts its bytes, and
** returns the CallInfo after L->ci, for the next call.
**
** If L has many frames, adds several CallInfos that are adjacent in memory: scans of the stack then
** have fewer cache misses. May allocate; does not collect.
*/
LUAI_FUNC CallInfo *luaN_extended (lua_State *L);

/* To be called when the new thread L has received its stack. If an emergency collection has tenured
   L before it had a stack, counts the bytes of the stack as old and makes the next collection scan
   it. */
LUAI_FUNC void luaN_built (lua_State *L);

/*
** Updates L after its stack was moved from a block of 'oldsize' slots. stack_last must be the end
** of the new block at the call; luaN_moved sets it to the end of a stack of 'size' slots.
**
** Makes the next collection scan the stack. Takes the sample of the new block if it was postponed
** because the stack could not be walked during the move (S2).
*/
LUAI_FUNC void luaN_moved (lua_State *L, int oldsize, int size);

/* Returns a new table with asize array slots and hsize nodes (a power of 2, or 0). While it
   allocates large vectors, the table is in the slot below L->top, where a collection finds it. May
   run an emergency collection; raises a memory error. */
LUAI_FUNC Table *luaN_newtable (lua_State *L, unsigned asize, unsigned hsize);

/* The address of the C function v; NULL if v is not a C function. */
#define luaN_codeof(v) \
  (ttislcf(v) ? (const void *)(uintptr_t)fvalue(v) \
   : ttisCclosure(v) ? (const void *)(uintptr_t)clCvalue(v)->f : NULL)

/* The size in bytes of a userdata with nuv user values and a payload of len bytes. A payload of 0
   bytes has the size 1, so that the address of each payload is unique. */
#define luaN_sizeudata(nuv,len)	sizeudata(nuv, (len) + ((len) == 0))

/* Returns a young object of 'size' bytes of which only 'marked' and 'tt' are initialized. May run
   an emergency collection; raises a memory error. */
static inline GCObject *luaN_newobject (lua_State *L, int tt, size_t size) {
  GCObject *o = cast(GCObject *, luaN_newin(L, &G(L)->heap, size, tt));
  o->marked = 0;
  o->tt = cast_byte(tt);
  return o;
}

/* Returns a prototype of 'size' bytes (tt LUA_VPROTO) of which only 'marked' and 'tt' are
   initialized. Its memory comes from lua_Alloc and is freed explicitly (luaN_isexplicit). May run
   an emergency collection; raises a memory error. */
static inline GCObject *luaN_newlarge (lua_State *L, int tt, size_t size) {
  GCObject *o = cast(GCObject *, luaN_slow(L, size, tt));
  o->marked = 0;
  o->tt = cast_byte(tt);
  return o;
}
