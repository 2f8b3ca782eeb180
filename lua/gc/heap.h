/* SPDX-License-Identifier: MIT */
/*
** The heap: blocks of lines, holes, large blocks.
**
** Every block of memory of at most LUAN_LARGE bytes lies in a 32 KiB block of
** 128-byte lines; larger ones come one by one from the state's lua_Alloc.
** Blocks are carved from chunks, which lua_Alloc supplies too. Nothing moves.
** A line is free when no byte of it is in use. A run of free lines is a hole;
** the nursery bumps a pointer through one hole after another (nursery.h).
** Which memory is dead, upstream's collector decides; a free gives its bytes
** back to the lines it lay in, and holes are allocated into again: the
** "mark-region" heap of Blackburn and McKinley (Immix, PLDI 2008), with
** counted lines in the place of marked ones.
**
** Sizes are rounded up to the granule (8 bytes) on both sides, so that the
** size given to a free is the size that was handed out.
**
** Invariants (H4, H5 and the sums of H1 are checked by luaN_verify, in every
** build; H2 and H3 by assertions and the bitmap of the debug build):
**   H1  live[i] of a block = bytes of line i that are handed out, plus, for
**       lines of a hole in hand, those not handed out yet; 0 = a free line.
**   H2  a block of memory is in exactly one place: in lines (size at most
**       LUAN_LARGE) or from lua_Alloc (larger).
**   H3  memory handed out never overlaps memory handed out.
**   H4  freelines = number of lines with live[i] = 0; a block is in the list
**       'empty' exactly when all its lines are free and it is not in hand; in
**       'holed' only when it has free lines and is not in hand; in one list
**       at most.
**   H5  the blocks of a chunk that are empty are counted in chunk->nempty;
**       held = sum of the chunks' sizes plus the large blocks.
**
** This header needs the core's basic types only; lstate.h includes it.
*/
#ifndef luaN_heap_h
#define luaN_heap_h

#include <stddef.h>
#include <stdint.h>

#include "llimits.h"

#define LUAN_LINE	128u		/* bytes of a line */
#define LUAN_BLOCK	32768u		/* bytes of a block, and its alignment */
#define LUAN_LINES	(LUAN_BLOCK / LUAN_LINE)
#define LUAN_LARGE	8192u		/* largest size that lies in lines */
#define LUAN_GRANULE	8u

#define luaN_round(n)	(((size_t)(n) + (LUAN_GRANULE - 1)) & ~(size_t)(LUAN_GRANULE - 1))

struct luaN_Chunk;

/* List links of a block; the heads of the lists are links too. */
typedef struct luaN_Link {
  struct luaN_Link *next, *prev;
} luaN_Link;

typedef enum { LUAN_UNLISTED, LUAN_EMPTY, LUAN_HOLED } luaN_Where;

/* Head of a block, at its first byte. Written by heap.c and luaN_giveback. */
typedef struct luaN_Block {
  luaN_Link link;		/* in 'empty' or 'holed' (must be first) */
  struct luaN_Chunk *chunk;	/* the chunk it is part of */
  unsigned short freelines;	/* lines with live = 0 */
  unsigned short skipped;	/* free lines it had when last left: they were
				   too short a hole for somebody */
  lu_byte where;		/* luaN_Where */
  lu_byte inhand;		/* number of bump regions in it (0, 1 or 2) */
  lu_byte live[LUAN_LINES];	/* H1; bytes, 0 to 128 */
#if defined(LUAN_DEBUG)
  uint64_t used[LUAN_BLOCK / LUAN_GRANULE / 64];  /* a bit a granule: H3 */
#endif
} luaN_Block;

#define LUAN_HEADLINES \
  ((unsigned)((sizeof(luaN_Block) + LUAN_LINE - 1) / LUAN_LINE))

#define luaN_blockof(p) \
  ((luaN_Block *)((uintptr_t)(p) & ~(uintptr_t)(LUAN_BLOCK - 1)))
#define luaN_lineof(p) \
  ((unsigned)(((uintptr_t)(p) & (LUAN_BLOCK - 1)) / LUAN_LINE))

/* What lua_Alloc gave; the struct stands at its first byte. */
typedef struct luaN_Chunk {
  struct luaN_Chunk *next, *prev;
  size_t size;			/* bytes, as lua_Alloc knows it */
  char *first;			/* its first block */
  unsigned nblocks;
  unsigned nempty;		/* of them wholly free (H5) */
} luaN_Chunk;

/* A bump region: the rest of a hole. */
typedef struct luaN_Region {
  char *free;			/* next byte to hand out */
  char *end;			/* end of the hole */
} luaN_Region;

/* What luaN_Sampler of seam.h is to this header. */
struct luaN_Sampler;

/* Distance in bytes of a sample point that is never reached. */
#define LUAN_INFINITY	(UINT64_C(1) << 63)

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
  const struct luaN_Sampler *sampler;
  size_t watched;		/* blocks whose free the sampler asks to be told */
  const void *resizing;		/* table (thread) whose vectors (stack) were
				   asked for last */
  void *waiting;		/* a moved stack whose sample waits, or NULL */
  size_t waitingsize;		/* its bytes, ... */
  uint64_t waitingover;		/* ... and how far it passed the point */
  luaN_Region medium;		/* region for what no hole had room for */
  luaN_Link empty;		/* blocks wholly free */
  luaN_Link holed;		/* blocks with holes, oldest first */
  luaN_Chunk *chunks;
  size_t nblocks;		/* blocks in all chunks */
  size_t nempty;		/* of them in 'empty' */
  size_t held;			/* bytes obtained from lua_Alloc (H5) */
  uint64_t minors, majors;	/* collections of the state so far */
} luaN_Heap;

struct global_State;

/* Makes 'h' empty. Allocates nothing. */
LUAI_FUNC void luaN_openheap (luaN_Heap *h);

/*
** Gives every chunk back to lua_Alloc. All memory in it must be free already.
*/
LUAI_FUNC void luaN_closeheap (struct global_State *g);

/*
** Finds a hole of at least n bytes (n <= LUAN_LARGE, rounded) for 'r', whose
** old rest is given back. 'medium' holes are taken from whole blocks only.
** 'desperate' looks at every block. Returns 0 when lua_Alloc gives no more.
** Never collects.
*/
LUAI_FUNC int luaN_nexthole (struct global_State *g, luaN_Region *r,
                             size_t n, int medium, int desperate);

/* Takes the next hole of the block in hand, or returns 0 (no hole there). */
LUAI_FUNC int luaN_holehere (struct global_State *g, luaN_Region *r, size_t n);

/* Gives the rest of the hole in hand back to its lines; 'r' is empty then. */
LUAI_FUNC void luaN_giverest (struct global_State *g, luaN_Region *r);

/* Line 'line' of 'b' has become free. */
LUAI_FUNC void luaN_linefreed (struct global_State *g, luaN_Block *b);

/* Gives n bytes at p, which may span lines, back to their lines. */
LUAI_FUNC void luaN_giveback_ (struct global_State *g, char *p, size_t n);

#endif
