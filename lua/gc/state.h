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
  /* mode of the collector that LUA_GC sets: 1 + KGC_INC or 1 + KGC_GEN; 0: none */
  lu_byte mode;
  /* 1: LUA_GC requests that a big mapped heap has huge pages from the first access on */
  lu_byte hugepages;
  lu_byte nomadvise;		/* 1: LUA_GC requests that the core does not call madvise */
  /* Upstream's parameters pause, stepmul and genmajormul as LUA_GC sets them, in percent plus 1; 0:
     not set. */
  unsigned pause, stepmul, major;
  /* Bytes of allocation from one minor collection to the next, as LUA_GC sets them; 0: not set. If
     'most' is not 0, the sizes of the nurseries vary between 'nursery' and 'most'. */
  size_t nursery, most;
} luaN_Tuning;

/* An entry of remset.writes, a small cache that counts, for some tables, the remembered slots that
   were processed early since the last minor collection (refine.c). A count may be too low, because
   another table may have taken the entry. */
typedef struct luaN_Writes {
  /* the table whose remembered slots are counted; NULL: the entry is unused */
  Table *t;
  /* Number of remembered slots of table 't' that were processed early, that is, before a minor
     collection would, since the last minor collection. */
  size_t n;
} luaN_Writes;

/* largest number of tables for which luaN_Writes counts remembered slots that were processed
   early */
#define LUAN_WRITES	8u

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
  /* The current epoch: the number, 1 to 3, in the headers of the objects that were marked in the
     running or last major collection, or tenured since it started. */
  lu_byte epoch;
  /* The previous epoch: the number, 1 to 3, in the headers of objects that were last marked before
     the running or last major collection started. */
  lu_byte previous;
  /* In the mark byte of a line of the heap (64 bytes): the bit that says that the line has objects
     with the current epoch (luaN_bit). */
  lu_byte bit;
  lu_byte minor;		/* 1: a minor collection is running */
  lu_byte major;		/* 1: a major collection is marking */
  /* 1: at least one marked object is still to be traversed and not on a mark stack, because the
     mark stack was full. */
  lu_byte pending;
  /* 1: slices that scan a deep stack in parts are visiting the unused CallInfos of its thread, with
     which they start. */
  lu_byte cached;
  /* 1: the running minor collection may leave some live objects young, for example long strings,
     because many of them die soon (ageing.h). */
  lu_byte ageing;
  /* The object whose references are being traversed. If an object that it refers to is left young,
     the traversed object (the holder) or one of its slots is recorded, so that the next minor
     collection visits that reference again. NULL: marking must not leave any object young now. */
  GCObject *holder;
  /* The slot of a table whose value is being marked, if only this remembered slot of the table is
     being visited. NULL: all references of the traversed object ('holder') are visited. */
  void *slot;
  /* The references to the objects that the running minor collection leaves young. 'holders' has the
     objects that refer to them. 'slots' has slots of tables that refer to them, as pairs: a table
     and a slot. */
  luaN_Vec holders, slots;
  /* Number of times, since the state was created, that marking has reached an object and left it
     young. */
  size_t met;
  luaN_Vec young;		/* mark stack of objects that were young when they were marked */
  luaN_Vec old;			/* mark stack of objects that were old when they were marked */
  /* The large table (more than WHOLE slots, traverse.c) that slices of the major collection are
     traversing in parts, or NULL. */
  Table *table;
  /* Where the next slice of marking continues. While slices traverse a large table ('table'): the
     index of its next slot. While slices scan a deep stack ('thread'): the number of slots, from
     the start of the stack, that are not marked yet. */
  unsigned index;
  /* Sum, since the state was created, of the marking cost in bytes of all small tables that were
     marked eagerly, that is, together with the objects that they refer to and without a mark stack
     (mark.c); wraps around. */
  unsigned settled;
  /* The thread whose deep stack slices of the major collection are scanning in parts, or NULL. */
  struct lua_State *thread;
  /* The CallInfo with which the next slice continues to scan a deep stack (that of 'thread'). NULL:
     all CallInfos of that thread were visited, and the slots of its stack are next. */
  struct CallInfo *ci;
  /* Bytes of the objects that the running or last major collection has marked. */
  l_mem reached;
} luaN_Mark;

/* The remembered set: remset.c, refine.c. */
typedef struct luaN_Remset {
  /* The remembered objects: old objects that may refer to young ones, so that the next minor
     collection visits them. Tables that have had a large vector are in remset.whole instead. */
  luaN_Vec objects;
  /* The remembered tables that have had a large vector (over LUAN_LARGE bytes): the next minor
     collection visits all their slots, for references to young objects. */
  luaN_Vec whole;
  /* Remembered slots of old tables, as pairs (table, slot, table, slot, …): the next minor
     collection visits only these slots of the tables. */
  luaN_Vec slots;
  /* List of the threads whose stacks have changed since they were scanned: those that lua_lock has
     made dirty since the last collection. They are linked by nextdirty; LUAN_LASTDIRTY ends the
     list. A minor collection moves the threads to the list of remembered objects when it starts. */
  struct lua_State *dirty;
  /* Number of words at the start of the list of remembered slots (two words for each slot) that the
     last minor collection has added, because these slots refer to objects that the collection has
     left young (ageing.h). */
  size_t aged;
  /* The remembered table that safepoints are processing in parts, before a minor collection would
     visit all of it (refine.c), or NULL. The table was removed from the list of remembered tables
     ('whole'). */
  Table *refining;
  /* In the remembered table that safepoints are processing in parts ('refining'): the index of the
     first slot that is still to be processed. */
  unsigned refined;
  /* Limit of each of the three lists of the remembered set. The entries of a longer list are
     processed before the next minor collection, so that the collection has less to do (refine.c).
     The limit is a number of entries for the remembered objects, a number of words for the
     remembered slots, and a total number of slots for the tables that are remembered as a whole. */
  unsigned many;
  /* A second limit of the list of remembered slots of tables, in words. When a slot of a huge table
     is added, the entries of the list are processed if the list has at least this length
     (refine.c). MAX_SIZET: there is no second limit. */
  size_t refineat;
  /* Number of remembered objects that luaN_refineobjects has left in the list of them when it last
     processed the list before a minor collection: threads, open upvalues and weak tables. */
  size_t stayed;
  /* The object that was last stored into a huge table (LUAN_VAST), or NULL. Used only for
     comparisons, because the object may have been freed. */
  const GCObject *stored;
  /* For some tables, the number of their remembered slots that were processed (refine.c) since the
     last minor collection. */
  luaN_Writes writes[LUAN_WRITES];
  /* 1: luaN_refineslots, which processes remembered slots early, has requested a minor collection,
     because many remembered slots of weak tables are left. Until the minor collection runs, the
     limit of the list of remembered slots is twice the usual one (remset.many). */
  lu_byte hurried;
  /* 1: the remembered set is incomplete, so the next collection must be a full one */
  lu_byte overflow;
} luaN_Remset;

/* Indexes in weak.doubtful: the list of entries whose weak keys are not marked so far, and the list
   of those whose weak values are not marked so far; and the number of lists. */
enum { LUAN_DOUBTKEYS, LUAN_DOUBTVALUES, LUAN_DOUBTS };

/* Weak tables: weak.c, ahead.c, termination.c. */
typedef struct luaN_Weak {
  /* The weak tables that the running minor collection, full collection or atomic step has reached.
     Each word is the address of a table, with the kind of the table (which of its references are
     weak) in the low bits (luaN_tagged of weak.h). */
  luaN_Vec discovered;
  /* The weak tables that a major collection has reached in slices: those with LUAN_DISCOVERED (G6).
     Each word is the address of a table, with the kind of the table (which of its references are
     weak) in the low bits. */
  luaN_Vec inmajor;
  /* Nodes of ephemeron tables (tables with weak keys) whose keys are not marked so far, and whose
     values must be marked if the keys are. */
  luaN_Vec unresolved;
  /* Two lists of entries that slices have visited in weak tables (ahead.h): the entries whose weak
     key was not marked then (undecided keys), and those whose weak value was not marked (undecided
     values). Each list has a table, with tag 1 in the low bits, then slots of that table, then the
     next table. The list of undecided keys also has logged objects, with tag 2: objects that were
     marked after the list was visited. */
  luaN_Vec doubtful[LUAN_DOUBTS];
  /* Index, in the list of weak tables that the major collection has reached ('inmajor'), of the
     table that slices visit next. */
  unsigned next;
  /* Index of the slot that slices visit next in the weak table that they are visiting. */
  unsigned slot;
  /* Numbers of repetitions in the running major collection. 'rescans': slices have started again to
     visit the list of reached weak tables ('inmajor') from its start. 'passes': slices have visited
     the two lists of undecided entries (weak.doubtful) again, or have visited the list of undecided
     values to tombstone the values, that is, to make them look empty (hidden.h). */
  lu_byte rescans, passes;
  /* 'doubting' is 1 while slices visit the two lists of undecided entries again, that is, of
     entries whose weak key or value was not marked when it was visited (weak.doubtful). 'again' is
     the list that they visit: LUAN_DOUBTKEYS or LUAN_DOUBTVALUES. */
  lu_byte doubting, again;
  /* 1: an atomic step has decided about the objects in tombstoned slots (slots that look empty and
     keep the addresses of their objects, hidden.h): those that are not marked are dead. */
  lu_byte decided;
  /* 1: the list of ephemerons with unmarked keys ('unresolved') is incomplete, because there was no
     memory */
  lu_byte overflow;
  /* 1: ephemerons (entries with a weak key, whose value must be marked if the key is) are being
     resolved by a chase: each marked object is looked up as a key (chase.h). So every object that
     may be a weak key must be pushed on a mark stack, because only objects that are popped from
     there are looked up. */
  lu_byte chasing;
  /* 1: an entry with a dead weak key may have been kept, because a dead object with a finalizer
     refers to the key (termination.c). */
  lu_byte resurrected;
  /* 1: old objects that are marked now are logged, that is, appended to the list of weak keys that
     were not marked when they were visited, so that the objects are looked up as weak keys
     (ahead.h). */
  lu_byte logging;
  /* Progress of slices in the list of undecided entries (weak.doubtful) that they are visiting.
     'doubt' is the index of the next word to visit, and 'doubtkept' is the number of words that
     were kept in the list so far. While slices tombstone values (hidden.h), 'doubtkept' is the
     index at which they stop. */
  unsigned doubt, doubtkept;
  /* Number of undecided entries (entries whose weak key or value was not marked, weak.doubtful) for
     which slices have marked an object in their present visit of the two lists. */
  unsigned resolved;
  /* In the list of undecided weak entries that slices are visiting, a table is followed by slots of
     it: the table to which the word before index 'doubt', the next word to visit, belongs. */
  Table *doubtof;
  /* In the list of undecided weak entries that slices are visiting, a table is followed by slots of
     it: the table of the last word that was kept in the list so far. */
  const Table *keptof;
  /* Number of words at the start of the list of undecided values (weak values that were not marked
     when they were visited) that were visited to tombstone the values, that is, to make their slots
     look empty (hidden.h). */
  unsigned hidden;
  /* Number of words at the start of the list of undecided keys (weak keys that were not marked when
     they were visited) that were visited already. The words after them were added after the log of
     marked objects was started (weak.logging). */
  unsigned visited;
  /* Number of weak entries whose young key or value has survived a minor collection since the last
     major collection started (remembered.c). */
  size_t tenured;
} luaN_Weak;

/* The string table: interned.c. */
typedef struct luaN_Strings {
  luaN_Vec young;		/* short strings allocated since the last minor collection */
  /* 1: the list of short strings allocated since the last minor collection is incomplete, so the
     minor collection sweeps all buckets of the string table */
  lu_byte unlisted;
  /* 1: luaS_new has filled its cache of strings since the last collection */
  lu_byte cached;
  lu_byte shrinking;		/* 1: the string table is being made smaller */
  /* Number of short strings in the string table that have the epoch of the running or last major
     collection, that is, are marked. */
  int seen;
  /* Number of strings in the string table that the major collection has found dead and not removed
     yet. */
  int dead;
  /* index of the first bucket of the string table that slices have not swept yet */
  int bucket;
  int limit;			/* number of buckets of the string table in use */
  /* Number of strings in the string table after the last collection; -MINSTRTABSIZE before the
     first. */
  int kept;
} luaN_Strings;

/* Objects with finalizers: finalize.c, waiting.c. */
typedef struct luaN_Finalize {
  /* List of the objects with finalizers, except the dead ones that are queued for the call of their
     finalizers, in the order in which the objects got the finalizers. */
  luaN_List finalizable;
  /* The queue of dead objects for the call of their finalizers, in the order of the calls. The
     finalizers of the entries before index finalize.next were called already. */
  luaN_Vec tobefinalized;
  /* index of the next object to finalize in the queue of dead objects ('tobefinalized') */
  size_t next;
  /* In the queue of dead objects for the call of their finalizers ('tobefinalized'): the index of
     the first object that the major collection has not marked. */
  size_t seen;
  /* How far slices of the major collection have found and queued the dead objects that have
     finalizers. */
  luaN_Selection selection;
  /* Number of entries, at the start of the list of dead userdata that were left young ('left'),
     whose finalizers were called. */
  unsigned called;
  /* Number of objects with finalizers that were found dead and are not queued yet for the call of
     their finalizers. Their entries of 'finalizable' have a tag (luaN_select). */
  size_t selected;
  /* Number of dead objects whose finalizers were not called yet at the end of the last step of the
     collector, before the step called a batch of finalizers (luaN_setquota). */
  unsigned waiting;
  /* least number of finalizer calls of a batch, even if the time of the batch is up */
  unsigned quota;
  /* 1: the running collection has queued dead objects for the call of their finalizers */
  lu_byte found;
  /* Number of calls of luaN_willclose since the last minor collection. Each reports a young object
     with a finalizer that the program is going to close explicitly. */
  unsigned closed;
  /* Outside the incremental mode, a minor collection starts when there are (YOUNG_MIN << youngbits)
     + 'closed' young objects with finalizers (finalize.c); 'closed' of them are going to be closed
     explicitly. 'youngbits' grows if many of these objects survive and falls if few do. */
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
  /* Number of entries, at the start of the list of objects that never die ('fixed'), that are
     marked in the current epoch. */
  size_t fixedseen;
  /* prototypes and large leaf objects (long strings and userdata over LUAN_LARGETEXT bytes) */
  luaN_List large;
  luaN_List tables;		/* tables that have had a vector of more than LUAN_LARGE bytes */
  luaN_List threads;		/* all threads but the main thread */
  /* Userdata that own memory or resources outside the heap, or owned some before the last sweep of
     this list (outside.c). */
  luaN_List standins;
} luaN_Lists;

/* Progress of the sweep of a major collection: major.c, sweep.c. */
typedef struct luaN_Sweep {
  /* 1: a major collection has ended its marking, and dead objects of the previous epoch may still
     exist */
  lu_byte active;
  /* index of the list of objects that the major collection is sweeping (luaN_listof) */
  lu_byte list;
  /* 1: the thread whose unused stack memory the major collection is freeing (phase GCSstacks) has
     more CallInfos to free */
  int more;
  /* Progress in the list of objects that is being swept: the first 'next' entries were visited, and
     'kept' of them stay in the list, at its start (G7). Two other phases use these fields: while
     slices find and queue the dead objects with finalizers, they use both for the list
     'finalizable' (finalize.c), and GCSstacks uses 'next' for the list of threads. */
  size_t kept, next;
  /* The block of the heap that contained the large leaf objects that were freed last, if
     luaN_relist is still to be called for the block, which moves it to the list for the size of its
     largest run of free lines; or NULL. */
  luaN_Block *freed;
} luaN_Sweep;

/* Accounts, in bytes unless stated otherwise. */
typedef struct luaN_Bytes {
  /* Bytes of memory that the core frees explicitly and not by sweeping lines, for example the
     string table (H6). */
  size_t explicit;
  l_mem old;			/* bytes of old objects and their vectors (H6) */
  l_mem living;			/* bytes of the objects that the last major collection marked */
  /* Bytes of blocks that the heap keeps until the next major collection, because the heap has not
     shrunk and will need them again (luaN_trimheap). 0: none. */
  size_t needed;
  /* KiB of blocks in use when the marking of a heap that has shrunk ended: the largest value of the
     current period of time (index 0; major.c) and of the previous one (index 1). The heap keeps
     memory for the larger of the two. Values above the state's share of LUAN_BIGHEAP bytes, which
     all states of the process divide equally (heap.h), are not recorded. */
  unsigned lately[2];
  /* KiB that the state had allocated in its life when the current period of bytes.lately started;
     wraps around. */
  unsigned whileat;
  /* Milliseconds of CLOCK_MONOTONIC at which the current period of bytes.lately started, the time
     in which a heap that has shrunk keeps freed memory (major.c); wraps around. */
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
  /* Bytes that have become old since the state was created, up to the last collection (sum of
     bytes.tenured). */
  uint64_t alltenured;
  /* Bytes of large leaf objects (long strings and userdata of more than LUAN_LARGETEXT bytes), and
     of small userdata queued for the call of their finalizers, that became old since the last major
     collection ended. */
  size_t texts;
  /* Value of bytes.texts (bytes of large leaf objects that have become old since the last major
     collection ended) at the start of the last minor collection that ran while no major collection
     was running. */
  size_t textsbefore;
  /* Bytes of large leaf objects, and of small userdata queued for the call of their finalizers,
     that became old while the last major collection ran. */
  size_t textsleft;
  /* Bytes of large leaf objects (long strings and userdata of more than LUAN_LARGETEXT bytes) that
     the last minor collection left young. */
  size_t aged;
  /* Bytes of small userdata that the last minor collection left young. */
  size_t waiting;
  /* external bytes (memory and resources outside the heap) that userdata own at present */
  size_t outside;
  /* external bytes (memory outside the heap that userdata own) added since the last minor
     collection */
  size_t youngoutside;
} luaN_Bytes;

/* A table whose hash part is nearly full, and its next, larger vector of nodes, to which keys are
   copied in advance: the growth buffer (growth.h). */
typedef struct luaN_Growth {
  /* The next entry of the state's list of growing tables (those with a growth buffer, into which
     keys are copied in advance); NULL: this is the last one. */
  struct luaN_Growth *next;
  Table *t;			/* the growing table: its hash part is nearly full */
  const Node *old;		/* the current hash part of the growing table */
  /* Number of nodes of the growing table's current hash part, which is half of the number of nodes
     of its growth buffer, the next hash part. */
  unsigned size;
  /* Number of nodes of the growing table's current hash part that were still to be searched for a
     free node (those below 'lastfree') when the growth buffer was allocated. */
  unsigned from;
  /* The growth buffer: the next hash part of the growing table, with twice as many nodes, and the
     pointer below which a free node of it is searched for. */
  Node *node, *lastfree;
  /* For each of the first 'copied' nodes of the growing table's current hash part, the index of the
     copy of its key in the growth buffer (the next hash part), or LUAN_NOCOPY. */
  uint32_t *copyof;
  /* number of nodes at the start of the growth buffer (the next hash part) that are initialized */
  unsigned cleared;
  /* Number of nodes at the start of the growing table's current hash part that were visited to copy
     their keys to the growth buffer (the next hash part). */
  unsigned copied;
  /* Number of nodes of the growth buffer (the next hash part of the table) that have a key or had
     one. */
  unsigned used;
  /* 1: a key was inserted into the growing table since the last major collection started. */
  lu_byte iswanted;
} luaN_Growth;

/* State of the pacer: pace.c. */
typedef struct luaN_Pace {
  lu_byte fullcycles;		/* 1: the program or LUA_GC has set the incremental mode */
  /* 1: the last major collection in slices found dead at least one WEAK_FOUND-th of the bytes of
     old objects. */
  lu_byte found;
  /* 1: when the running or last major collection started, weak tables had received many entries, so
     that the collection does more work in each slice (it hurries). */
  lu_byte hurried;
  /* number of times that the upper bound of the nursery's size is doubled (pace.c) */
  lu_byte wider;
  /* State of the number sequence by which the size of each nursery is chosen between the two bounds
     that LUA_GC sets. */
  unsigned turn;
  /* bytes of allocation from the last minor collection to the next one */
  size_t nursery;
  /* Bytes of the nursery that may be used only after luaN_resume, so that a safepoint comes earlier
     and calls the next batch of finalizers. */
  size_t deferred;
  /* Bytes of large leaf objects (long strings and userdata of more than LUAN_LARGETEXT bytes) that
     the program may still allocate, in addition to the nursery, before the next minor
     collection. */
  size_t textroom;
  /* size of the current nursery in bytes, as planned when it started */
  size_t size;
  /* Sums over all nurseries before the current one, in bytes. 'charged': sum of the bytes that were
     counted against each nursery (luaN_charged); a minor collection starts when they reach its
     size. 'planned': the same sum, but at most the planned size of a nursery ('size') counts. */
  uint64_t planned, charged;
  /* Work debt: bytes that slices of the major collection still have to mark, because there were too
     many for one pause. */
  size_t owed;
  /* Bytes by which stacks have grown, as long as the marking work for them is not done. The limit
     of the work debt (bytes that slices still have to mark) is higher by WORK times this number,
     but by at most PATIENCE_MIN times the live bytes (luaN_pay). */
  size_t stackgrowth;
  /* number of major collections that have ended since the state was created */
  unsigned cycles;
  /* Back-off: even if the heap does not grow, a major collection starts when the bytes allocated
     since the last one are about this multiple of the live bytes (PATIENCE_MIN to PATIENCE_MAX of
     pace.c). */
  unsigned patience;
  /* Bytes that the state had allocated, as the pacer counts them (spent in pace.c), when the last
     major collection ended. */
  uint64_t since;
  /* Bytes that explicit steps (luaN_step) have counted as allocated since the last major collection
     ended. */
  l_mem byhand;
  /* Bytes of allocation since the end of the last major collection at which the next one is due. */
  uint64_t volume;
  /* Bytes in use, and bytes of footprint (reserved memory without empty blocks), when the last
     major collection ended. */
  size_t live, footprint;
  /* external bytes (memory outside the heap, owned by userdata) when the last major collection
     ended */
  size_t outside;
  /* Number of objects with finalizers (entries of 'finalizable') when the last major collection
     ended. */
  size_t finalizers;
  /* size of each nursery that the program has set, in bytes; 0: not set */
  size_t fixednursery;
  luaN_Tuning tuning;		/* settings of the collector in the environment variable LUA_GC */
  /* Upper bound of the nursery's size, in bytes, after lua_Alloc has refused memory; 0: none.
     Computed again at the end of each major collection. */
  size_t tight;
  /* Bytes in use at which a major collection starts. In comparisons with this field, growthtrigger
     and footprinttrigger, external bytes count as in use. Some large leaf objects and young
     userdata do not count (hasgrown of pace.c). */
  size_t threshold;
  /* Bytes in use at which a major collection starts if the footprint (reserved memory without empty
     blocks) is at least pace.threshold bytes. */
  size_t growthtrigger;
  /* bytes of footprint (reserved memory without empty blocks) at which a major collection starts */
  size_t footprinttrigger;
} luaN_Pace;

/* Statistics of pauses, in nanoseconds: pause.c. */
typedef struct luaN_Pauses {
  /* nanoseconds of CLOCK_MONOTONIC at the start of the last or running pause */
  uint64_t began;
  /* Durations in nanoseconds: of the last pause of the collector, of the longest pause so far, of
     all pauses together. */
  uint64_t last, longest, sum;
  /* nanoseconds of CPU time at the start of the last pause that started with a sampler */
  uint64_t processor;
  /* Nanoseconds of CPU time at which the running slice of a major collection started; 0: no slice
     is running, or there is no sampler. */
  uint64_t slicebegan;
  /* Nanoseconds of CPU time of all slices of major collections that ran while there was a
     sampler. */
  uint64_t slices;
  /* Numbers of entries of lists, stacks, weak tables and the remembered set that the last or
     running pause has visited, in addition to the objects that it found alive. The index, a
     luaN_Looked (seam.h), says which of these. */
  uint64_t looked[4];
  /* The largest number of entries of lists, stacks and weak tables that one pause of the collector
     has visited, without entries of the remembered set. */
  uint64_t mostwork;
} luaN_Pauses;

/* Switches of LUAN_STRESS in the debug build. The members have the names of the switches, which
   stress.h explains. 0: not set. */
typedef struct luaN_Stress {
  /* switch slice=N: N, the bytes of marking in one slice of a major collection; 0: not set */
  size_t slice;
  unsigned verify, emergency;
  /* with the switch emergency=N: number of events until the next emergency collection */
  unsigned untilemergency;
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
  /* List of the growing tables: nearly full tables that have a growth buffer, the next hash part,
     into which keys are copied in advance (growth.h). */
  luaN_Growth *growths;
  luaN_Pace pace;
  luaN_Pauses pause;
  luaN_Stress stress;
} luaN_Gc;

#define LUAN_OPCODES	83	/* number of opcodes of the bytecode loop (tick.c) */

/* State of time samples (tick.h). The core writes to it, and so does a signal handler on the OS
   thread that runs the state. */
typedef struct luaN_Tick {
  struct lua_State *running;	/* the thread that runs at present; NULL: the main thread */
  /* Identifies the OS thread that made the last protected call of the state: the address of that
     thread's variable luaN_innermost. NULL: no protected call was made. */
  const void *where;
  /* The frame that ran at the last tick (an instant of which a time sample is taken) that diverted
     the dispatch table, so that the next instruction runs a safepoint. */
  struct CallInfo *ci;
  /* 1: at the last tick that diverted the dispatch table, code outside the bytecode loop ran */
  int deep;
  volatile lu_byte wanted;	/* 1: the next safepoint is to call the sampler (TK1) */
  /* 1: all entries of the dispatch table lead to code that runs a safepoint (TK3) */
  volatile lu_byte diverted;
  volatile lu_byte collecting;	/* LUAN_MINOR or LUAN_MAJOR while a collection runs, else 0 */
  /* Number of instructions that were diverted to a safepoint, since the state was created. */
  uint64_t diversions;
  /* The dispatch table: for each opcode, the address to which the bytecode loop jumps. */
  const void *dispatch[LUAN_OPCODES];
} luaN_Tick;

/* The heap of a state. The first two fields are those that every allocation reads (N1 to N3 of
   nursery.h). */
typedef struct luaN_Heap {
  /* The first free byte of the current hole, the run of free lines from which the fast path
     allocates (nursery_free in comments). */
  char *free;
  /* the fast path allocates up to this address (nursery_limit in comments) */
  char *limit;
  /* end of the current hole, the run of free lines from which the fast path allocates */
  char *end;
  /* Value of nursery_free, the address of the next byte to allocate, when the counts GCdebt and
     heap.allocated were last updated (N2). */
  char *mark;
  /* The sample point: the next sample is due when nursery_free, the address of the next byte to
     allocate, reaches this number (S1). */
  uint64_t point;
  /* Bytes allocated since the state was created, without external bytes, and without those
     allocated since this count was last updated (N2). */
  uint64_t allocated;
  /* bytes of large leaf objects (long strings and userdata) among the bytes of heap.allocated */
  uint64_t texts;
  /* External bytes (memory outside the heap that userdata own) that were counted as allocated since
     the state was created. */
  uint64_t allocatedoutside;
  /* Bytes of large blocks, and of memory that the core frees explicitly, that have counted for the
     start of the next minor collection. When such blocks are freed, up to this number of bytes is
     subtracted again (payback of nursery.c). */
  size_t spare;
  /* Bytes that the growth of tables and buffers is to copy until the next copy sample: a sample of
     copied bytes (copies.h). LUAN_NOCOPIES: there are no copy samples. */
  uint64_t copyleft;
  /* the functions that the core calls for samples (seam.h), or NULL */
  const struct luaN_Sampler *sampler;
#if defined(LUAN_DEBUG)
  int asking;			/* 1: a function of the sampler is running (debug.h) */
#endif
  /* Bits, by hash values of addresses, of the blocks whose freeing and resizing are reported to the
     sampler (luaN_watch); NULL: none. */
  const uint64_t *watched;
  /* log2 of the number of bits that select the blocks reported to the sampler ('watched') */
  unsigned watchlog;
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
  /* bytes of the new vector to which no object refers yet ('unanchored') */
  size_t unanchoredsize;
  /* A root: the closure that luaN_pin has pinned, because only C code of the API refers to it; or
     NULL. */
  GCObject *pinned;
  /* Block of a stack that was moved, whose sample is postponed until the stack can be walked (S2);
     or NULL. */
  void *waiting;
  /* bytes of the stack's block whose sample is postponed ('waiting') */
  size_t waitingsize;
  /* Bytes that rounding of the size has added to the block that is being allocated and counted. */
  unsigned rounding;
  /* 1: the stack's block whose sample is postponed ('waiting') is not from the current hole */
  int waitingoutside;
  /* Bytes of the stack's block whose sample is postponed ('waiting') that were allocated after the
     sample point. */
  uint64_t waitingover;
  /* The overflow region: a second run of free lines, for small blocks that do not fit into the
     current hole. */
  luaN_Region overflow;
  luaN_Blocks blocks;
  /* Numbers of minor and major collections in the life of the state. A collection is counted when
     its marking ends. */
  uint64_t minors, majors;
  luaN_Gc gc;
  luaN_Tick tick;
  /* exact counts of allocated bytes by kind of block (luaN_setcounts), or NULL */
  struct luaN_Counts *counts;
  /* limits of allocation that luaN_setlimits has set; NULL: no limits */
  const struct luaN_Limits *limits;
  /* bytes of all buffers of luaL_Buffer that exist in the state (luaN_admit) */
  uint64_t buffers;
  /* Message of the limit (luaN_setlimits) that has refused the last failed allocation; NULL: no
     limit has refused it (LM2). */
  const void *refusal;
  /* account of the bytes allocated with each label (luaN_setlabels), or NULL */
  struct luaN_Labels *labels;
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
