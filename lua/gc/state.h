/* SPDX-License-Identifier: MIT */
/* The data of a Lua state that upstream Lua does not have, in global_State: blocks, nursery,
   collector, time samples. lstate.h includes this header before it defines global_State. */
#pragma once

#include "lobject.h"

#include "memory/heap.h"
#include "memory/vec.h"

/* Declared here by name only; seam.h defines it. */
struct luaN_Sampler;

/* distance in bytes to the next sample if there is no sampler */
#define LUAN_INFINITY	(UINT64_C(1) << 63)

/* Settings from the environment variable LUA_GC (tuning.c). 0 means not set. */
typedef struct luaN_Tuning {
  /* mode of LUA_GC: 1 + KGC_INC or 1 + KGC_GEN; 0: not set */
  lu_byte mode;
  /* 1: request huge pages for each chunk of a large heap when the chunk is mapped */
  lu_byte hugepages;
  lu_byte nomadvise;		/* 1: do not call madvise */
  /* Three parameters of upstream's collector. Each field is 1 plus the value in percent; 0: not
     set. */
  unsigned pause, stepmul, major;
  /* Size of the nursery in bytes, set by a word of LUA_GC; 0: not set.
       nursery  N: the size of every nursery (nursery=N), or the smallest size (nursery=N-M)
       most     M: the largest size (nursery=N-M); 0 if the word is nursery=N */
  size_t nursery, most;
} luaN_Tuning;

/* An entry of the array remset.writes, a small cache: a table, and a count of its slots that
   refine.c has removed from the remembered set. If another table takes the entry, the count of the
   first table is lost; so the count of a table may be too low. */
typedef struct luaN_Writes {
  /* the table; NULL: the entry is unused */
  Table *t;
  /* Number of slots of t that refine.c has removed from the remembered set since the last minor
     collection. When n has reached the number of slots of t, refine.c adds t as a whole to the
     remembered set, and sets n to 0. */
  size_t n;
} luaN_Writes;

/* number of entries of remset.writes */
#define LUAN_WRITES	8u

/*
** Stages of a major collection's work on dead objects that have finalizers (finalize.c):
**   LUAN_UNSELECTED    not started
**   LUAN_SELECTING     slices move the dead objects from 'finalizable' to 'tobefinalized'
**   LUAN_RESURRECTING  slices mark these objects and everything they refer to
*/
typedef enum { LUAN_UNSELECTED, LUAN_SELECTING, LUAN_RESURRECTING } luaN_Selection;

/* The following structs are the parts of luaN_Gc, the collector's data of a state. The comment of
   each struct names the main files that use it. */

/* Marking: mark.c, traverse.c, major.c. */
typedef struct luaN_Mark {
  /* The current epoch, a number from 1 to 3. A major collection chooses it when it starts, and
     gives it to each object that it marks. Objects that were tenured since that collection started
     have this epoch, too. It stays the current epoch until the next major collection starts. */
  lu_byte epoch;
  /* The epoch of the previous major collection. While a major collection marks, an old object with
     this epoch is not marked yet. If the object still has this epoch when the marking ends, it is
     dead. */
  lu_byte previous;
  /* the bit of the current epoch in the mark byte of a line (64 bytes of a block; luaN_bit) */
  lu_byte bit;
  lu_byte minor;		/* 1: a minor collection is running */
  lu_byte major;		/* 1: a major collection is marking */
  /* 1: a marked object did not fit on a mark stack and must still be traversed */
  lu_byte pending;
  /* 1: slices are marking the memory of the unused CallInfos of the thread in the field 'thread'.
     The scan of a deep stack starts with this part. */
  lu_byte cached;
  /* 1: the running minor collection may leave long strings and userdata young (ageing.h) */
  lu_byte ageing;
  /* The object whose references the minor collection is visiting. If one of them leads to an object
     that stays young (ageing.h), this holder is added to the list 'holders', or its slot to the
     list 'slots'. NULL: each object that is reached now must be tenured. */
  GCObject *holder;
  /* Address of the slot that is being visited, if the remembered set has only some slots of the
     table 'holder'. NULL: all references of the object 'holder' are being visited. */
  void *slot;
  /* References that the running minor collection has found to objects that it leaves young
     (ageing.h). The next minor collection must visit them again.
     holders  the objects with such references
     slots    used instead of 'holders' for a table that has had a vector of more than LUAN_LARGE
              bytes: pairs of the table and the slot with the reference */
  luaN_Vec holders, slots;
  /* Counter: marking adds 1 whenever it reaches an object and leaves it young (ageing.h). If the
     visit of an object has changed the counter, the object refers to an object that stays young. */
  size_t met;
  luaN_Vec young;		/* mark stack of objects that were young when they were marked */
  luaN_Vec old;			/* mark stack of objects that were old when they were marked */
  /* The large table that slices of the major collection are traversing in parts, or NULL. */
  Table *table;
  /* Position at which the next slice continues:
       while the field 'table' is not NULL: index of the next slot of this table
       while the stack of the field 'thread' is scanned, from the top down: number of slots that are
         not scanned yet */
  unsigned index;
  /* Counter of bytes, modulo 2^32: the sizes of the small tables that were marked by recursion,
     without a mark stack (mark.c). The traversal of a table may mark such tables. The cost of the
     traversal includes the bytes by which it has raised this counter. */
  unsigned settled;
  /* The thread that the major collection is scanning in parts, one part in each slice, because its
     stack is deep; NULL: none. */
  struct lua_State *thread;
  /* The CallInfo (record of a call) of the field 'thread' that the next slice visits first. NULL:
     all CallInfos were visited, and slices scan the slots of the stack. */
  struct CallInfo *ci;
  /* Bytes of the objects that the running or last major collection has marked. */
  l_mem reached;
} luaN_Mark;

/* The remembered set: remset.c, refine.c. */
typedef struct luaN_Remset {
  /* Old objects to be traversed as a whole by the next minor collection. */
  luaN_Vec objects;
  /* Tables that have had a vector of more than LUAN_LARGE bytes and are to be traversed as a whole.
     (Other tables are in 'objects'.) */
  luaN_Vec whole;
  /* Slots of old tables to be visited by the next minor collection. A slot takes two words: the
     address of its table, and the address of the slot. */
  luaN_Vec slots;
  /* First thread of a list of the threads whose stacks may have changed since the last scan. The
     field nextdirty of a thread is the next thread of the list, or LUAN_LASTDIRTY in the last one.
     A minor collection moves the threads to the list 'objects' when it starts. */
  struct lua_State *dirty;
  /* Number of words at the start of the list 'slots' that the last minor collection has stored (two
     for each slot). Each of these slots refers to an object that the collection has left young
     (ageing.h). The next minor collection reaches the object by the slot. */
  size_t aged;
  /* The table that safepoints are traversing in slices (refine.c), or NULL. This table was removed
     from 'whole'. */
  Table *refining;
  /* index of the slot of the table 'refining' that is visited next */
  unsigned refined;
  /* Limit for each of the lists 'objects', 'slots' and 'whole'. When the length of a list reaches
     it, refine.c visits the list before the next minor collection: it tenures the young objects to
     which the entries refer, and removes the entries. The length that is compared is
       objects  the number of entries
       slots    the number of words (two for each slot)
       whole    the number of slots of all tables in the list */
  unsigned many;
  /* Limit for the list 'slots', in words, when a slot of a huge table (LUAN_VAST) is to be added.
     If the list has at least this number of words, refine.c shortens the list first. MAX_SIZET: the
     only limit is the field 'many'. */
  size_t refineat;
  /* Number of entries that remained in the list 'objects' when refine.c last shortened it: threads,
     open upvalues and weak tables, which refine.c cannot remove. It shortens the list again when
     the list has at least twice this number of entries. */
  size_t stayed;
  /* Address of the object that was last stored into a huge table (LUAN_VAST), or NULL. If the next
     store is of the same object, the object is tenured, so that the slot need not be remembered.
     The address is only compared, never dereferenced, because the object may have been freed. */
  const GCObject *stored;
  /* A cache for a few tables: how many slots of each table refine.c has removed from the remembered
     set. */
  luaN_Writes writes[LUAN_WRITES];
  /* 1: refine.c has requested a minor collection, because the list 'slots' has many slots of weak
     tables, which refine.c cannot remove. Until that collection runs, the limit for the list is
     twice the field 'many'. */
  lu_byte hurried;
  /* 1: the remembered set is incomplete, so the next collection must be a full one */
  lu_byte overflow;
} luaN_Remset;

/* Indexes of the two lists weak.doubtful: entries with unmarked weak keys, and entries with
   unmarked weak values. LUAN_DOUBTS is the number of lists. */
enum { LUAN_DOUBTKEYS, LUAN_DOUBTVALUES, LUAN_DOUBTS };

/* Weak tables: weak.c, ahead.c, termination.c. */
typedef struct luaN_Weak {
  /* Weak tables that were reached by the running minor collection, full collection or atomic step
     (the pause at the end of marking). A word is the address of a table, with the kind of its weak
     references in the low bits (luaN_tagged). */
  luaN_Vec discovered;
  /* Weak tables that slices of the major collection have reached: those with LUAN_DISCOVERED (G6).
     A word is the address of a table, with the kind of its weak references in the low bits. */
  luaN_Vec inmajor;
  /* List of nodes of ephemeron tables (tables with weak keys and strong values) whose keys are not
     marked. If the key of a node becomes marked, the node's value must be marked, too. */
  luaN_Vec unresolved;
  /* Two lists of undecided entries that slices have found in weak tables (ahead.h):
       doubtful[LUAN_DOUBTKEYS]    entries with an unmarked weak key
       doubtful[LUAN_DOUBTVALUES]  entries with an unmarked weak value
     An entry is listed as its slot. A word is an address; its two low bits are its tag:
       1  a weak table
       0  a slot of the last table before this word
       2  an object that was marked while 'logging' was 1. It is not an entry: these words are the
          log. Only the list doubtful[LUAN_DOUBTKEYS] has such words. */
  luaN_Vec doubtful[LUAN_DOUBTS];
  /* index in the list 'inmajor' of the table that slices visit next */
  unsigned next;
  /* index of the slot in the table inmajor.a[next] that slices visit next */
  unsigned slot;
  /* Counts in the running major collection.
     rescans  how often slices started again with the first table of 'inmajor'
     passes   number of ended passes plus number of started rounds. In a pass, slices visit all
              entries of both lists doubtful[] once more. In a round, they tombstone the weak values
              (make their slots look empty, hidden.h) of the entries that the list
              doubtful[LUAN_DOUBTVALUES] contained when the round started. */
  lu_byte rescans, passes;
  /* In a pass, slices visit the entries of both lists once more: first doubtful[LUAN_DOUBTKEYS]
     (entries with an unmarked weak key), then doubtful[LUAN_DOUBTVALUES].
     doubting  1: a pass is running
     again     index in doubtful[] of the list that the pass is visiting */
  lu_byte doubting, again;
  /* 1: the atomic step of a collection has decided which objects are dead, and the collection still
     works on weak tables. While this is 1, a tombstoned weak value (its slot looks empty, hidden.h)
     is dead if it is not marked. */
  lu_byte decided;
  /* 1: the list 'unresolved' lacks a node, because there was no memory for the list */
  lu_byte overflow;
  /* 1: ephemerons are being resolved from their keys (chase.h). Each object that is popped from a
     mark stack is looked up as a key, so marking must push each object that may be a key. */
  lu_byte chasing;
  /* 1: some entries of weak tables may exist only because a dead object with a finalizer refers to
     their keys; the program cannot reach the keys. The next major collection then starts
     earlier. */
  lu_byte resurrected;
  /* 1: each old object that is marked is appended to the log, words with their own tag in the list
     doubtful[LUAN_DOUBTKEYS]. The atomic step looks up the logged objects as keys of the list's
     undecided entries (ahead.h). */
  lu_byte logging;
  /* Progress of slices in a list 'doubtful' of undecided entries (ahead.h).
     doubt      Index of the next word to visit. The list depends on the work:
                doubtful[again]             in a pass (a new visit of the entries of both lists)
                doubtful[LUAN_DOUBTVALUES]  to restore or clear tombstoned values (hidden.h)
                doubtful[LUAN_DOUBTKEYS]    to remove entries with dead keys, during the sweep
     doubtkept  In a pass: number of words at the start of the list that stay in it. While slices
                tombstone values, which they do in rounds: index in doubtful[LUAN_DOUBTVALUES] at
                which the present round ends. */
  unsigned doubt, doubtkept;
  /* Counter of the present pass (a new visit of the entries of both lists 'doubtful'): number of
     words whose visit has marked an object. If it is more than 1 / MIN_RESOLVED_PART (ahead.c) of
     the words of both lists at the end of the pass, another pass follows. */
  unsigned resolved;
  /* The last table that slices have read from the list 'doubtful' that they are visiting. The next
     slots in the list belong to it, until another table follows. */
  Table *doubtof;
  /* In a pass (a new visit of the entries of both lists 'doubtful'), slices compact the list that
     they visit: they move the words that stay to its start. 'keptof' is the table of the last slot
     among the moved words; NULL: none. The word of a table must come before the words of its slots.
     If the next slot that stays has the same table, the word of the table is not repeated. */
  const Table *keptof;
  /* Number of words at the start of doubtful[LUAN_DOUBTVALUES] that slices have visited to
     tombstone values. (Tombstoned: the slot looks empty, but keeps the address of its object,
     hidden.h.) */
  unsigned hidden;
  /* Number of words at the start of doubtful[LUAN_DOUBTKEYS] that slices or the atomic step have
     visited. Used while the field 'logging' is 1. The words from this index on were appended later:
     new entries, and the log of marked objects. A logged object may be the key of an earlier entry.
     The atomic step visits only the words from this index on. */
  unsigned visited;
  /* Number of entries of weak tables whose young key or value was tenured since the last major
     collection started. If it is above live bytes / WEAK_BYTES (hasmanyweak of pace.c), the next
     major collection is due earlier. */
  size_t tenured;
} luaN_Weak;

/* The string table: interned.c. */
typedef struct luaN_Strings {
  luaN_Vec young;		/* short strings allocated since the last minor collection */
  /* 1: the list 'young' is incomplete, so the minor collection sweeps the whole string table */
  lu_byte unlisted;
  /* 1: luaS_new has added a string to its cache since the last collection */
  lu_byte cached;
  lu_byte shrinking;		/* 1: the string table is being made smaller */
  /* number of strings in the string table that are marked (have the current epoch) */
  int seen;
  /* number of dead strings that the sweep has not removed from the string table yet */
  int dead;
  /* index of the first bucket of the string table that slices have not swept yet */
  int bucket;
  /* number of buckets in use; the array of buckets may have up to twice this number */
  int limit;
  /* Number of strings in the string table when the last collection ended. A minor collection
     subtracts it from the present number, and so finds the number of new strings. If these are
     many, the next nursery keeps no list of its young strings. Before the first collection:
     -MINSTRTABSIZE, so that the new strings appear to be many (luaN_openheap). */
  int kept;
} luaN_Strings;

/* Objects with finalizers: finalize.c, waiting.c. */
typedef struct luaN_Finalize {
  /* Objects with finalizers, in the order in which they got a metatable with __gc. Dead ones are
     moved to 'tobefinalized'. */
  luaN_List finalizable;
  /* Queue of the dead objects whose finalizers are to be called. */
  luaN_Vec tobefinalized;
  /* index in the queue 'tobefinalized' of the next object to finalize */
  size_t next;
  /* index in the queue 'tobefinalized' of the first object that the running major collection has
     not marked yet */
  size_t seen;
  /* stage of the major collection's work on dead objects with finalizers */
  luaN_Selection selection;
  /* Number of entries at the start of the list 'left' (dead userdata that stay young) whose
     finalizers were called. */
  unsigned called;
  /* Length of the queue 'tobefinalized' when luaN_setquota was last called, at the end of a step of
     the collector. The next call raises 'quota' if the queue is longer then. A batch of finalizer
     calls that empties the queue sets this field to 0. */
  unsigned waiting;
  /* number of finalizers that the next batch calls even if its time, about a millisecond, is
     over */
  unsigned quota;
  /* 1: the running collection has moved dead objects to 'tobefinalized' */
  lu_byte found;
  /* Number of young objects with finalizers that the program will close explicitly
     (luaN_willclose). */
  unsigned closed;
  /* Exponent of a limit. A minor collection is due when the number of young objects with finalizers
     reaches (YOUNG_MIN << youngbits) + closed; 'closed' is the field above. The exponent rises if
     many of these objects survive, and falls if few survive. Not used in the incremental mode. */
  unsigned youngbits;
  /* Dead userdata that minor collections leave young until their finalizers have run (waiting.h,
     G11). A minor collection can then free them. If they were tenured, only a major collection
     could. */
  luaN_Vec left;
  /* Live small userdata with finalizers that the last minor collection has not tenured (ageing.h,
     G10). */
  luaN_Vec aged;
} luaN_Finalize;

/* Lists of objects that need work when they die (sweep.c), and of objects that never die. */
typedef struct luaN_Lists {
  luaN_Vec fixed;		/* objects that never die (luaC_fix) */
  /* number of entries at the start of 'fixed' that are marked (have the current epoch) */
  size_t fixedseen;
  /* all prototypes, and the long strings and userdata of more than LUAN_LARGETEXT bytes */
  luaN_List large;
  luaN_List tables;		/* tables that have had a vector of more than LUAN_LARGE bytes */
  luaN_List threads;		/* all threads except the main thread */
  /* Userdata that own external bytes (outside.c). The sweep removes those that own none any
     more. */
  luaN_List standins;
} luaN_Lists;

/* Progress of the sweep of a major collection: major.c, sweep.c. */
typedef struct luaN_Sweep {
  /* 1: the sweep of a major collection is not finished. Its marking has ended, and some dead
     objects may still be in memory. */
  lu_byte active;
  /* index of the list that is being swept (luaN_listof) */
  lu_byte list;
  /* Progress in a list, by the phase of the major collection.
     GCSselect     (queues dead objects with finalizers) visits finalize.finalizable from the end
                   to the start; the entries at indexes below 'next' are not visited yet.
     GCSswpfinobj  (the sweep) has visited the first 'next' entries of the list with index 'list';
                   the entries that stay are now its first 'kept' entries.
     GCSstacks     (frees unused stack memory) has visited the first 'next' of lists.threads. */
  size_t kept, next;
  /* The block in which the sweep has last freed a long string or large userdata, if the block must
     still move to the list for its number of free lines (luaN_relist). NULL: no block must move. */
  luaN_Block *freed;
} luaN_Sweep;

/* Counts of bytes, unless stated otherwise. */
typedef struct luaN_Bytes {
  /* memory that is freed by explicit calls, not by a collection, for example the string table
     (H6) */
  size_t explicit;
  l_mem old;			/* old objects and their vectors (H6) */
  l_mem living;			/* bytes that the last major collection has marked */
  /* Lower limit of the bytes of blocks that the heap keeps after a major collection: the bytes of
     the blocks that were in use when its marking ended. 0: the heap has shrunk (SHRUNK_PART and
     WHILE_HEAPS of major.c), and only the field 'lately' determines the limit. */
  size_t needed;
  /* The most KiB of blocks in use at the end of the marking of a major collection: [0] in the
     current period, [1] in the previous one (WHILE_HEAPS of major.c defines the periods). A heap
     that has shrunk keeps memory for the larger of the two. A collection counts only if it has
     found the heap shrunk, and at most LUAN_BIGHEAP / (number of states of the process) bytes of
     blocks in use. */
  unsigned lately[2];
  /* Number of KiB that the state had allocated in its life when the current period (of lately[0])
     started, modulo 2^32. The period ends early if the state allocates much during it. */
  unsigned whileat;
  /* Time at which the current period (of lately[0]) started, in milliseconds of CLOCK_MONOTONIC,
     modulo 2^32. */
  unsigned whilebegan;
  /* 1: malloc_trim is to be called when giveback.h allows it, because the last major collection has
     found the heap shrunk. Not set if the heap has more than LUAN_BIGHEAP / (number of states of
     the process) reserved bytes. */
  lu_byte shrunk;
  /* KiB of the live objects of the last major collection. Not included: dead objects with
     finalizers, which stay in memory until their finalizers run, and objects reachable only from
     them. */
  unsigned undoomed;
  /* Bytes that became old since the last collection: tenured objects, and growth of the vectors and
     stacks of old objects. */
  size_t tenured;
  /* bytes that became old in the life of the state, up to the last collection */
  uint64_t alltenured;
  /* Bytes of the objects of three kinds that were tenured since the last major collection ended:
     long strings, large userdata, and small userdata queued for finalization. */
  size_t texts;
  /* Copy of the field 'texts' from the start of the last minor collection that started while no
     major collection was running. The end of a major collection computes 'textsleft' from it. */
  size_t textsbefore;
  /* Bytes of the objects of three kinds that were tenured while the last major collection ran: long
     strings, large userdata, and small userdata queued for finalization. */
  size_t textsleft;
  /* bytes of the live long strings and large userdata that the last minor collection has not
     tenured */
  size_t aged;
  /* bytes of the small userdata that the last minor collection has not tenured */
  size_t waiting;
  /* external bytes (memory or resources outside the heap) that userdata own now */
  size_t outside;
  /* external bytes added since the last minor collection */
  size_t youngoutside;
} luaN_Bytes;

/* A table whose hash part is nearly full, and its next, larger hash part (growth buffer), to which
   keys are copied in advance (growth.h). */
typedef struct luaN_Growth {
  Table *t;			/* the growing table; NULL: none */
  const Node *old;		/* its current hash part */
  /* number of nodes of 'old'; the next hash part has twice as many */
  unsigned size;
  /* Number of nodes of 'old' that the search for a free node had not visited yet when the next hash
     part was allocated. */
  unsigned from;
  /* node      the nodes of the next hash part
     lastfree  the node that the search for a free node has visited last; before the search, the end
               of the nodes. The search goes from higher to lower addresses, so no node at this or a
               higher address is free. */
  Node *node, *lastfree;
  /* For each of the first 'copied' nodes of 'old', the index of its copy in the next hash part, or
     LUAN_NOCOPY. */
  uint32_t *copyof;
  /* number of nodes at the start of the next hash part that are initialized */
  unsigned cleared;
  /* Number of nodes at the start of 'old' that were visited to copy their keys. The key of a node
     without a value was not copied. */
  unsigned copied;
  /* number of nodes of the next hash part that contain a copied key, or contained one before */
  unsigned used;
  /* 1: a key was inserted into the table since the last major collection started. If this is 0 when
     a major collection starts, that collection frees the next hash part. */
  lu_byte iswanted;
} luaN_Growth;

/* State of the pacer: pace.c. */
typedef struct luaN_Pace {
  lu_byte fullcycles;		/* 1: the program or LUA_GC has set the incremental mode */
  /* 1: the last major collection in slices has found at least 1 / WEAK_FOUND (pace.c) of the old
     bytes dead */
  lu_byte found;
  /* 1: the running major collection does more work in each slice, because weak tables had received
     many entries when it started */
  lu_byte hurried;
  /* number of times that the largest size of a nursery is doubled at present: 0 to WIDER_MOST
     (pace.c) */
  lu_byte wider;
  /* Used if LUA_GC has nursery=N-M: a pseudo-random number, from which the function 'between' of
     pace.c computes the size of the next nursery. */
  unsigned turn;
  /* Size of the current nursery, in bytes. luaN_shorten changes it when it makes the next minor
     collection due earlier or later. */
  size_t nursery;
  /* Bytes by which luaN_defer has raised GCdebt, so that a safepoint comes earlier and calls the
     next batch of finalizers. luaN_resume subtracts these bytes from GCdebt again. They are part of
     the nursery. */
  size_t deferred;
  /* Bytes of long strings and large userdata that may be allocated in addition to the nursery
     before the next minor collection. */
  size_t textroom;
  /* Size of the current nursery, in bytes, as computed when the nursery started. In contrast to the
     field 'nursery', it does not change before the next nursery starts. */
  size_t size;
  /* Sums over all nurseries that have ended, in bytes.
     charged  for each nursery, the bytes by which allocation has raised GCdebt
     planned  for each nursery, the smaller of these bytes and the nursery's size as computed at its
              start */
  uint64_t planned, charged;
  /* Work debt: bytes whose marking was due in earlier pauses and did not fit into them. Each pause
     adds the debt to its own work (luaN_pay). */
  size_t owed;
  /* Bytes by which stacks have grown, minus 1 / WORK of the bytes marked since. Each of these bytes
     raises the limit of the work debt (field 'owed') by WORK bytes, so that the growth of a deep
     stack causes no long pause (luaN_pay). */
  size_t stackgrowth;
  /* number of major collections that have ended */
  unsigned cycles;
  /* Back-off of major collections, from PATIENCE_MIN to PATIENCE_MAX: while the heap does not grow,
     a major collection is due when the bytes allocated since the last one are 'patience' times the
     live bytes. */
  unsigned patience;
  /* Bytes that the state had allocated in its life when the last major collection ended. (Function
     'spent' of pace.c says how the pacer counts them.) */
  uint64_t since;
  /* bytes that explicit steps (luaN_step) have counted as allocated since the last major
     collection */
  l_mem byhand;
  /* Number of bytes to allocate after the last major collection until the next one is due, even if
     the heap has not grown. */
  uint64_t volume;
  /* Values at the end of the last major collection.
     live       bytes in use
     footprint  reserved bytes without empty blocks */
  size_t live, footprint;
  /* external bytes that userdata owned when the last major collection ended */
  size_t outside;
  /* number of objects with finalizers when the last major collection ended */
  size_t finalizers;
  /* size that the program has set for every nursery, in bytes; 0: not set */
  size_t fixednursery;
  luaN_Tuning tuning;		/* settings of the collector in the environment variable LUA_GC */
  /* Upper bound of the nursery in bytes, set after lua_Alloc has refused memory; 0: no such bound.
     The end of a major collection computes it anew. */
  size_t tight;
  /* Bytes in use at which a major collection is due. The external bytes of userdata count as in use
     (hasgrown of pace.c). */
  size_t threshold;
  /* A major collection is also due if at least this number of bytes is in use, and the footprint
     (reserved bytes without empty blocks) has at least 'threshold' bytes. */
  size_t growthtrigger;
  /* A major collection is also due if the footprint (reserved bytes without empty blocks) has at
     least this number of bytes. */
  size_t footprinttrigger;
} luaN_Pace;

/* Statistics of pauses, in nanoseconds: pause.c. */
typedef struct luaN_Pauses {
  /* start of the last or running pause, in nanoseconds of CLOCK_MONOTONIC */
  uint64_t began;
  /* Durations of pauses.
     last     duration of the last pause
     longest  duration of the longest pause
     sum      duration of all pauses together */
  uint64_t last, longest, sum;
  /* CPU time at the start of the last pause for which a sampler was set */
  uint64_t processor;
  /* CPU time at the start of the running slice of a major collection; 0: no slice is running, or no
     sampler is set */
  uint64_t slicebegan;
  /* CPU time of all ended slices during which a sampler was set */
  uint64_t slices;
  /* Number of entries of each kind (luaN_Looked of seam.h) that the last or running pause has
     visited, in addition to the live objects. */
  uint64_t looked[4];
  /* largest number of entries of lists, stacks and weak tables that one pause has visited */
  uint64_t mostwork;
} luaN_Pauses;

/* Settings of LUAN_STRESS in the debug build (stress.h). 0: not set. */
typedef struct luaN_Stress {
  /* bytes of marking in one slice of a major collection */
  size_t slice;
  /* the numbers N of the settings verify=N and emergency=N */
  unsigned verify, emergency;
  /* number of calls of luaN_stress until the next emergency collection */
  unsigned untilemergency;
  lu_byte major;		/* 1: a major collection always runs */
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
  luaN_Growth growth;
  luaN_Pace pace;
  luaN_Pauses pause;
  luaN_Stress stress;
} luaN_Gc;

#define LUAN_OPCODES	83	/* number of opcodes of the bytecode loop (tick.c) */

/* State of time samples (tick.h). Written by the core, and by a signal handler on the OS thread
   that runs the state. */
typedef struct luaN_Tick {
  struct lua_State *running;	/* the thread that runs at present; NULL: the main thread */
  /* Address of the variable luaN_innermost of the OS thread that made the last protected call of
     the state. NULL: no such call was made. The variables 'nowhere' and 'ticking' of tick.c are
     other possible values. */
  const void *where;
  /* The frame that ran at the last tick (timer signal) that requested a safepoint before the next
     instruction. */
  struct CallInfo *ci;
  /* 1: at the tick that stored the field 'ci', code outside the bytecode loop was running, for
     example a function of the core that the loop had called. The pc of the frame was therefore
     saved. */
  int deep;
  volatile lu_byte wanted;	/* 1: the next safepoint is to call the sampler (TK1) */
  /* 1: all entries of 'dispatch' lead to code that runs a safepoint (TK3) */
  volatile lu_byte diverted;
  volatile lu_byte collecting;	/* LUAN_MINOR or LUAN_MAJOR while a collection runs, else 0 */
  /* number of VM instructions that had a safepoint before them because of a tick (timer signal) */
  uint64_t diversions;
  /* for each opcode, the address to which the bytecode loop jumps */
  const void *dispatch[LUAN_OPCODES];
} luaN_Tick;

/* The heap of a state. Each allocation reads the first two fields (N1 to N3 of nursery.h). */
typedef struct luaN_Heap {
  /* first free byte of the hole (run of free lines) in which the fast path allocates */
  char *free;
  /* Highest address that the fast path may store in 'free'. If an allocation needs a higher one, an
     event such as a sample is due, or the hole is full: it takes the slow path (nursery.h). */
  char *limit;
  /* end of the hole (run of free lines) in which the fast path allocates */
  char *end;
  /* The value of 'free' when allocated bytes were last added to GCdebt and to the field
     'allocated'. The bytes from 'mark' to 'free' are not added yet (N2). */
  char *mark;
  /* the sample point: a sample is due when 'free' reaches this address, which may be above the hole
     (S1) */
  uint64_t point;
  /* Bytes allocated in the life of the state, up to the last update (N2), without the external
     bytes of userdata. */
  uint64_t allocated;
  /* bytes of long strings and large userdata among 'allocated' */
  uint64_t texts;
  /* external bytes of userdata that samples have counted as allocated in the life of the state */
  uint64_t allocatedoutside;
  /* Bytes of blocks outside the nursery that were added to GCdebt since the last minor collection.
     An explicit free of such a block subtracts its bytes from GCdebt and from 'spare', but not more
     bytes than 'spare' has (payback of nursery.c). */
  size_t spare;
  /* Countdown: bytes that growing tables and buffers may still copy before the sampler is called
     (sampling.h). LUAN_NOCOPIES: the sampler is never called for copies. */
  uint64_t copyleft;
  /* the functions that the core calls for samples (seam.h), or NULL */
  const struct luaN_Sampler *sampler;
#if defined(LUAN_DEBUG)
  int asking;			/* 1: a function of the sampler is running (debug.h) */
#endif
  /* A bit set, indexed by the hash of a block's address (luaN_watch). If a block whose bit is set
     is freed or resized, the sampler is called. NULL: no block is watched. */
  const uint64_t *watched;
  /* log2 of the number of bits of the bit set 'watched' */
  unsigned watchlog;
  /* 1: an allocation has failed, and luaN_eraserest, which sets the unused slots of the stack to
     nil, was not called since */
  int starved;
  /* Always luaC_fullgc. Code for memory and allocation, which depends on no code of the collector,
     calls the collector only through this pointer (luaN_emergency). */
  void (*emergency) (struct lua_State *L, int);
  /* the owner, a table or thread, of the vector or stack that is being allocated */
  const void *resizing;
  const void *rehashing;	/* the table whose values are copied to new vectors, or NULL */
  /* A new vector to which no object refers yet, or NULL. An emergency collection keeps its
     lines. */
  const void *unanchored;
  /* size in bytes of the vector 'unanchored' */
  size_t unanchoredsize;
  /* A root: the closure that luaN_pin has pinned, or NULL. */
  GCObject *pinned;
  /* The new block of a stack that was moved, if a sample of the block is postponed until the stack
     can be walked (S2); or NULL. */
  void *waiting;
  /* bytes of the moved stack 'waiting', whose sample is postponed */
  size_t waitingsize;
  /* bytes that rounding has added to the block that is being allocated */
  unsigned rounding;
  /* 1: the moved stack 'waiting', whose sample is postponed, is not in the hole (run of free lines)
     in which the fast path allocates */
  int waitingoutside;
  /* Number of bytes by which the growth of the moved stack 'waiting' has passed the sample
     point. */
  uint64_t waitingover;
  /* Free lines for allocations that do not fit into the hole in which the fast path allocates. */
  luaN_Region overflow;
  luaN_Blocks blocks;
  /* Numbers of minor and major collections whose marking has ended, in the life of the state. */
  uint64_t minors, majors;
  luaN_Gc gc;
  luaN_Tick tick;
  /* exact counts of allocated bytes by kind (luaN_setcounts), or NULL */
  struct luaN_Counts *counts;
  /* limits of allocation that luaN_setlimits has set; NULL: no limits */
  const struct luaN_Limits *limits;
  /* bytes of all buffers of luaL_Buffer in the state (luaN_admit) */
  uint64_t buffers;
  /* Message of the limit that has refused the last failed allocation; NULL: no limit has refused it
     (LM2). */
  const void *refusal;
  /* counts of allocated bytes by label (luaN_setlabels), or NULL */
  struct luaN_Labels *labels;
} luaN_Heap;


/* Runs a full collection that calls no finalizer, because memory is short. gcstopem must be 0. */
#define luaN_emergency(L)	((*G(L)->heap.emergency)(L, 1))

/* Values of two settings of LUAN_STRESS: emergency=N, slice=N (stress.h). 0 in a release build. */
#if defined(LUAN_DEBUG)
#define luaN_isstressed(g)	((g)->heap.gc.stress.emergency != 0)
#define luaN_slicestress(c)	((c)->stress.slice)
#else
#define luaN_isstressed(g)	0
#define luaN_slicestress(c)	((size_t)0)
#endif
