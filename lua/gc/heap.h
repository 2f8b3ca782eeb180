/* SPDX-License-Identifier: MIT */
/*
** The heap: blocks of lines, and where they are listed.
**
** Every object of at most LUAN_LARGE bytes, and every vector of a table, every
** stack and every CallInfo of that size, lies in a block of 64-byte lines. A long string or
** userdata of more than LUAN_LARGETEXT bytes has lines for itself, as far as it lies in some: it
** is in a list (lists.large), and freed when it is found dead.
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
** Marks have an epoch, 1 to 3 (gc.h); a line has a bit for each of them, so that
** a major collection can put new marks beside the old ones while minor
** collections go on recycling lines that have neither.
**
** Invariants (checked by luaN_verify):
**   H1  marks[i] of a block = 0 exactly when line i is free: no reachable byte
**       lies in it and it is not part of a hole that was taken since the last
**       minor collection (LUAN_YOUNG), nor of what is LUAN_HELD: a userdata that was left
**       waiting, or what is listed and has lived through a collection.
**   H2  a block of memory is in exactly one place: in lines (size at most
**       LUAN_LARGE, or LUAN_LINETEXT; implicit) or from lua_Alloc.
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
** This header needs the core's basic types only.
*/
#ifndef luaN_heap_h
#define luaN_heap_h

#include <stddef.h>
#include <stdint.h>

#include "llimits.h"

#include "vec.h"

#define LUAN_LINE	64u		/* bytes of a line */
#define LUAN_BLOCK	32768u		/* bytes of a block, and its alignment,
					   unless it is a small one */
#define LUAN_LINES	(LUAN_BLOCK / LUAN_LINE)	/* of a block, at most */
#define LUAN_LARGE	8192u		/* largest size that lies in lines, ... */
#define LUAN_LINETEXT	8000u		/* ... of a long string or userdata; those of more ... */
#define LUAN_LARGETEXT	512u		/* ... than this are listed, and have lines for themselves */
#define LUAN_GRANULE	8u
#define LUAN_SMALL	256u		/* largest size that fills small holes */
#define LUAN_CLASSES	10		/* log2 of LUAN_LINES, and one */

#define LUAN_YOUNG	0x08	/* of marks[]: line of a hole that was taken */
#define LUAN_HELD	0x10	/* ... of what is freed by itself, and no sweep of lines frees */

#define luaN_round(n)	(((size_t)(n) + (LUAN_GRANULE - 1)) & ~(size_t)(LUAN_GRANULE - 1))

/* Small blocks that were looked up last: so many, each for such a piece of the addresses. */
#define LUAN_RECENT	16u
#define LUAN_RECENTPIECE	2048u

#define luaN_recentat(p)	((uintptr_t)(p) / LUAN_RECENTPIECE % LUAN_RECENT)
#define luaN_recent(h,p) \
  ((luaN_Block *)((h)->low + (size_t)(h)->recent[luaN_recentat(p)] * LUAN_GRANULE))

struct luaN_Chunk;
struct global_State;

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

/* The blocks of one state. */
typedef struct luaN_Blocks {
  luaN_Link empty;		/* blocks wholly free */
  luaN_Link holed[LUAN_CLASSES];  /* blocks with holes, by class */
  luaN_Link used;		/* blocks of this nursery */
  luaN_Chunk *chunks;
  luaN_Chunk *trimmed;		/* the chunk that luaN_trim looks at next, or NULL */
  luaN_Chunk *sweptchunk;	/* first chunk that luaN_sweeplines has not swept, */
  unsigned sweptblock;		/* ... and its first block */
  lu_byte releasing;		/* luaN_releasepages goes on */
  lu_byte unadvised;		/* madvise was refused: it is not called again */
  lu_byte refused;		/* lua_Alloc has refused something to this nursery */
  luaN_Vec small;		/* small blocks (H7), ... */
  uintptr_t low, span;		/* ... and the addresses from the first to the last */
  uint16_t recent[LUAN_RECENT];	/* by address, the one of them that was looked up last there,
				   or another, if there are any: granules behind 'low' */
  size_t room, vacant;		/* bytes of blocks (H5) */
  size_t released;		/* of 'room', what the system has back (H8) */
  luaN_Chunk *next;		/* luaN_releasepages, if it goes on, does with this one, or NULL */
  size_t held;			/* bytes obtained from lua_Alloc (H5) */
  size_t freed;			/* bytes that malloc has got back and giveback.h not been told of */
  size_t ceiling;		/* least of these that it has refused since the last major
				   collection, or 0 (luaN_askmore) */
} luaN_Blocks;

/* There are none. Allocates nothing. */
LUAI_FUNC void luaN_openblocks (luaN_Blocks *h);

/* Puts b into a list; takes it out of the one that it is in. */
LUAI_FUNC void luaN_enlist (luaN_Blocks *h, luaN_Block *b, luaN_Where where);
LUAI_FUNC void luaN_unlist (luaN_Blocks *h, luaN_Block *b);

/* A small block comes (there is room in 'small'), or goes. */
LUAI_FUNC void luaN_addsmall (luaN_Blocks *h, luaN_Block *b);
LUAI_FUNC void luaN_dropsmall (luaN_Blocks *h, const luaN_Block *b);

/* The small block that p lies in, which is luaN_recent then, as a rule, or NULL. */
LUAI_FUNC luaN_Block *luaN_smallblock (const luaN_Blocks *h, const void *p);

/* The block that p lies in. A piece of the addresses has one or two small ones: half of the time
   of collecting a small heap was spent on looking for its blocks. */
static inline luaN_Block *luaN_blockof (const luaN_Blocks *h, const void *p) {
  if (l_unlikely((uintptr_t)p - h->low < h->span)) {
    luaN_Block *b = luaN_recent(h, p);
    if ((uintptr_t)p - (uintptr_t)b < luaN_bytesof(b)) return b;
    b = luaN_smallblock(h, p);
    if (b != NULL) return b;
  }
  return (luaN_Block *)((uintptr_t)p & ~(uintptr_t)(LUAN_BLOCK - 1));
}

#endif
