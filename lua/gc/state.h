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

/* Settings of the operator in LUA_GC (tuning.c). A member that is 0 leaves the program's own
   setting in effect. */
typedef struct luaN_Tuning {
  lu_byte mode;			/* 1 + KGC_INC or 1 + KGC_GEN */
  lu_byte hugepages;		/* 1: a big mapped heap has huge pages from the first touch on */
  lu_byte nomadvise;		/* 1: the core does not call madvise */
  /* upstream's parameters pause, stepmul and genmajormul in percent, plus 1 */
  unsigned pause, stepmul, major;
  /* Bytes from one minor collection to the next. If 'most' is not 0, each nursery has another
     size from 'nursery' to 'most'. */
  size_t nursery, most;
} luaN_Tuning;

/* An entry of a cache of tables (refine.c): 'n' remembered slots of table 't' were refined since
   the last minor collection. An estimate, because tables share the entries. */
typedef struct luaN_Writes {
  Table *t;
  size_t n;
} luaN_Writes;

#define LUAN_WRITES	8u

/* Phase of a major collection for the dead objects with finalizers (finalize.c): not reached yet;
   finding them in 'finalizable'; queueing them; marking them and the objects they refer to. */
typedef enum { LUAN_UNSELECTED, LUAN_SELECTING, LUAN_MOVING, LUAN_RESURRECTING }
  luaN_Selection;

/* The types of the members of luaN_Gc follow: the collector's data of a state, in parts. The
   comment of each part names the files that the part belongs to. */

/* Marking: mark.c, traverse.c, major.c. */
typedef struct luaN_Mark {
  lu_byte epoch;		/* the current epoch, 1 to 3 */
  lu_byte previous;		/* the epoch before 'epoch' */
  lu_byte bit;			/* bit of a line's marks for 'epoch' (luaN_bit) */
  lu_byte minor;		/* 1: a minor collection runs */
  lu_byte major;		/* 1: a major collection is marking */
  lu_byte pending;		/* 1: some object is pending, because a mark stack was full */
  /* 1: the slices that scan 'thread' are visiting CallInfos that no call uses. */
  lu_byte cached;
  /* 1: the running minor collection may leave objects young (ageing.h). */
  lu_byte ageing;
  /* The object that is being traversed, if 'ageing' is 1; else NULL. While 'holder' is NULL, no
     object that marking reaches may stay young. */
  GCObject *holder;
  /* The remembered slot of the table 'holder' that is being visited; NULL if all references of
     'holder' are visited. */
  void *slot;
  /* Holders of the objects that the running collection leaves young: 'holders' has objects,
     'slots' has pairs of a table and a slot. */
  luaN_Vec holders, slots;
  /* Number of times that marking has reached an object that it leaves young, in the life of the
     state. */
  size_t met;
  luaN_Vec young;		/* mark stack of objects that were young */
  luaN_Vec old;			/* mark stack of objects that were old */
  Table *table;			/* table of more than WHOLE slots that slices mark, or NULL */
  /* Slot of 'table' with which the next slice starts; or number of slots of 'thread' that are
     left. */
  unsigned index;
  /* Cost in bytes of all tables that were eagerly marked (mark.c); wraps around. */
  unsigned settled;
  struct lua_State *thread;	/* the thread with a deep stack that is marked in slices, or NULL */
  /* The next CallInfo of 'thread' to visit. NULL: the CallInfos are done, and the slots below
     'index' are next. */
  struct CallInfo *ci;
  l_mem reached;		/* bytes of the objects that the major collection has marked */
} luaN_Mark;

/* The remembered set: remset.c, refine.c. */
typedef struct luaN_Remset {
  luaN_Vec objects;		/* remembered objects */
  luaN_Vec whole;		/* remembered tables that have had a large vector */
  luaN_Vec slots;		/* remembered slots, as pairs: table, slot, table, slot, … */
  /* List of old threads that were clean and became dirty, linked by nextdirty and ended by
     LUAN_LASTDIRTY. When a minor collection starts, it moves them to 'objects'. */
  struct lua_State *dirty;
  /* Number of words at the start of 'slots' that were added for objects that stayed young
     (ageing.h). */
  size_t aged;
  Table *refining;		/* a table that left 'whole' and is processed in slices, or NULL */
  unsigned refined;		/* the first slot of 'refining' that is not processed yet */
  /* Limit of lists (LUAN_MANY): number of entries of 'objects', or of words of 'slots', at which
     that list is refined; number of slots of 'whole' above which slices visit the tables. */
  unsigned many;
  /* Number of words of 'slots' at which 'slots' is refined when a slot of a huge table is added.
     MAX_SIZET: only 'many' counts. */
  size_t refineat;
  /* Number of objects that the last luaN_refineobjects left in 'objects'. */
  size_t stayed;
  /* The object that was last stored into a huge table, which may be freed now; or NULL. */
  const GCObject *stored;
  luaN_Writes writes[LUAN_WRITES];
  /* 1: refinement has requested a minor collection. Until then 'slots' may have twice its limit. */
  lu_byte hurried;
  /* 1: the set is incomplete, so the next collection must be a full one */
  lu_byte overflow;
} luaN_Remset;

/* Indexes in weak.doubtful: the list of undecided keys, the list of undecided values; and the
   number of lists. */
enum { LUAN_DOUBTKEYS, LUAN_DOUBTVALUES, LUAN_DOUBTS };

/* Weak tables: weak.c, ahead.c, termination.c. */
typedef struct luaN_Weak {
  /* Weak tables reached by the running minor or full collection or atomic step, tagged with their
     kind. */
  luaN_Vec discovered;
  luaN_Vec inmajor;		/* weak tables for the end of the major collection, tagged (G6) */
  luaN_Vec unresolved;		/* nodes whose weak key may be dead */
  /* Undecided entries of scanned tables (ahead.h). Each list is a table tagged 1, slots of that
     table, the next table, …. The list of the keys also has logged objects, tagged 2. */
  luaN_Vec doubtful[LUAN_DOUBTS];
  unsigned next;		/* index in 'inmajor' of the next table for the slices */
  unsigned slot;		/* slot with which the next slice starts in the table at 'next' */
  /* 'rescans' is the number of times that the visit of 'inmajor' was started again; 'passes' is the
     number of passes over the undecided entries plus the number of rounds of tombstoning. */
  lu_byte rescans, passes;
  /* 'doubting' is 1 while a list of 'doubtful' is visited again; 'again' is the list
     (LUAN_DOUBTKEYS or LUAN_DOUBTVALUES). */
  lu_byte doubting, again;
  /* 1: an atomic step has decided that every tombstoned object that is not marked is dead
     (hidden.h). */
  lu_byte decided;
  lu_byte overflow;		/* 1: 'unresolved' is incomplete */
  lu_byte chasing;		/* 1: every object that may be a weak key must pass a mark stack */
  /* 1: a dead weak key may have been kept because an object with a finalizer refers to it
     (termination.c). */
  lu_byte resurrected;
  /* 1: marked objects are logged in the list of undecided keys (ahead.h) */
  lu_byte logging;
  /* In the list that is visited: index of the next word, and number of words kept so far. In a
     round of tombstoning, 'doubtkept' is the index at which the round ends. */
  unsigned doubt, doubtkept;
  /* Number of undecided entries for which the present pass has marked an object. */
  unsigned resolved;
  Table *doubtof;		/* the table of the word before index 'doubt' */
  const Table *keptof;		/* the table of the last word that was kept */
  /* Number of words at the start of the list of undecided values that rounds of tombstoning have
     visited. */
  unsigned hidden;
  /* Number of words at the start of the list of undecided keys that were visited; the words after
     them were added since 'logging' was set. */
  unsigned visited;
  /* Number of weak entries whose young key or value has survived a minor collection, since the
     last major collection started (remembered.c). */
  size_t tenured;
} luaN_Weak;

/* The string table: interned.c. */
typedef struct luaN_Strings {
  luaN_Vec young;		/* short strings allocated since the last minor collection */
  lu_byte unlisted;		/* 1: 'young' is incomplete, so all buckets are swept */
  lu_byte cached;		/* 1: luaS_new has filled its cache since the last collection */
  lu_byte shrinking;		/* 1: the table is being made smaller */
  int seen;			/* number of short strings with the current epoch (G12) */
  /* Number of strings that the major collection has found dead and not removed yet (G12). */
  int dead;
  int bucket;			/* the first bucket that is not swept yet */
  int limit;			/* number of buckets in use */
  int kept;			/* number of strings after the last collection; see luaN_openheap */
} luaN_Strings;

/* Objects with finalizers: finalize.c, waiting.c. */
typedef struct luaN_Finalize {
  luaN_List finalizable;	/* objects with finalizers, in the order in which they got them */
  /* Objects pending finalization, in the order of their calls; those before 'next' were called. */
  luaN_Vec tobefinalized;
  size_t next;			/* index in 'tobefinalized' of the next call */
  /* Index in 'tobefinalized' of the first object that the major collection has not visited. */
  size_t seen;
  luaN_Selection selection;	/* phase of the selection of dead objects in 'finalizable' */
  unsigned called;		/* number of entries of 'left' whose finalizers were called */
  /* Number of dead objects tagged in 'finalizable' and not queued yet. */
  size_t selected;
  unsigned waiting;		/* pending calls before the last step's batch (luaN_setquota) */
  unsigned quota;		/* number of calls that a batch makes at least */
  lu_byte found;		/* 1: the running collection has queued objects */
  /* Number of objects since the last minor collection that will be closed explicitly
     (luaN_willclose). */
  unsigned closed;
  /* Outside the incremental mode, a minor collection starts when (YOUNG_MIN << youngbits) + closed
     young objects have finalizers (finalize.c). */
  unsigned youngbits;
  /* Userdata that the last minor collection has left young for their finalizers (waiting.h,
     G11). */
  luaN_Vec left;
  /* Live small userdata of 'finalizable' that the last minor collection has left young (ageing.h,
     G10). */
  luaN_Vec aged;
} luaN_Finalize;

/* Lists of objects that need work when they are dead (sweep.c), and of objects that never die. */
typedef struct luaN_Lists {
  luaN_Vec fixed;		/* objects that never die */
  size_t fixedseen;		/* number of entries of 'fixed' with the current epoch */
  /* Prototypes and large leaf objects. */
  luaN_List large;
  luaN_List tables;		/* tables that have had a large vector */
  luaN_List threads;		/* all threads but the main thread */
  luaN_List standins;		/* userdata that own, or owned, external bytes (outside.c) */
} luaN_Lists;

/* Progress of the sweep of a major collection: major.c, sweep.c. */
typedef struct luaN_Sweep {
  lu_byte active;		/* 1: dead objects of the previous epoch may still be found */
  lu_byte list;			/* number of the list that is being swept (luaN_listof) */
  int more;		/* 1: the thread at 'next' has more CallInfos to free */
  /* Number of entries of the list that were kept, and that were visited (G7). A selection uses
     both for 'finalizable' (finalize.c), and GCSstacks uses 'next' for lists.threads. */
  size_t kept, next;
  /* A block with lines that were freed, which is yet to be put into its list of blocks
     (luaN_relist); or NULL. */
  luaN_Block *freed;
} luaN_Sweep;

/* Accounts, in bytes unless stated otherwise. */
typedef struct luaN_Bytes {
  size_t explicit;		/* bytes of explicit memory (H6) */
  l_mem old;			/* bytes of old objects and their vectors (H6) */
  l_mem living;			/* bytes of the objects that the last major collection marked */
  /* Bytes of blocks that are not returned before the next major collection, because a heap that
     does not shrink needs them again (luaN_trimheap). 0: none. */
  size_t needed;
  /* KiB: the largest use that a heap within its share of LUAN_BIGHEAP has shrunk from, in the
     current period and in the one before (major.c). Blocks of that size are not returned. */
  unsigned lately[2];
  unsigned whileat;		/* KiB: 'allocated' when the period started; wraps around */
  /* Milliseconds of CLOCK_MONOTONIC at which the period started; wraps around. */
  unsigned whilebegan;
  /* 1: the last major collection has found the heap shrunk (major.c) and within its share of
     LUAN_BIGHEAP, and malloc_trim was not called since then (giveback.h). */
  lu_byte shrunk;
  /* KiB that the last major collection had marked when it selected dead finalizable objects. */
  unsigned undoomed;
  /* Bytes that have become old since the last collection: of tenured objects, and of the growth of
     the vectors, stacks and CallInfos of old objects. */
  size_t tenured;
  /* Bytes that have become old in the life of the state, as in 'tenured', up to the last
     collection. */
  uint64_t alltenured;
  /* Bytes of large leaf objects, and of small userdata pending finalization, that were tenured
     since the last major collection ended. */
  size_t texts;
  /* Value of 'texts' when the last minor collection started that ran while no major one did. */
  size_t textsbefore;
  size_t textsleft;		/* bytes added to 'texts' while the last major collection ran */
  /* Bytes of large leaf objects that the last minor collection left young. */
  size_t aged;
  /* Bytes of small userdata that the last minor collection left young. */
  size_t waiting;
  size_t outside;		/* external bytes that userdata own */
  size_t youngoutside;		/* external bytes added since the nursery started */
} luaN_Bytes;

/* A hash part with a growth buffer: growth.h. */
typedef struct luaN_Growth {
  struct luaN_Growth *next;
  Table *t;
  const Node *old;		/* the current nodes of t */
  unsigned size;		/* number of nodes in 'old' */
  unsigned from;		/* number of nodes below 'lastfree' of t when this growth started */
  /* The growth buffer: a vector of twice as many nodes, and its 'lastfree'. */
  Node *node, *lastfree;
  uint32_t *copyof;		/* for each old node, the index of its copy, or LUAN_NOCOPY */
  unsigned cleared;		/* number of nodes of the buffer that are initialized */
  unsigned copied;		/* number of nodes of 'old' that were visited for copying */
  unsigned used;		/* number of nodes of the buffer that have a key or had one */
  /* 1: a key was inserted since the last major collection started. */
  lu_byte iswanted;
} luaN_Growth;

/* State of the pacer: pace.c. */
typedef struct luaN_Pace {
  lu_byte fullcycles;		/* 1: the program or LUA_GC has set the incremental mode */
  /* 1: the last major collection in slices found one WEAK_FOUND-th of the old bytes dead, or
     more. */
  lu_byte found;
  /* 1: weak tables had received many entries when the last major collection started. */
  lu_byte hurried;
  lu_byte wider;		/* number of times that the nursery's bound is doubled (pace.c) */
  unsigned turn;		/* state of the sequence of nursery sizes between two bounds */
  size_t nursery;		/* bytes from the last minor collection to the next one */
  size_t deferred;		/* bytes of 'nursery' that are withheld until luaN_resume */
  /* Bytes of large leaf objects that may be allocated in addition to 'nursery' before a
     collection; decreases. */
  size_t textroom;
  size_t size;			/* bytes of the current nursery at its start */
  /* Sums over all earlier nurseries, in bytes: 'planned' of their sizes as far as they were used,
     'charged' of the bytes that they were charged with (luaN_charged). */
  uint64_t planned, charged;
  size_t owed;			/* work debt: bytes of marking that were too many for one pause */
  /* Bytes by which large stacks have grown. The work debt may exceed its usual limit by WORK times
     this number, up to PATIENCE_MIN times 'live' (luaN_pay); pauses reduce the number. */
  size_t stackgrowth;
  unsigned cycles;		/* number of major collections that have ended */
  /* back-off: heaps of allocation before a major collection by volume */
  unsigned patience;
  /* Value of spent() when the last major collection ended, in bytes. */
  uint64_t since;
  l_mem byhand;			/* bytes of explicit steps since the last major collection ended */
  uint64_t volume;		/* bytes of allocation after which a major collection is due */
  /* Bytes in use, and bytes of footprint, when the last major collection ended. */
  size_t live, footprint;
  size_t outside;		/* external bytes when the last major collection ended */
  /* Number of entries of 'finalizable' when the last major collection ended. */
  size_t finalizers;
  size_t fixednursery;		/* nursery size that the program has set, in bytes, or 0 */
  /* Settings of the operator. */
  luaN_Tuning tuning;
  /* Upper bound of the nursery in bytes, because lua_Alloc has refused memory; or 0. Major
     collections compute it again. */
  size_t tight;
  /* Bytes in use, here with external bytes and without spared ones (hasgrown), at which a major
     collection starts. */
  size_t threshold;
  /* Bytes in use at which a major collection starts if the footprint is at least 'threshold'. */
  size_t growthtrigger;
  size_t footprinttrigger;	/* bytes of footprint at which a major collection starts */
} luaN_Pace;

/* Statistics of pauses, in nanoseconds: pause.c. */
typedef struct luaN_Pauses {
  uint64_t began;		/* CLOCK_MONOTONIC at the start of the last or running pause */
  /* Durations: of the last pause, of the longest one, of all together. */
  uint64_t last, longest, sum;
  uint64_t processor;		/* CPU time at the start of the last pause with a sampler */
  /* CPU time at which the slice of a major collection in this pause started, or 0. */
  uint64_t slicebegan;
  /* CPU time of all slices of major collections that ran while there was a sampler. */
  uint64_t slices;
  /* By luaN_Looked of seam.h: number of entries that the last or running pause visited in addition
     to its survivors. */
  uint64_t looked[4];
  /* The largest work of a pause, in entries, without the remembered set. */
  uint64_t mostwork;
} luaN_Pauses;

/* Switches of LUAN_STRESS in the debug build, by their names (stress.h); 0: not set. */
typedef struct luaN_Stress {
  size_t slice;
  unsigned verify, emergency;
  unsigned untilemergency;	/* allocations until the next emergency collection */
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
  luaN_Growth *growths;		/* the growths that are in progress */
  luaN_Pace pace;
  luaN_Pauses pause;
  luaN_Stress stress;
} luaN_Gc;

#define LUAN_OPCODES	83	/* number of opcodes of the bytecode loop (tick.c) */

/* State of time samples (tick.h). A signal handler writes to it, on the OS thread that runs the
   state. */
typedef struct luaN_Tick {
  struct lua_State *running;	/* the thread that runs; NULL: the main thread */
  /* The OS thread that made the last protected call of the state, named by the address of its
     luaN_innermost; NULL: none. */
  const void *where;
  struct CallInfo *ci;		/* the running frame at the last tick that diverted the table */
  int deep;			/* 1: that tick was in code outside the bytecode loop */
  volatile lu_byte wanted;	/* 1: the next safepoint is to call the sampler (TK1) */
  volatile lu_byte diverted;	/* 1: the dispatch table is diverted (TK3) */
  volatile lu_byte collecting;	/* LUAN_MINOR or LUAN_MAJOR during a collection, else 0 */
  /* Number of instructions that were diverted, in the life of the state. */
  uint64_t diversions;
  const void *dispatch[LUAN_OPCODES];  /* code address of each opcode for the bytecode loop */
} luaN_Tick;

/* The heap of a state. 'free' and 'limit' are read by every allocation and are first for that
   reason (nursery.h has their invariants). */
typedef struct luaN_Heap {
  char *free;			/* nursery_free: the next byte of the current hole */
  char *limit;			/* nursery_limit: end of the memory for the fast path */
  char *end;			/* end of the current hole */
  char *mark;			/* 'free' when the accounts were last updated */
  uint64_t point;		/* nursery address of the next sample (S1) */
  uint64_t allocated;		/* bytes allocated in the life of the state, up to 'mark' */
  uint64_t texts;		/* bytes of 'allocated' in large leaf objects */
  uint64_t allocatedoutside;	/* external bytes, as samples count them */
  /* Bytes of large blocks that the current nursery was charged with and that may be credited when
     they are freed. */
  size_t spare;
  uint64_t copyleft;		/* bytes of growth until the next copy sample */
  const struct luaN_Sampler *sampler;
#if defined(LUAN_DEBUG)
  int asking;			/* 1: a function of the sampler is running (debug.h) */
#endif
  /* Bits of the blocks whose free or resize is reported to the sampler (luaN_watch), or NULL. */
  const uint64_t *watched;
  unsigned watchlog;		/* log2 of the number of bits of 'watched' */
  /* 1: an allocation has failed since luaN_eraserest ran last; slots above the stack tops may have
     values of unwound frames. */
  int starved;
  /* luaC_fullgc. The allocation layers call the collector only through this pointer
     (luaN_emergency). */
  void (*emergency) (struct lua_State *L, int);
  /* The table whose vectors, or the thread whose stack, is being allocated: the owner of the next
     sample of a vector. */
  const void *resizing;
  const void *rehashing;	/* the table that is being resized, or NULL */
  const void *unanchored;		/* a vector that belongs to no object yet, or NULL */
  size_t unanchoredsize;		/* bytes of 'unanchored' */
  /* A root: an object that only C code of the API refers to, or NULL. */
  GCObject *pinned;
  void *waiting;		/* a moved stack whose sample is postponed, or NULL */
  size_t waitingsize;		/* bytes of the stack in 'waiting' */
  /* Bytes that rounding has added to the block that is being counted. */
  unsigned rounding;
  int waitingoutside;		/* 1: the postponed sample's block passed by the nursery */
  /* Bytes by which the postponed sample's block passed the sample point. */
  uint64_t waitingover;
  luaN_Region overflow;		/* the overflow region */
  luaN_Blocks blocks;
  /* Numbers of collections in the life of the state; a major one counts when its marking ends. */
  uint64_t minors, majors;
  luaN_Gc gc;
  luaN_Tick tick;
  struct luaN_Counts *counts;	/* exact counts by kind (luaN_setcounts), or NULL */
  const struct luaN_Limits *limits;	/* luaN_setlimits, or NULL */
  uint64_t buffers;		/* bytes of all buffers of luaL_Buffer (luaN_admit) */
  const void *refusal;		/* message of the limit that refused an allocation, or NULL (LM2) */
  struct luaN_Labels *labels;	/* account of bytes by label (luaN_setlabels), or NULL */
} luaN_Heap;


/* Runs a full collection that calls no finalizer, because memory is short. gcstopem must be 0. */
#define luaN_emergency(L)	((*G(L)->heap.emergency)(L, 1))

/* Switches of LUAN_STRESS: luaN_isstressed is 1 if emergency collections are requested;
   luaN_slicestress is the requested number of bytes of a slice, or 0. */
#if defined(LUAN_DEBUG)
#define luaN_isstressed(g)	((g)->heap.gc.stress.emergency != 0)
#define luaN_slicestress(c)	((c)->stress.slice)
#else
#define luaN_isstressed(g)	0
#define luaN_slicestress(c)	((size_t)0)
#endif

#endif
