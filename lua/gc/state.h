/* SPDX-License-Identifier: MIT */
/* The data that the fork keeps for a state, in global_State: blocks, nursery, collector, time
   samples. lstate.h includes this header before it defines global_State. */
#ifndef luaN_state_h
#define luaN_state_h

#include "lobject.h"

#include "memory/heap.h"
#include "memory/vec.h"

/* Declared here by name only; seam.h defines it. */
struct luaN_Sampler;

/* Distance in bytes of a sample point that is never reached. */
#define LUAN_INFINITY	(UINT64_C(1) << 63)

/* Settings of the collector in the environment variable LUA_GC (tuning.c). A member that is 0
   leaves the program's own setting in effect. */
typedef struct luaN_Tuning {
  lu_byte mode;			/* the collector's mode: 1 + KGC_INC or 1 + KGC_GEN */
  lu_byte hugepages;		/* 1: a big mapped heap has huge pages from the first access on */
  lu_byte nomadvise;		/* 1: the core does not call madvise */
  /* Upstream's parameters pause, stepmul and genmajormul, in percent plus 1. */
  unsigned pause, stepmul, major;
  /* Bytes from one minor collection to the next. If 'most' is not 0, the sizes of the nurseries
     vary between 'nursery' and 'most'. */
  size_t nursery, most;
} luaN_Tuning;

/* An entry of remset.writes, a small cache that counts, for some tables, the remembered slots that
   were processed early since the last minor collection (refine.c). A count may be too low, because
   another table may have taken the entry. */
typedef struct luaN_Writes {
  Table *t;
  size_t n;			/* number of processed slots of 't' */
} luaN_Writes;

#define LUAN_WRITES	8u	/* number of entries of remset.writes */

/*
** How far a major collection has come with the dead objects that have finalizers (finalize.c):
**   LUAN_UNSELECTED    no selection has started
**   LUAN_SELECTING     slices search 'finalizable' for the dead objects and tag them
**   LUAN_MOVING        slices move the tagged objects to 'tobefinalized'
**   LUAN_RESURRECTING  slices mark these objects and the objects that they refer to
*/
typedef enum { LUAN_UNSELECTED, LUAN_SELECTING, LUAN_MOVING, LUAN_RESURRECTING }
  luaN_Selection;

/* The following structs are the parts of luaN_Gc, the collector's data of a state. The comment of
   each struct names the files that use it most. */

/* Marking: mark.c, traverse.c, major.c. */
typedef struct luaN_Mark {
  lu_byte epoch;		/* the current epoch, 1 to 3 */
  lu_byte previous;		/* the epoch before 'epoch' */
  lu_byte bit;			/* bit of a line's marks for 'epoch' (luaN_bit) */
  lu_byte minor;		/* 1: a minor collection runs */
  lu_byte major;		/* 1: a major collection is marking */
  /* 1: some object is marked and still to be traversed, but not on a mark stack, which was full. */
  lu_byte pending;
  /* 1: the slices that scan 'thread' are visiting its unused CallInfos, with which they start. */
  lu_byte cached;
  /* 1: the running minor collection may leave objects young (ageing.h). */
  lu_byte ageing;
  /* The object that is being traversed. If an object that it refers to stays young, it is
     remembered as the holder of that object. NULL: objects that marking reaches now must not stay
     young. */
  GCObject *holder;
  /* If 'holder' is a table of which only a remembered slot is being visited: that slot. NULL: all
     references of 'holder' are visited. */
  void *slot;
  /* The references to the objects that the running collection leaves young (their holders):
     'holders' contains the objects that refer to them, 'slots' the slots of tables, as pairs of a
     table and a slot. */
  luaN_Vec holders, slots;
  /* Number of times, in the life of the state, that marking has reached an object and left it
     young. */
  size_t met;
  luaN_Vec young;		/* mark stack of objects that were young when they were marked */
  luaN_Vec old;			/* mark stack of objects that were old when they were marked */
  /* The table of more than WHOLE slots that slices traverse in parts, or NULL. */
  Table *table;
  /* If 'table' is not NULL: the index of its slot with which the next slice starts. If 'thread' is
     not NULL: the number of slots of its stack that are not marked yet. */
  unsigned index;
  /* Sum of the cost in bytes of all small tables that were marked eagerly, that is, together with
     the objects that they refer to and without a mark stack (mark.c); wraps around. */
  unsigned settled;
  struct lua_State *thread;	/* the thread with a deep stack that is marked in slices, or NULL */
  /* The CallInfo of 'thread' with which the next slice starts. NULL: all CallInfos are done, and
     the slots below 'index' are next. */
  struct CallInfo *ci;
  l_mem reached;		/* bytes of the objects that the major collection has marked */
} luaN_Mark;

/* The remembered set: remset.c, refine.c. */
typedef struct luaN_Remset {
  luaN_Vec objects;		/* remembered objects, except those in 'whole' */
  luaN_Vec whole;		/* remembered tables that have had a large vector */
  luaN_Vec slots;		/* remembered slots, as pairs: table, slot, table, slot, … */
  /* List of the threads whose stacks have changed since they were scanned: those that lua_lock has
     made dirty since the last collection. They are linked by nextdirty; LUAN_LASTDIRTY ends the
     list. When a minor collection starts, it moves them to 'objects'. */
  struct lua_State *dirty;
  /* Number of words at the start of 'slots' that the last minor collection has added, because these
     slots refer to objects that it has left young (ageing.h). */
  size_t aged;
  /* The table that safepoints process in parts at present (refine.c), which was removed from
     'whole'; or NULL. */
  Table *refining;
  /* Index of the first slot of 'refining' that is still to be processed. */
  unsigned refined;
  /* Lengths of the three lists from which on refine.c processes their entries before the next minor
     collection, so that this has less to do (LUAN_MANY). For 'objects' it is a number of entries,
     for 'slots' a number of words, and for 'whole' the total number of slots of its tables. */
  unsigned many;
  /* A second limit of 'slots', in words: when a slot of a huge table is added, the entries of
     'slots' are processed if it has at least this length. MAX_SIZET: there is no second limit. */
  size_t refineat;
  /* Number of objects that the last processing of 'objects' before a minor collection has left
     there (luaN_refineobjects). */
  size_t stayed;
  /* The object that was last stored into a huge table, or NULL. Used only for comparisons, because
     the object may have been freed. */
  const GCObject *stored;
  luaN_Writes writes[LUAN_WRITES];
  /* 1: luaN_refineslots has requested a minor collection, because many slots of weak tables are
     left in 'slots'. Until the minor collection runs, the limit of 'slots' is twice 'many'. */
  lu_byte hurried;
  /* 1: the set is incomplete, so the next collection must be a full one */
  lu_byte overflow;
} luaN_Remset;

/* Indexes in weak.doubtful: the list of entries whose weak keys are not marked so far, and the list
   of those whose weak values are not marked so far; and the number of lists. */
enum { LUAN_DOUBTKEYS, LUAN_DOUBTVALUES, LUAN_DOUBTS };

/* Weak tables: weak.c, ahead.c, termination.c. */
typedef struct luaN_Weak {
  /* The weak tables that the running minor collection, full collection or atomic step has reached.
     Each word is a table, with the kind of its weak references in the low bits (luaN_tagged of
     weak.h). */
  luaN_Vec discovered;
  /* The weak tables that a major collection has reached in slices, with the kind of their weak
     references in the low bits. They are the tables with LUAN_DISCOVERED (G6). */
  luaN_Vec inmajor;
  luaN_Vec unresolved;		/* nodes of ephemeron tables whose keys are not marked so far */
  /* Two lists of entries that slices have visited in weak tables (ahead.h): the entries whose weak
     key was not marked then (undecided keys), and those whose weak value was not marked (undecided
     values). Each list has a table, with tag 1 in the low bits, then slots of that table, then the
     next table. The list of keys also contains logged objects, with tag 2: objects that were marked
     after it was visited. */
  luaN_Vec doubtful[LUAN_DOUBTS];
  unsigned next;		/* index in 'inmajor' of the table that slices visit next */
  unsigned slot;		/* index of the slot of that table that slices visit next */
  /* Numbers of repetitions in the running major collection. 'rescans': slices have started again to
     visit 'inmajor' from its start. 'passes': slices have visited the lists of 'doubtful' again, or
     have visited the list of undecided values to tombstone the values, that is, to make them look
     empty (hidden.h). */
  lu_byte rescans, passes;
  /* 'doubting' is 1 while slices visit the lists of 'doubtful' again (a pass). 'again' is the list
     that they visit: LUAN_DOUBTKEYS or LUAN_DOUBTVALUES. */
  lu_byte doubting, again;
  /* 1: an atomic step has decided about the objects in tombstoned slots (slots that look empty and
     keep the addresses of their objects, hidden.h): those that are not marked are dead. */
  lu_byte decided;
  lu_byte overflow;		/* 1: 'unresolved' is incomplete, because there was no memory */
  /* 1: ephemerons are being resolved by their keys (a chase, chase.h). Every object that may be a
     weak key must be pushed on a mark stack, because only objects that are popped are looked up as
     keys. */
  lu_byte chasing;
  /* 1: a dead weak key may have been kept, because a dead object with a finalizer refers to the key
     (termination.c). */
  lu_byte resurrected;
  /* 1: old objects that are marked now are appended to the list of undecided keys (logged), so that
     they are looked up as weak keys (ahead.h). */
  lu_byte logging;
  /* In the list of 'doubtful' that is being visited, 'doubt' is the index of the next word to
     visit, and 'doubtkept' is the number of words that were kept in the list so far. While slices
     tombstone values (hidden.h), 'doubtkept' is the index at which they stop. */
  unsigned doubt, doubtkept;
  /* Number of entries of 'doubtful' for which slices have marked an object in their present visit
     of the lists. */
  unsigned resolved;
  Table *doubtof;		/* the table to which the word before index 'doubt' belongs */
  const Table *keptof;		/* the table of the last word that was kept in the list so far */
  /* Number of words at the start of the list of undecided values that were visited to tombstone the
     values (hidden.h). */
  unsigned hidden;
  /* Number of words at the start of the list of undecided keys that were visited already. The words
     after them were added after 'logging' was set. */
  unsigned visited;
  /* Number of weak entries whose young key or value has survived a minor collection since the last
     major collection started (remembered.c). */
  size_t tenured;
} luaN_Weak;

/* The string table: interned.c. */
typedef struct luaN_Strings {
  luaN_Vec young;		/* short strings allocated since the last minor collection */
  lu_byte unlisted;		/* 1: 'young' is incomplete, so all buckets are swept */
  lu_byte cached;		/* 1: luaS_new has filled its cache since the last collection */
  lu_byte shrinking;		/* 1: the table is being made smaller */
  int seen;			/* number of short strings in the table with the current epoch */
  /* Number of strings in the table that the major collection has found dead and not removed yet. */
  int dead;
  int bucket;			/* index of the first bucket that slices have not swept yet */
  int limit;			/* number of buckets in use */
  /* Number of strings in the table after the last collection; -MINSTRTABSIZE before the first. */
  int kept;
} luaN_Strings;

/* Objects with finalizers: finalize.c, waiting.c. */
typedef struct luaN_Finalize {
  luaN_List finalizable;	/* objects with finalizers, in the order in which they got them */
  /* Dead objects that are queued for the call of their finalizers, in the order of the calls. The
     finalizers of the entries before index 'next' were called already. */
  luaN_Vec tobefinalized;
  size_t next;			/* index in 'tobefinalized' of the next object to finalize */
  /* Index in 'tobefinalized' of the first object that the major collection has not marked. */
  size_t seen;
  /* How far slices have found and queued the dead objects of 'finalizable'. */
  luaN_Selection selection;
  unsigned called;		/* number of entries of 'left' whose finalizers were called */
  /* Number of entries of 'finalizable' with a tag (luaN_select): their objects were found dead, and
     are not queued yet. */
  size_t selected;
  /* Number of queued objects whose finalizers were not called yet at the end of the last step of
     the collector, before the step called a batch of finalizers (luaN_setquota). */
  unsigned waiting;
  unsigned quota;		/* least number of calls of a batch, even if its time is up */
  lu_byte found;		/* 1: the running collection has queued objects */
  /* Number of calls of luaN_willclose since the last minor collection. Each reports a young object
     with a finalizer that the program is going to close explicitly. */
  unsigned closed;
  /* Outside the incremental mode, a minor collection starts when there are (YOUNG_MIN << youngbits)
     + 'closed' young objects with finalizers (finalize.c). 'youngbits' grows if many of them
     survive and falls if few do. */
  unsigned youngbits;
  /* Dead userdata that the last minor collection has left young until their finalizers were called,
     so that the next minor collection can free them (waiting.h, G11). */
  luaN_Vec left;
  /* Live small userdata with finalizers that the last minor collection has left young, because such
     userdata often die soon (ageing.h, G10). */
  luaN_Vec aged;
} luaN_Finalize;

/* Lists of objects that need work when they are dead (sweep.c), and of objects that never die. */
typedef struct luaN_Lists {
  luaN_Vec fixed;		/* objects that never die (luaC_fix) */
  /* Number of entries at the start of 'fixed' that have the current epoch. */
  size_t fixedseen;
  luaN_List large;		/* prototypes and large leaf objects */
  luaN_List tables;		/* tables that have had a large vector */
  luaN_List threads;		/* all threads but the main thread */
  /* Userdata that own, or owned, memory outside the heap (outside.c). */
  luaN_List standins;
} luaN_Lists;

/* Progress of the sweep of a major collection: major.c, sweep.c. */
typedef struct luaN_Sweep {
  lu_byte active;		/* 1: dead objects of the previous epoch may still exist */
  lu_byte list;			/* index of the list that is being swept (luaN_listof) */
  int more;		/* 1: the thread at 'next' has more CallInfos to free */
  /* In the list that is being swept, the first 'next' entries were visited, and 'kept' of them stay
     in the list, at its start (G7). Two other phases use these fields: while slices find and queue
     the dead objects of 'finalizable', they use both for that list (finalize.c), and GCSstacks uses
     'next' for lists.threads. */
  size_t kept, next;
  /* The block that contained the large leaf objects that were freed last, if luaN_relist is still
     to be called for it, which moves it to the list for the size of its largest run of free lines;
     or NULL. */
  luaN_Block *freed;
} luaN_Sweep;

/* Accounts, in bytes unless stated otherwise. */
typedef struct luaN_Bytes {
  size_t explicit;		/* bytes of memory that the core frees explicitly (H6) */
  l_mem old;			/* bytes of old objects and their vectors (H6) */
  l_mem living;			/* bytes of the objects that the last major collection marked */
  /* Bytes of blocks that the heap keeps until the next major collection, because it has not shrunk
     and will need them again (luaN_trimheap). 0: none. */
  size_t needed;
  /* KiB of blocks in use when the marking of a heap that has shrunk ended: the largest value of the
     current period (index 0) and of the previous one (index 1; major.c). The heap keeps blocks for
     the larger of the two. Values above the state's share of LUAN_BIGHEAP bytes, which all states
     of the process divide equally (heap.h), are not recorded. */
  unsigned lately[2];
  unsigned whileat;		/* KiB: heap.allocated when the period started; wraps around */
  /* Milliseconds of CLOCK_MONOTONIC at which the period started; wraps around. */
  unsigned whilebegan;
  /* 1: luaN_trimheap is to call malloc_trim when giveback.h allows, because the last major
     collection has found the heap shrunk (major.c) and within its share of LUAN_BIGHEAP. */
  lu_byte shrunk;
  /* KiB that the last major collection had marked before it queued the dead objects with finalizers
     and marked the objects that only they refer to. */
  unsigned undoomed;
  /* Bytes that have become old since the last collection: tenured objects, and growth of vectors,
     stacks and CallInfos of old objects. */
  size_t tenured;
  uint64_t alltenured;		/* sum of 'tenured' in the life of the state */
  /* Bytes of large leaf objects (long strings and userdata of more than LUAN_LARGETEXT bytes), and
     of small userdata queued for the call of their finalizers, that became old since the last major
     collection ended. */
  size_t texts;
  /* Value of 'texts' at the start of the last minor collection that ran while no major collection
     was running. */
  size_t textsbefore;
  size_t textsleft;		/* bytes added to 'texts' while the last major collection ran */
  /* Bytes of large leaf objects (long strings and userdata of more than LUAN_LARGETEXT bytes) that
     the last minor collection left young. */
  size_t aged;
  /* Bytes of small userdata that the last minor collection left young. */
  size_t waiting;
  size_t outside;		/* external bytes that userdata own */
  size_t youngoutside;		/* external bytes added since the nursery started */
} luaN_Bytes;

/* A table whose hash part is nearly full, and its next, larger vector of nodes, to which keys are
   copied in advance: the growth buffer (growth.h). */
typedef struct luaN_Growth {
  /* The next one in the list luaN_Gc.growths; NULL: this is the last one. */
  struct luaN_Growth *next;
  Table *t;			/* the table that grows */
  const Node *old;		/* the current nodes of t */
  unsigned size;		/* number of nodes in 'old' */
  /* Number of nodes below 'lastfree' of t when the buffer was allocated. */
  unsigned from;
  /* The growth buffer: a vector of twice as many nodes, and its 'lastfree'. */
  Node *node, *lastfree;
  uint32_t *copyof;		/* for each old node, the index of its copy, or LUAN_NOCOPY */
  unsigned cleared;		/* number of initialized nodes, at the start of the buffer */
  unsigned copied;		/* number of nodes at the start of 'old' that were visited */
  unsigned used;		/* number of nodes of the buffer that have a key or had one */
  /* 1: a key was inserted into t since the last major collection started. */
  lu_byte iswanted;
} luaN_Growth;

/* State of the pacer: pace.c. */
typedef struct luaN_Pace {
  lu_byte fullcycles;		/* 1: the program or LUA_GC has set the incremental mode */
  /* 1: the last major collection in slices found at least one WEAK_FOUND-th of the old bytes
     dead. */
  lu_byte found;
  /* 1: when the running or last major collection started, weak tables had received many entries, so
     that it does more work in each slice (it hurries). */
  lu_byte hurried;
  lu_byte wider;		/* number of times that the nursery's bound is doubled (pace.c) */
  /* State of the sequence by which the size of each nursery is chosen between two bounds. */
  unsigned turn;
  size_t nursery;		/* bytes from the last minor collection to the next one */
  /* Bytes of 'nursery' that may be used only after luaN_resume: so that a safepoint comes earlier
     and calls the next batch of finalizers. */
  size_t deferred;
  /* Bytes of large leaf objects (long strings and userdata of more than LUAN_LARGETEXT bytes) that
     the program may still allocate in addition to 'nursery' before the next minor collection. */
  size_t textroom;
  size_t size;			/* bytes of the current nursery when it started */
  /* Sums over all earlier nurseries, in bytes. 'charged': of the bytes that counted for the start
     of the next minor collection (luaN_charged). 'planned': of the sizes of the nurseries or, for a
     nursery that was not used up, of the bytes that counted. */
  uint64_t planned, charged;
  /* Work debt: bytes that slices still have to mark, because there were too many for one pause. */
  size_t owed;
  /* Bytes by which large stacks have grown, as long as the marking work for them is not done. The
     limit of the work debt is higher by WORK times this number, but by at most PATIENCE_MIN times
     'live' (luaN_pay). */
  size_t stackgrowth;
  unsigned cycles;		/* number of major collections that have ended */
  /* Back-off: if the heap does not grow, a major collection starts when the bytes allocated since
     the last one are about this multiple of the heap (PATIENCE_MIN to PATIENCE_MAX of pace.c). */
  unsigned patience;
  /* Bytes that the pacer had counted as allocated (spent in pace.c) when the last major collection
     ended. */
  uint64_t since;
  /* Bytes that explicit steps (luaN_step) have counted as allocated since the last major collection
     ended. */
  l_mem byhand;
  uint64_t volume;		/* bytes of allocation after which a major collection is due */
  /* Bytes in use, and bytes of footprint (reserved memory without empty blocks), when the last
     major collection ended. */
  size_t live, footprint;
  size_t outside;		/* external bytes when the last major collection ended */
  /* Number of entries of 'finalizable' when the last major collection ended. */
  size_t finalizers;
  size_t fixednursery;		/* nursery size that the program has set, in bytes, or 0 */
  luaN_Tuning tuning;		/* settings of the operator in LUA_GC */
  /* Upper bound of the nursery in bytes after lua_Alloc has refused memory; 0: none. Computed again
     at the end of each major collection. */
  size_t tight;
  /* Bytes in use at which a major collection starts. In comparisons with this field and the next
     two, external bytes count as in use. Some large leaf objects and young userdata do not count
     (hasgrown of pace.c). */
  size_t threshold;
  /* Bytes in use at which a major collection starts if the footprint (reserved memory without empty
     blocks) is at least 'threshold'. */
  size_t growthtrigger;
  size_t footprinttrigger;	/* bytes of footprint at which a major collection starts */
} luaN_Pace;

/* Statistics of pauses, in nanoseconds: pause.c. */
typedef struct luaN_Pauses {
  uint64_t began;		/* CLOCK_MONOTONIC at the start of the last or running pause */
  /* Durations: of the last pause, of the longest pause so far, of all pauses together. */
  uint64_t last, longest, sum;
  uint64_t processor;		/* CPU time at the start of the last pause with a sampler */
  /* CPU time at which the running slice of a major collection started; 0: no slice is running, or
     there is no sampler. */
  uint64_t slicebegan;
  /* CPU time of all slices of major collections that ran while there was a sampler. */
  uint64_t slices;
  /* Numbers of entries of lists, stacks, weak tables and the remembered set that the last or
     running pause has visited, in addition to the objects that it found alive. The index, a
     luaN_Looked (seam.h), says which of these. */
  uint64_t looked[4];
  /* The largest number of entries of lists, stacks and weak tables that a pause has visited,
     without those of the remembered set. */
  uint64_t mostwork;
} luaN_Pauses;

/* Switches of LUAN_STRESS in the debug build. The members have the names of the switches, which
   stress.h explains. 0: not set. */
typedef struct luaN_Stress {
  size_t slice;
  unsigned verify, emergency;
  unsigned untilemergency;	/* number of events until the next emergency collection */
  lu_byte major;
} luaN_Stress;

typedef struct luaN_Gc {
  luaN_Mark mark;
  luaN_Remset remset;
  luaN_Weak weak;
  luaN_Strings strings;
  luaN_Finalize finalize;
  luaN_Lists lists;
  luaN_Sweep sweep;
  luaN_Bytes bytes;
  luaN_Growth *growths;		/* the tables that have a growth buffer */
  luaN_Pace pace;
  luaN_Pauses pause;
  luaN_Stress stress;
} luaN_Gc;

#define LUAN_OPCODES	83	/* number of opcodes of the bytecode loop (tick.c) */

/* State of time samples (tick.h). The core writes to it, and so does a signal handler on the OS
   thread that runs the state. */
typedef struct luaN_Tick {
  struct lua_State *running;	/* the thread that runs; NULL: the main thread */
  /* Identifies the OS thread that made the last protected call of the state, by the address of that
     thread's luaN_innermost. NULL: none. */
  const void *where;
  struct CallInfo *ci;		/* the frame that ran at the last tick that diverted 'dispatch' */
  int deep;			/* 1: at that tick, code outside the bytecode loop ran */
  volatile lu_byte wanted;	/* 1: the next safepoint is to call the sampler (TK1) */
  volatile lu_byte diverted;	/* 1: the dispatch table is diverted (TK3) */
  volatile lu_byte collecting;	/* LUAN_MINOR or LUAN_MAJOR during a collection, else 0 */
  /* Number of instructions that were diverted, in the life of the state. */
  uint64_t diversions;
  const void *dispatch[LUAN_OPCODES];  /* code address of each opcode for the bytecode loop */
} luaN_Tick;

/* The heap of a state. The first two fields are those that every allocation reads (N1 to N3 of
   nursery.h). */
typedef struct luaN_Heap {
  /* The first free byte of the current hole, the run of free lines from which the fast path
     allocates (nursery_free in comments). */
  char *free;
  char *limit;			/* the fast path allocates up to this address (nursery_limit) */
  char *end;			/* end of the current hole */
  char *mark;			/* value of 'free' when GCdebt and 'allocated' were last updated */
  /* The sample point: the difference to 'free' is the number of bytes until the next sample
     (S1). */
  uint64_t point;
  uint64_t allocated;		/* bytes allocated in the life of the state, up to 'mark' */
  uint64_t texts;		/* bytes of 'allocated' that were large leaf objects */
  uint64_t allocatedoutside;	/* external bytes that samples have counted so far */
  /* Bytes of large blocks, and of memory that the core frees explicitly, that have counted for the
     start of the next minor collection. When such blocks are freed, up to this number of bytes is
     subtracted again (payback of nursery.c). */
  size_t spare;
  uint64_t copyleft;		/* bytes of growth until the next copy sample */
  const struct luaN_Sampler *sampler;
#if defined(LUAN_DEBUG)
  int asking;			/* 1: a function of the sampler is running (debug.h) */
#endif
  /* Bits that mark the blocks whose freeing and resizing are reported to the sampler (luaN_watch);
     NULL: none. */
  const uint64_t *watched;
  unsigned watchlog;		/* log2 of the number of bits of 'watched' */
  /* 1: an allocation has failed since luaN_eraserest ran last, so slots above the tops of stacks
     may contain values of unwound frames. */
  int starved;
  /* Always luaC_fullgc. The allocator, in lua/gc/memory and lua/gc/alloc, calls the collector only
     through this pointer (luaN_emergency). */
  void (*emergency) (struct lua_State *L, int);
  /* The table or thread for which a vector or a stack is being allocated: the owner that a sample
     of this block reports. */
  const void *resizing;
  const void *rehashing;	/* the table that is being resized, or NULL */
  /* A new vector to which no object refers yet, or NULL. An emergency collection keeps its
     lines. */
  const void *unanchored;
  size_t unanchoredsize;		/* bytes of 'unanchored' */
  /* A root: the closure that luaN_pin has pinned, because only C code of the API refers to it; or
     NULL. */
  GCObject *pinned;
  /* Block of a stack whose sample is postponed until the stack can be walked (S2), or NULL. */
  void *waiting;
  size_t waitingsize;		/* bytes of the block 'waiting' */
  /* Bytes that rounding has added to the block that is being counted. */
  unsigned rounding;
  int waitingoutside;		/* 1: the block 'waiting' is not from the current hole */
  uint64_t waitingover;		/* bytes by which the block 'waiting' passed the sample point */
  /* The overflow region: a second run of free lines, for small blocks that do not fit into the
     current hole. */
  luaN_Region overflow;
  luaN_Blocks blocks;
  /* Numbers of minor and major collections in the life of the state. A collection is counted when
     its marking ends. */
  uint64_t minors, majors;
  luaN_Gc gc;
  luaN_Tick tick;
  struct luaN_Counts *counts;	/* exact counts by kind (luaN_setcounts), or NULL */
  const struct luaN_Limits *limits;	/* set by luaN_setlimits; NULL: no limits */
  uint64_t buffers;		/* bytes of all buffers of luaL_Buffer (luaN_admit) */
  /* Message of the limit (luaN_setlimits) that has refused the last failed allocation, or NULL
     (LM2). */
  const void *refusal;
  struct luaN_Labels *labels;	/* account of bytes by label (luaN_setlabels), or NULL */
} luaN_Heap;


/* Runs a full collection that calls no finalizer, because memory is short. gcstopem must be 0. */
#define luaN_emergency(L)	((*G(L)->heap.emergency)(L, 1))

/* Values of two switches of LUAN_STRESS (stress.h). luaN_isstressed is 1 if emergency=N is set.
   luaN_slicestress is N of slice=N, in bytes, or 0. Both are 0 in a release build. */
#if defined(LUAN_DEBUG)
#define luaN_isstressed(g)	((g)->heap.gc.stress.emergency != 0)
#define luaN_slicestress(c)	((c)->stress.slice)
#else
#define luaN_isstressed(g)	0
#define luaN_slicestress(c)	((size_t)0)
#endif

#endif
