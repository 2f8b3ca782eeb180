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

/* What luaN_Sampler of seam.h is to this header. */
struct luaN_Sampler;

/* Distance in bytes of a sample point that is never reached. */
#define LUAN_INFINITY	(UINT64_C(1) << 63)

/* What an operator has said (tuning.c); 0: the program's own holds. */
typedef struct luaN_Tuning {
  lu_byte mode;			/* 1 + KGC_INC or KGC_GEN */
  unsigned pause, stepmul, major;  /* percent, and one */
  size_t nursery;		/* bytes */
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

/* What the collector has to remember from one collection to the next (gc.h). */
typedef struct luaN_Gc {
  lu_byte colour;		/* of marks: 1 to 3 */
  lu_byte previous;		/* the colour before this one */
  lu_byte minor;		/* a minor collection is tracing */
  lu_byte marking;		/* a major collection is marking */
  lu_byte cached;		/* luaS_new has put a string into its cache */
  lu_byte fullcycles;		/* the incremental mode was asked for, and holds */
  lu_byte sweeping;		/* dead objects of colour 'previous' may be seen */
  lu_byte setoverflow;			/* the remembered set is not complete */
  lu_byte lostyoung;		/* youngstrings is not complete */
  lu_byte pending;		/* some object is pending (mark.c) */
  lu_byte ephemeronoverflow;		/* 'unresolved' is not complete */
  luaN_Vec gray;		/* marked, not traversed: were young */
  luaN_Vec major;		/* the same: were old */
  luaN_Vec remembered;		/* remembered objects */
  luaN_Vec whole;		/* the same: tables that have had a large vector */
  luaN_Vec slots;		/* remembered slots: table, slot, table, ... */
  Table *refining;		/* a table that was in 'whole', or NULL: remembered */
  unsigned refined;		/* ... from this slot on (refine.c) */
  unsigned many;		/* limit of these lists (LUAN_MANY); of 'slots', when ... */
  size_t refineat;		/* ... one of a vast table is added (LUAN_CACHED) */
  size_t stayed;		/* of 'remembered', what luaN_refineobjects has left */
  luaN_Writes writes[LUAN_WRITES];  /* tables that are written to a lot */
  luaN_Vec weak;		/* weak tables of this collection, tagged */
  luaN_Vec majorweak;		/* weak tables that the major one has met */
  luaN_Vec unresolved;		/* entries with weak keys that may be dead */
  luaN_Vec doubtful;		/* the same, or with weak values, of tables that were
				   looked at (ahead.h): table, slot, table, ... */
  size_t weaknext;		/* of 'majorweak', what is looked at next, ... */
  unsigned weakslot;		/* ... from this slot on, ... */
  unsigned rescans, passes;	/* ... what was begun anew, and the list's passes */
  size_t doubt, doubtkept;	/* of 'doubtful', what is looked at again, what stays */
  lu_byte doubting;		/* ... and whether it is */
  luaN_Vec youngstrings;	/* short strings made since the last minor */
  luaN_Vec fixed;		/* objects that never die */
  size_t fixedseen;		/* of these, how many have the colour */
  luaN_List finalizable;	/* objects with a finalizer, oldest first */
  luaN_Vec tobefinalized;	/* dead ones, in the order of their calls, ... */
  size_t nextfinalized;		/* ... from here on; a major collection ... */
  size_t seenfinalized;		/* ... has marked those before this one */
  luaN_Selection selection;	/* how far it is with 'finalizable' (finalize.c) */
  size_t selected;		/* ... and the dead that it has found there */
  size_t waiting;		/* ... how many the last collection left, ... */
  size_t quota;			/* ... and calls that a batch makes at least */
  luaN_List large;		/* objects that lua_Alloc gave one by one */
  luaN_List tables;		/* tables that have had a large vector */
  luaN_List threads;		/* all but the main thread */
  luaN_List standins;		/* userdata that stand for bytes outside, ... */
  size_t outside;		/* ... so many bytes, ... */
  size_t newoutside;		/* ... of which so many since the last minor */
  Table *table;			/* a big table that is being marked, or NULL, */
  unsigned index;		/* ... from this slot on */
  struct lua_State *thread;	/* a deep thread that is being marked, or NULL: */
  struct CallInfo *ci;		/* ... the next CallInfo, NULL: slots below 'index', */
  lu_byte spares;		/* ... of those that are not in use */
  int bucket;			/* first bucket that is not swept yet */
  int list;			/* the list that is being swept (sweep.c), ... */
  size_t kept, next;		/* ... its entries kept, and the next to look at */
  int limit;			/* buckets of the string table (interned.c) */
  lu_byte shrinking;		/* it is being made smaller */
  size_t nursery;		/* bytes from one minor collection to the next */
  size_t deferred;		/* ... of which so many come after luaN_resume */
  size_t owed;			/* bytes of a major collection's work that were too many
				   for one pause (pace.c) */
  unsigned cycles;		/* major collections that have ended */
  unsigned patience;		/* heaps to allocate before one is due (pace.c) */
  uint64_t since;		/* 'allocated' when the last one ended, ... */
  l_mem byhand;			/* ... and bytes of steps by hand since then */
  uint64_t volume;		/* bytes of allocation after which one is due */
  size_t live, taken;		/* bytes in use, taken up, when the last one ended, */
  size_t standing;		/* ... and 'outside' */
  size_t finalizers;		/* old objects with finalizers then */
  size_t fixednursery;		/* the size that was asked for, or 0 */
  luaN_Tuning tuning;
  size_t tight;			/* most that a nursery may have, until the next
				   major collection has ended; or 0 */
  size_t threshold, early, wide;  /* bytes that begin a major collection (pace.c) */
  size_t explicit;		/* bytes freed by hand (H6) */
  l_mem old;			/* bytes of old objects (H6) */
  l_mem reached;		/* bytes that the major collection has marked */
  l_mem living;			/* ... the last one that has ended marking */
  size_t needed;		/* bytes of blocks that do not go back before the next
				   major one: a heap that does not shrink needs them
				   again (luaN_trimheap); 0: it has shrunk */
  size_t tenured;		/* bytes tenured since the last collection */
  uint64_t alltenured;		/* ... and all of them */
  uint64_t began;		/* when the last pause began (nanoseconds) */
  uint64_t pause, longest, pauses;  /* nanoseconds: last, longest, sum */
  uint64_t work, mostwork;	/* entries of lists that it looked at; the most */
  lu_byte stressmajor;		/* the debug build's switches (stress.h) */
  unsigned stressverify, stressemergency;
  size_t stressslice;
  unsigned untilemergency;	/* allocations to the next one by that switch */
} luaN_Gc;

/* Registers of the machine that a moment keeps. */
#define LUAN_REGISTERS	32u

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
  uintptr_t registers[LUAN_REGISTERS];  /* ... what the machine held then, ... */
  unsigned nregisters;
  int deep;			/* ... and whether the loop had called something */
  volatile lu_byte wanted;	/* a moment waits for its point (TK1) */
  volatile lu_byte armed;	/* the dispatch table is diverted (TK3) */
  volatile lu_byte collecting;	/* LUAN_MINOR, LUAN_MAJOR or 0 */
  uint64_t diversions;		/* instructions that were diverted so far */
  const void *dispatch[LUAN_OPCODES];  /* where the bytecode loop goes for each */
} luaN_Tick;

/*
** All of it. 'free' and 'limit' are the nursery's two hot words and stand first
** (nursery.h has their invariants).
*/
typedef struct luaN_Heap {
  char *free;			/* nursery_free: next byte of the hole in hand */
  char *limit;			/* nursery_limit */
  char *end;			/* end of the hole in hand */
  char *mark;			/* 'free' when the accounts were last flushed */
  uint64_t point;		/* nursery address of the next sample (S1) */
  uint64_t allocated;		/* bytes ever allocated, up to 'mark' */
  uint64_t announced;		/* ... and outside, as samples count them */
  const struct luaN_Sampler *sampler;
#if defined(LUAN_DEBUG)
  int asking;			/* one of its functions runs (debug.h) */
#endif
  const uint64_t *watched;	/* blocks whose free the sampler asks to be told
				   (luaN_watch), or NULL */
  unsigned watchlog;		/* log2 of its bits */
  void (*emergency) (struct lua_State *L, int);  /* luaC_fullgc, which the layers
				   below it know by this only (luaN_emergency) */
  const void *resizing;		/* table (thread) whose vectors (stack) were
				   asked for last */
  const void *rehashing;	/* table that is being resized, or NULL */
  const void *inflight;		/* vector that nobody holds yet, or NULL */
  size_t inflightsize;		/* its bytes */
  GCObject *pinned;		/* a root: what the API's C code alone holds, or NULL */
  int starved;			/* a request has failed; stacks may hold what
				   errors have left */
  void *waiting;		/* a moved stack whose sample waits, or NULL */
  size_t waitingsize;		/* its bytes, ... */
  int waitingoutside;		/* ... whether it passed by the nursery */
  uint64_t waitingover;		/* ... and how far it passed the point */
  luaN_Region overflow;		/* region for what no hole had room for */
  luaN_Blocks blocks;
  int lending;			/* lua_Alloc runs: what it asks the system for is the
				   heap's */
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
#define luaN_isstressed(g)	((g)->heap.gc.stressemergency != 0)
#define luaN_slicestress(c)	((c)->stressslice)
#else
#define luaN_isstressed(g)	0
#define luaN_slicestress(c)	((size_t)0)
#endif

#endif
