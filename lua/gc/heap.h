/* SPDX-License-Identifier: MIT */
/*
** The heap: blocks of lines, holes, and what the collector keeps about them.
**
** Every object of at most LUAN_LARGE bytes, and every vector of a table, every
** stack and every CallInfo of that size, lies in a block of 64-byte lines.
** Blocks are carved from chunks, which the state's lua_Alloc supplies; what is
** larger comes one by one from lua_Alloc, and so does memory that is freed by
** hand (vectors of prototypes, buffers, the string table): explicit memory.
** Nothing moves.
**
** A block is 32 KiB long and aligned to as much, so that it is found from any
** address in it. A small heap has no use for that much, nor for what aligning it
** costs: its blocks are small ones, of any length up to 32 KiB and wherever
** lua_Alloc has put them, and are looked up in a sorted list. They also use up
** what a limit in lua_Alloc has left when no chunk fits into it any more.
**
** A line is free when no mark is on it. A run of free lines is a hole; the
** nursery bumps a pointer through one hole after another (nursery.h). Nobody
** frees what lies in lines: a collection marks the lines of what it finds
** alive, and the lines without a mark are the next nursery's. This is the
** mark-region heap of Blackburn and McKinley (Immix, PLDI 2008) with sticky
** marks, so that a minor collection only adds marks for its survivors.
**
** Marks have a colour, 1 to 3 (gc.h); a line has a bit for each colour, so that
** a major collection can put new marks beside the old ones while minor
** collections go on recycling lines that have neither.
**
** Invariants (checked by luaN_verify):
**   H1  marks[i] of a block = 0 exactly when line i is free: no reachable byte
**       lies in it and it is not part of a hole that was taken since the last
**       minor collection (LUAN_YOUNG).
**   H2  a block of memory is in exactly one place: in lines (size at most
**       LUAN_LARGE, implicit) or from lua_Alloc.
**   H3  memory handed out never overlaps memory handed out.
**   H4  a block is in 'empty' only when all its lines are free, in 'holed' only
**       when it has free lines, in 'used' when a hole of it was taken or
**       looked for since the last minor collection; in one list at most.
**   H5  the blocks of a chunk that are in 'empty' are counted in
**       chunk->nempty; room and vacant are the bytes of all blocks and of those
**       in 'empty'; held = bytes obtained from lua_Alloc, and mapped.
**   H6  bytes in use = the state + explicit + old + what was allocated since
**       the last minor collection.
**   H7  every small block is in 'small', in the order of addresses, and no other
**       block is; 'low' and 'span' are the least range that has them all.
**   H8  a page that is 'released' lies in a mapped chunk, all its lines are free;
**       released (of the heap) is their bytes.
**
** This header needs the core's basic types only; lstate.h includes it.
*/
#ifndef luaN_heap_h
#define luaN_heap_h

#include <stddef.h>
#include <stdint.h>

#include "llimits.h"
#include "lobject.h"

#include "attach.h"

#define LUAN_LINE	64u		/* bytes of a line */
#define LUAN_BLOCK	32768u		/* bytes of a block, and its alignment,
					   unless it is a small one */
#define LUAN_LINES	(LUAN_BLOCK / LUAN_LINE)	/* of a block, at most */
#define LUAN_LARGE	8192u		/* largest size that lies in lines */
#define LUAN_GRANULE	8u
#define LUAN_SMALL	256u		/* largest size that fills small holes */
#define LUAN_CLASSES	10		/* log2 of LUAN_LINES, and one */

#define LUAN_YOUNG	0x08	/* of marks[]: line of a hole that was taken */

#define luaN_round(n)	(((size_t)(n) + (LUAN_GRANULE - 1)) & ~(size_t)(LUAN_GRANULE - 1))

struct luaN_Chunk;

/* List links of a block; the heads of the lists are links too. */
typedef struct luaN_Link {
  struct luaN_Link *next, *prev;
} luaN_Link;

typedef enum { LUAN_UNLISTED, LUAN_EMPTY, LUAN_HOLED, LUAN_USED } luaN_Where;

/*
** Head of a block, at its first byte. Behind 'marks' follow as many bytes of
** 'bits', a bit a granule: a set of objects, for a mark stack that is full and
** cannot grow (mark.c), and for the verifier; in the debug build as many again,
** of what was handed out (H3).
*/
typedef struct luaN_Block {
  luaN_Link link;		/* in 'empty', 'holed' or 'used' (must be first) */
  struct luaN_Chunk *chunk;	/* the chunk it is part of */
  unsigned short nlines;	/* its lines: a multiple of 8 */
  unsigned short nusable;	/* those that may be free: not of heads, not past
				   its end */
  lu_byte where;		/* luaN_Where */
  lu_byte class;		/* of 'holed': log2 of the lines of its largest hole */
  lu_byte pending;		/* some bit of 'bits' is set for the marker */
  lu_byte released;		/* a bit for each page that the system has back */
  lu_byte marks[];		/* H1: nlines of them */
} luaN_Block;

/* Of marks[]: line of a head, or past the end of a block. */
#define LUAN_HEAD	0x80

#define LUAN_MARKSAT	offsetof(luaN_Block, marks)	/* a multiple of 8 */

#if defined(LUAN_DEBUG)
#define LUAN_LINESETS	3u	/* bytes a line of marks, bits, handed out */
#else
#define LUAN_LINESETS	2u
#endif

/* Bytes of the head of a block of n lines. */
#define luaN_headbytes(n)  (LUAN_MARKSAT + (size_t)(n) * LUAN_LINESETS)

#define luaN_bits(b)	((uint64_t *)(void *)((b)->marks + (b)->nlines))
#define luaN_usedbits(b)  ((uint64_t *)(void *)((b)->marks + 2 * (b)->nlines))

/* Index of the granule of an address, and of the line, in its block. */
#define luaN_granuleof(b,p) \
  ((size_t)((const char *)(p) - (const char *)(b)) / LUAN_GRANULE)
#define luaN_lineof(b,p) \
  ((unsigned)((size_t)((const char *)(p) - (const char *)(b)) / LUAN_LINE))

#define luaN_bytesof(b)	((size_t)(b)->nlines * LUAN_LINE)

/* What lua_Alloc gave; the struct stands at its first byte. If it was mapped, the
   struct stands in the head of its first block. */
typedef struct luaN_Chunk {
  struct luaN_Chunk *next, *prev;
  size_t size;			/* bytes, as lua_Alloc knows it */
  char *first;			/* its first block */
  unsigned nblocks;		/* one, if it is small */
  unsigned nempty;		/* of them in 'empty' (H5) */
  lu_byte small;		/* its block is a small one */
  lu_byte mapped;
  lu_byte huge;			/* ... in huge pages, where the system has them */
} luaN_Chunk;

/* The block at index i of chunk c. */
#define luaN_blockat(c,i) \
  ((luaN_Block *)((c)->first + (size_t)(i) * LUAN_BLOCK))

/* A bump region: the rest of a hole. */
typedef struct luaN_Region {
  char *free;			/* next byte to hand out */
  char *end;			/* end of the hole */
} luaN_Region;

/* What luaN_Sampler of seam.h is to this header. */
struct luaN_Sampler;

/* Distance in bytes of a sample point that is never reached. */
#define LUAN_INFINITY	(UINT64_C(1) << 63)

/* A growing array of words, from lua_Alloc (vec.h). */
typedef struct luaN_Vec {
  void **a;
  size_t n, size;
} luaN_Vec;

/* A list of objects of which the last ones may be young. */
typedef struct luaN_List {
  luaN_Vec v;
  size_t old;			/* so many are old */
} luaN_List;

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
   to them; looks for them; puts them aside; marks what they refer to (sweep.c). */
typedef enum { LUAN_UNSELECTED, LUAN_SELECTING, LUAN_MOVING, LUAN_RESURRECTING }
  luaN_Selection;

/* What the collector has to remember from one collection to the next (gc.h). */
typedef struct luaN_Gc {
  lu_byte colour;		/* of marks: 1 to 3 */
  lu_byte before;		/* the colour before this one */
  lu_byte minor;		/* a minor collection is tracing */
  lu_byte marking;		/* a major collection is marking */
  lu_byte cached;		/* luaS_new has put a string into its cache */
  lu_byte fullcycles;		/* the incremental mode was asked for, and holds */
  lu_byte sweeping;		/* dead objects of colour 'before' may be seen */
  lu_byte lost;			/* the remembered set is not complete */
  lu_byte lostyoung;		/* youngstrings is not complete */
  lu_byte pending;		/* some object is pending (mark.c) */
  lu_byte crowded;		/* 'open' is not complete */
  luaN_Vec gray;		/* marked, not traversed: were young */
  luaN_Vec major;		/* the same: were old */
  luaN_Vec touched;		/* remembered objects */
  luaN_Vec whole;		/* the same: tables that have had a large vector */
  luaN_Vec slots;		/* remembered slots: table, slot, table, ... */
  Table *refining;		/* a table that was in 'whole', or NULL: remembered */
  unsigned refined;		/* ... from this slot on (refine.c) */
  unsigned many;		/* limit of these lists (LUAN_MANY); of 'slots', when ... */
  size_t refineat;		/* ... one of a vast table is added (LUAN_CACHED) */
  size_t stayed;		/* of 'touched', what luaN_refinetouched has left */
  luaN_Writes writes[LUAN_WRITES];  /* tables that are written to a lot */
  luaN_Vec weak;		/* weak tables of this collection, tagged */
  luaN_Vec majorweak;		/* weak tables that the major one has met */
  luaN_Vec open;		/* entries with weak keys that may be dead */
  luaN_Vec youngstrings;	/* short strings made since the last minor */
  luaN_Vec fixed;		/* objects that never die */
  size_t fixedseen;		/* of these, how many have the colour */
  luaN_List finalizable;	/* objects with a finalizer, oldest first */
  luaN_Vec tobefinalized;	/* dead ones, in the order of their calls, ... */
  size_t nextfinalized;		/* ... from here on; a major collection ... */
  size_t seenfinalized;		/* ... has marked those before this one */
  luaN_Selection selection;	/* how far it is with 'finalizable' (sweep.c) */
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
  int limit;			/* buckets of the string table (strings.c) */
  lu_byte shrinking;		/* it is being made smaller */
  luaN_Chunk *chunk;		/* first chunk not swept yet, ... */
  unsigned block;		/* ... and its first block not swept yet */
  size_t nursery;		/* bytes from one minor collection to the next */
  size_t deferred;		/* ... of which so many come after luaN_resume */
  size_t owed;			/* bytes of a major collection's work that were too many
				   for one pause (collect.c) */
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
  lu_byte refused;		/* lua_Alloc has refused something to this one */
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
  lu_byte stressmajor;		/* the debug build's switches (pace.c) */
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
** The heap of one state. 'free' and 'limit' are the nursery's two hot words
** and stand first (nursery.h has their invariants).
*/
typedef struct luaN_Heap {
  char *free;			/* nursery_free: next byte of the hole in hand */
  char *limit;			/* nursery_limit */
  char *end;			/* end of the hole in hand */
  char *mark;			/* 'free' when the accounts were last settled */
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
  luaN_Region medium;		/* region for what no hole had room for */
  luaN_Link empty;		/* blocks wholly free */
  luaN_Link holed[LUAN_CLASSES];  /* blocks with holes, by class */
  luaN_Link used;		/* blocks of this nursery */
  luaN_Chunk *chunks;
  luaN_Chunk *trimmed;		/* the chunk that luaN_trim looks at next, or NULL */
  luaN_Vec small;		/* small blocks (H7), ... */
  uintptr_t low, span;		/* ... and the addresses from the first to the last */
  size_t room, vacant;		/* bytes of blocks (H5) */
  size_t released;		/* of 'room', what the system has back (H8) */
  lu_byte releasing;		/* luaN_releasepages goes on, with ... */
  luaN_Chunk *next;		/* ... this chunk, or NULL */
  size_t held;			/* bytes obtained from lua_Alloc (H5) */
  int lending;			/* lua_Alloc runs: what it asks the system for is the
				   heap's */
  uint64_t minors, majors;	/* collections of the state so far */
  luaN_Gc gc;
  luaN_Tick tick;
} luaN_Heap;

struct global_State;

/* {== chunks.c: where memory comes from */
/* lua_Alloc, which knows by 'lending' that it is the heap that asks; else as luaN_ask. */
LUAI_FUNC void *luaN_callalloc (struct global_State *g, void *p, size_t osize,
                                size_t nsize);

/* lua_Alloc with the accounts of 'held': as realloc; NULL when it has none. */
LUAI_FUNC void *luaN_ask (struct global_State *g, void *p, size_t osize,
                          size_t nsize);

/* Makes 'h' empty. Allocates nothing. */
LUAI_FUNC void luaN_openheap (luaN_Heap *h);

/* Gives every chunk back to lua_Alloc, whatever lies in it. */
LUAI_FUNC void luaN_closeheap (struct global_State *g);

/* A new chunk, whose blocks are in 'empty', one of them with room for n bytes
   (n <= LUAN_LARGE) at least; 0: there is no memory for it. */
LUAI_FUNC int luaN_newchunk (struct global_State *g, size_t n);

/* Looks at some chunks, and gives those that are wholly empty back as long as a
   reserve of so many bytes of empty blocks is left; all: at each, until no more
   than that is left. */
LUAI_FUNC void luaN_trim (struct global_State *g, size_t reserve, int all);

/* The page of 4 KiB of a line; a block of 32 KiB has eight. */
#define LUAN_PAGE	4096u
#define luaN_pageof(line)  ((line) / (LUAN_PAGE / LUAN_LINE))

/* Pages of mapped chunks that are wholly free go back to the system, some of them,
   until no more than 'most' bytes of blocks are there. One round of all chunks ends
   it, until 'releasing' is set again: what is in use by turns would go and come. */
LUAI_FUNC void luaN_releasepages (struct global_State *g, size_t most);

/* The lines i to j - 1 of b are about to be used. */
LUAI_FUNC void luaN_usepages (luaN_Heap *h, luaN_Block *b, unsigned i, unsigned j);

/* The states of this process. */
LUAI_FUNC unsigned luaN_countstates (void);

/* The small block that p lies in, or NULL. */
LUAI_FUNC luaN_Block *luaN_smallblock (const luaN_Heap *h, const void *p);

/* The block that p lies in. */
static inline luaN_Block *luaN_blockof (const luaN_Heap *h, const void *p) {
  if (l_unlikely((uintptr_t)p - h->low < h->span)) {
    luaN_Block *b = luaN_smallblock(h, p);
    if (b != NULL) return b;
  }
  return (luaN_Block *)((uintptr_t)p & ~(uintptr_t)(LUAN_BLOCK - 1));
}
/* } */

/* {== heap.c: lists of blocks, lines, holes */
LUAI_FUNC void luaN_enlist (luaN_Heap *h, luaN_Block *b, luaN_Where where);
LUAI_FUNC void luaN_unlist (luaN_Heap *h, luaN_Block *b);

/*
** Finds a hole of at least n bytes (n <= LUAN_LARGE, rounded) for 'r', whose
** old rest is forgotten. 'desperate' looks at every block. Returns 0 when lua_Alloc gives no more.
** Never collects.
*/
LUAI_FUNC int luaN_nexthole (struct global_State *g, luaN_Region *r,
                             size_t n, int desperate);

/* Takes the next hole of the block in hand, or returns 0 (no hole there). */
LUAI_FUNC int luaN_holehere (struct global_State *g, luaN_Region *r, size_t n);

/*
** Ends the nursery: holes that were taken and bear no mark are free again.
** The regions in hand must be empty.
*/
LUAI_FUNC void luaN_recycle (struct global_State *g);

/*
** Takes all marks but those of 'bit' off the lines of at most n blocks from
** gc.chunk, gc.block on. Returns how many it did; fewer than n at the end.
*/
LUAI_FUNC unsigned luaN_sweeplines (struct global_State *g, lu_byte bit,
                                    unsigned n);

/* n bytes at p, a vector in lines, are garbage: frees the lines it fills. */
LUAI_FUNC void luaN_forget (luaN_Heap *h, char *p, size_t n);
/* } */

#endif
