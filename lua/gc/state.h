/* SPDX-License-Identifier: MIT */
/*
** What the fork keeps of a state, in global_State: blocks, nursery, collector, time
** samples. lstate.h includes this before it.
*/
#ifndef luaN_state_h
#define luaN_state_h

#include "lobject.h"

#include "heap.h"
#include "vec.h"

/* Of seam.h; this header needs its name only. */
struct luaN_Sampler;

/* Distance in bytes of a sample point that is never reached. */
#define LUAN_INFINITY	(UINT64_C(1) << 63)

/* What an operator has said (tuning.c); 0: the program's own holds. */
typedef struct luaN_Tuning {
  lu_byte mode;			/* 1 + KGC_INC or KGC_GEN */
  lu_byte hugepages;		/* a large heap has them from the first touch on */
  lu_byte nomadvise;		/* the system call madvise is not made */
  unsigned pause, stepmul, major;  /* percent, and one */
  size_t nursery, most;		/* bytes; ... and up to so many, or 0 */
} luaN_Tuning;

/* A big table, and how many of its slots were remembered since the last minor
   collection: a guess, for others share the place (refine.c). */
typedef struct luaN_Writes {
  Table *t;
  size_t n;
} luaN_Writes;

#define LUAN_WRITES	8u

/* How far a major collection is with the dead that have finalizers: it has not come
   to them; looks for them; puts them aside; marks what they refer to (finalize.c). */
typedef enum { LUAN_UNSELECTED, LUAN_SELECTING, LUAN_MOVING, LUAN_RESURRECTING }
  luaN_Selection;

/*
** What the collector keeps from one collection to the next, in parts: each belongs to the
** files that are named with it.
*/

/* Marking: mark.c, traverse.c, major.c. */
typedef struct luaN_Mark {
  lu_byte epoch;		/* of what is alive: 1 to 3 */
  lu_byte previous;		/* the epoch before this one */
  lu_byte bit;			/* luaN_bit of 'epoch' */
  lu_byte minor;		/* a minor collection is tracing */
  lu_byte major;		/* a major collection is marking */
  lu_byte pending;		/* some object is pending: a mark stack was full */
  lu_byte cached;		/* of 'thread', the CallInfos that are not in use */
  lu_byte ageing;		/* texts that are met may stay young (ageing.h), ... */
  GCObject *holder;		/* ... where they are met in this, if it is not NULL, ... */
  void *slot;			/* ... of a big table, in this slot; ... */
  luaN_Vec holders, slots;	/* ... and all in which some have been met (of big tables: table,
				   slot, table, ...), ... */
  size_t met;			/* ... so often, in the life of the state */
  luaN_Vec young;		/* mark stack of objects that were young, ... */
  luaN_Vec old;			/* ... and of objects that were old */
  Table *table;			/* a big table that is being marked, or NULL, */
  unsigned index;		/* ... from this slot on */
  unsigned settled;		/* cost of tables that were not stacked (mark.c); wraps */
  struct lua_State *thread;	/* a deep thread that is being marked, or NULL: */
  struct CallInfo *ci;		/* ... the next CallInfo, NULL: slots below 'index' */
  l_mem reached;		/* bytes that the major collection has marked */
} luaN_Mark;

/* The remembered set: remset.c, refine.c. */
typedef struct luaN_Remset {
  luaN_Vec objects;		/* remembered objects */
  luaN_Vec whole;		/* the same: tables that have had a large vector */
  luaN_Vec slots;		/* remembered slots: table, slot, table, ... */
  struct lua_State *dirty;	/* threads that are to be in 'objects', up to LUAN_LASTDIRTY */
  size_t aged;			/* the first words of 'slots' that are there for texts which have
				   stayed young (ageing.h) */
  Table *refining;		/* a table that was in 'whole', or NULL: remembered */
  unsigned refined;		/* ... from this slot on */
  unsigned many;		/* limit of these lists (LUAN_MANY); of 'slots', when ... */
  size_t refineat;		/* ... one of a vast table is added (LUAN_CACHED) */
  size_t stayed;		/* of 'objects', what luaN_refineobjects has left */
  const GCObject *stored;	/* what a slot of a vast table was given last, or NULL */
  luaN_Writes writes[LUAN_WRITES];  /* tables that are written to a lot */
  lu_byte hurried;		/* the next safe point is to collect: until then 'slots'
				   may become twice as long */
  lu_byte overflow;		/* it is not complete */
} luaN_Remset;

/* Doubtful entries: of ephemeron tables, and of those with weak values. */
enum { LUAN_DOUBTKEYS, LUAN_DOUBTVALUES, LUAN_DOUBTS };

/* Weak tables: weak.c, ahead.c, termination.c. */
typedef struct luaN_Weak {
  luaN_Vec discovered;		/* by this collection, tagged */
  luaN_Vec inmajor;		/* by the major one, so far */
  luaN_Vec unresolved;		/* entries with weak keys that may be dead */
  luaN_Vec doubtful[LUAN_DOUBTS];  /* entries of tables that were looked at (ahead.h):
				   table, tagged 1, its slots, table, ...; of the keys between
				   them what was logged, tagged 2 */
  unsigned next;		/* of 'inmajor', what is looked at next, ... */
  unsigned slot;		/* ... from this slot on, ... */
  lu_byte rescans, passes;	/* ... what was begun anew, and the list's passes */
  lu_byte doubting, again;	/* whether a list of 'doubtful' is looked at again, and which */
  lu_byte decided;		/* of what is hidden (hidden.h) all is dead that is not marked */
  lu_byte overflow;		/* 'unresolved' is not complete */
  lu_byte chasing;		/* whatever may be a weak key passes through a mark stack */
  lu_byte resurrected;		/* since the last major collection started, a key that was dead is
				   kept for its finalizer (termination.c) */
  lu_byte logging;		/* what is marked is logged in the list of doubtful keys (ahead.h) */
  unsigned doubt, doubtkept;	/* of the list that is gone through, what is next, how many
				   words have stayed, ... */
  unsigned resolved;		/* ... how many entries this pass has marked something of, ... */
  Table *doubtof;		/* ... the tables of what was last looked at, and of ... */
  const Table *keptof;		/* ... what has stayed */
  unsigned hidden;		/* so many words of the doubtful values have been hidden */
  unsigned lookedat;		/* so many words of the doubtful keys have been looked at since
				   'logging' */
  size_t tenured;		/* entries that referred to what was young and have outlived
				   it, since the last major collection began (remembered.c) */
} luaN_Weak;

/* The string table: interned.c. */
typedef struct luaN_Strings {
  luaN_Vec young;		/* short strings made since the last minor collection */
  lu_byte unlisted;		/* 'young' is not complete: all buckets are swept */
  lu_byte cached;		/* luaS_new has put a string into its cache */
  lu_byte shrinking;		/* the table is being made smaller */
  int seen;			/* strings that have the epoch */
  int dead;			/* those that the major collection has found dead, and not swept
				   yet (G12) */
  int bucket;			/* first bucket that is not swept yet */
  int limit;			/* buckets in use */
  int kept;			/* strings that the last collection has left */
} luaN_Strings;

/* Objects with finalizers: finalize.c. */
typedef struct luaN_Finalize {
  luaN_List finalizable;	/* oldest first */
  luaN_Vec tobefinalized;	/* dead ones, in the order of their calls, ... */
  size_t next;			/* ... from here on; a major collection ... */
  size_t seen;			/* ... has marked those before this one */
  luaN_Selection selection;	/* how far it is with 'finalizable' */
  unsigned called;		/* of 'left', how many have been called */
  size_t selected;		/* ... and the dead that it has found there */
  unsigned waiting;		/* ... how many the last collection left, ... */
  unsigned quota;		/* ... and calls that a batch makes at least */
  lu_byte found;		/* the running collection has found dead ones */
  unsigned closed;		/* young ones that are closed explicitly (luaN_willclose) */
  unsigned youngbits;		/* YOUNG_MIN << this young objects with finalizers start a minor
				   collection (finalize.c) */
  luaN_Vec left;		/* of 'tobefinalized', what the last minor collection has left
				   young (waiting.h) */
  luaN_Vec aged;		/* of 'finalizable', userdata in lines that the last minor
				   collection has left young (ageing.h) */
} luaN_Finalize;

/* Objects that need more than being forgotten, and those that never die: sweep.c. */
typedef struct luaN_Lists {
  luaN_Vec fixed;		/* objects that never die */
  size_t fixedseen;		/* of these, how many have the epoch */
  luaN_List large;		/* objects that lua_Alloc gave one by one, or that have lines for
				   themselves */
  luaN_List tables;		/* tables that have had a large vector */
  luaN_List threads;		/* all but the main thread */
  luaN_List standins;		/* userdata that stand for bytes outside (outside.c) */
} luaN_Lists;

/* What is left to do of the sweep of a major collection: major.c, sweep.c. */
typedef struct luaN_Sweep {
  lu_byte active;		/* dead objects of the epoch before may be seen */
  lu_byte list;			/* the list that is being swept, ... */
  int more;		/* of the CallInfos of the thread whose turn it is, more are to go */
  size_t kept, next;		/* ... its entries kept, and the next to look at */
  luaN_Block *freed;		/* has lost lines, and is yet to be relisted; or NULL */
} luaN_Sweep;

/* Accounts, in bytes. */
typedef struct luaN_Bytes {
  size_t explicit;		/* freed by hand (H6) */
  l_mem old;			/* of old objects (H6) */
  l_mem living;			/* marked by the last major collection, ... */
  size_t needed;		/* of blocks that do not go back before the next
				   major one: a heap that does not shrink needs them
				   again (luaN_trimheap); 0: it has shrunk */
  unsigned lately[2];		/* ... the most that the heap has shrunk from in this while, and
				   in the one before: nor do these, of a heap that is small.
				   KiB, as is ... */
  unsigned whileat;		/* ... 'allocated' when the while began, at ... */
  unsigned whilebegan;		/* ... so many ms of CLOCK_MONOTONIC; both wrap around */
  lu_byte shrunk;		/* the last major collection has left a small heap much
				   smaller, and malloc has not given back what it has free
				   since then (giveback.h) */
  unsigned undoomed;		/* KiB of 'living' that are not there for finalizers only */
  size_t tenured;		/* since the last collection, ... */
  uint64_t alltenured;		/* ... all of them, and ... */
  size_t texts;			/* ... in texts (ageing.h), other userdata as large, and those that
				   could not wait for their finalizer (waiting.h), since the last
				   major collection has ended, ... */
  size_t textsbefore;		/* ... before this one began, or the minor one ahead of it; ... */
  size_t textsleft;		/* ... and from then on to the end of the last one, which may have
				   left them */
  size_t aged;			/* of texts that the last minor collection has left young, and
				   large userdata that wait */
  size_t waiting;		/* of other userdata that it has left young (waiting.h) */
  size_t outside;		/* that userdata stand for, ... */
  size_t youngoutside;		/* ... of which so many since the last minor */
} luaN_Bytes;

/* A hash part that is grown from ahead: growth.h. */
typedef struct luaN_Growth {
  struct luaN_Growth *next;
  Table *t;
  const Node *old;		/* its nodes, ... */
  unsigned size;		/* ... so many */
  unsigned from;		/* the nodes that were left when this began */
  Node *node, *lastfree;	/* the next vector, as a table has it: of twice the nodes */
  uint32_t *copyof;		/* where the copy of an old node is */
  unsigned cleared;		/* of the next vector, those that are nodes already */
  unsigned copied;		/* of the old nodes, those gone through; ... */
  unsigned used;		/* ... and nodes that have keys now, or had */
  lu_byte iswanted;		/* a key has come since the last major collection began */
} luaN_Growth;

/* What the pacer goes by: pace.c. */
typedef struct luaN_Pace {
  lu_byte fullcycles;		/* the incremental mode was asked for, and holds */
  lu_byte found;		/* did the last major collection find much that was dead
				   (WEAK_FOUND)? */
  lu_byte hurried;		/* had weak tables got many entries when the last one began? */
  lu_byte wider;		/* how often nurseries have been doubled (luaN_outlived) */
  unsigned turn;		/* of nurseries that have a size between two bounds */
  size_t nursery;		/* bytes from one minor collection to the next */
  size_t deferred;		/* ... of which so many come after luaN_resume */
  size_t textroom;		/* bytes of texts that it may have beside */
  size_t size;			/* of this nursery, when it began */
  uint64_t planned, charged;	/* bytes of all nurseries before this one: as they were to
				   be, as far as they came, and what they were filled with */
  size_t owed;			/* bytes of a major collection's work that were too many
				   for one pause, ... */
  size_t bystacks;		/* ... of which so many may be owed beside (OWED_BY_STACKS) */
  unsigned cycles;		/* major collections that have ended */
  unsigned patience;		/* heaps to allocate before one is due */
  uint64_t since;		/* 'allocated' when the last one ended, ... */
  l_mem byhand;			/* ... and bytes of steps by hand since then */
  uint64_t volume;		/* bytes of allocation after which one is due */
  size_t live, footprint;	/* bytes in use, taken up, when the last one ended, */
  size_t outside;		/* ... and what userdata stood for */
  size_t finalizers;		/* old objects with finalizers then */
  size_t fixednursery;		/* the size that was asked for, or 0 */
  luaN_Tuning tuning;
  size_t tight;			/* most that a nursery may have, until the next
				   major collection has ended; or 0 */
  size_t threshold;		/* bytes in use that begin a major collection, ... */
  size_t growthtrigger;		/* ... or so many when 'threshold' is taken up, ... */
  size_t footprinttrigger;	/* ... or so many taken up, whatever is in use */
} luaN_Pace;

/* Statistics: pause.c. Nanoseconds. */
typedef struct luaN_Pauses {
  uint64_t began;		/* when the last one began */
  uint64_t last, longest, sum;
  uint64_t processor;		/* of this OS thread when it began, if there is a sampler; ... */
  uint64_t slicebegan;		/* ... when a major collection's slice began in it, or 0 */
  uint64_t slices;		/* of all such slices */
  uint64_t looked[4];		/* by luaN_Looked of seam.h: what it looked at
				   besides survivors, ... */
  uint64_t mostwork;		/* ... and the most of any, but for what was remembered */
} luaN_Pauses;

/* The debug build's switches (stress.h). */
typedef struct luaN_Stress {
  size_t slice;
  unsigned verify, emergency;
  unsigned untilemergency;	/* allocations to the next one by that switch */
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
  luaN_Growth *growths;		/* those that are under way */
  luaN_Pace pace;
  luaN_Pauses pause;
  luaN_Stress stress;
} luaN_Gc;

#define LUAN_OPCODES	83	/* of the bytecode loop (tick.c) */

/*
** What the core knows of time samples (tick.h). A signal handler writes to it,
** on the thread that runs the state.
*/
typedef struct luaN_Tick {
  struct lua_State *running;	/* the thread that does; NULL: the main thread */
  const void *where;		/* the OS thread (its luaN_innermost) that made the
				   last protected call of the state; NULL: none */
  struct CallInfo *ci;		/* the Lua function at the last moment, ... */
  int deep;			/* ... and whether the loop had called something */
  volatile lu_byte wanted;	/* a moment waits for its point (TK1) */
  volatile lu_byte diverted;	/* the dispatch table is diverted (TK3) */
  volatile lu_byte collecting;	/* LUAN_MINOR, LUAN_MAJOR or 0 */
  uint64_t diversions;		/* instructions that were diverted so far */
  const void *dispatch[LUAN_OPCODES];  /* where the bytecode loop goes for each */
} luaN_Tick;

/*
** All of it. 'free' and 'limit' are the nursery's two hot words and stand first
** (nursery.h has their invariants).
*/
typedef struct luaN_Heap {
  char *free;			/* nursery_free: next byte of the current hole */
  char *limit;			/* nursery_limit */
  char *end;			/* end of the current hole */
  char *mark;			/* 'free' when the accounts were last flushed */
  uint64_t point;		/* nursery address of the next sample (S1) */
  uint64_t allocated;		/* bytes ever allocated, up to 'mark', ... */
  uint64_t texts;		/* ... of which so many in texts, and userdata as large */
  uint64_t allocatedoutside;	/* outside, as samples count them */
  size_t spare;			/* bytes of large blocks that this nursery was charged with, and
				   has not been paid back */
  uint64_t copyleft;		/* bytes of growth to the next sample of copies */
  const struct luaN_Sampler *sampler;
#if defined(LUAN_DEBUG)
  int asking;			/* one of its functions runs (debug.h) */
#endif
  const uint64_t *watched;	/* blocks whose free the sampler asks to be told
				   (luaN_watch), or NULL */
  unsigned watchlog;		/* log2 of its bits */
  int starved;			/* a request has failed; stacks may hold what
				   errors have left */
  void (*emergency) (struct lua_State *L, int);  /* luaC_fullgc, which the layers
				   below it know by this only (luaN_emergency) */
  const void *resizing;		/* table (thread) whose vectors (stack) were
				   asked for last */
  const void *rehashing;	/* table that is being resized, or NULL */
  const void *unanchored;		/* vector that nobody holds yet, or NULL */
  size_t unanchoredsize;		/* its bytes */
  GCObject *pinned;		/* a root: what the API's C code alone holds, or NULL */
  void *waiting;		/* a moved stack whose sample waits, or NULL */
  size_t waitingsize;		/* its bytes, ... */
  unsigned rounding;		/* that the block has which is counted */
  int waitingoutside;		/* of the stack that waits, whether it passed by the nursery, */
  uint64_t waitingover;		/* ... and how far it passed the point */
  luaN_Region overflow;		/* region for what no hole had room for */
  luaN_Blocks blocks;
  uint64_t minors, majors;	/* collections of the state so far */
  luaN_Gc gc;
  luaN_Tick tick;
} luaN_Heap;


/*
** Memory is short, for who allocates: a full collection, which calls no finalizer.
*/
#define luaN_emergency(L)	((*G(L)->heap.emergency)(L, 1))

/* LUAN_STRESS asks for emergencies; for slices of so many bytes (0: it does not). */
#if defined(LUAN_DEBUG)
#define luaN_isstressed(g)	((g)->heap.gc.stress.emergency != 0)
#define luaN_slicestress(c)	((c)->stress.slice)
#else
#define luaN_isstressed(g)	0
#define luaN_slicestress(c)	((size_t)0)
#endif

#endif
