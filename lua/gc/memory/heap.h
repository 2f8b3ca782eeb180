/* SPDX-License-Identifier: MIT */
/*
** The heap: blocks of lines, and the lists of blocks. (gc.h has an overview.)
**
** A block is 32 KiB of 64-byte lines, aligned to its size, so that a mask leads from an address to
** its block. Lines contain
** - objects, vectors, stacks and CallInfos of up to LUAN_LARGE bytes
** - long strings and userdata of up to LUAN_LINETEXT bytes. If such an object has more than
**   LUAN_LARGETEXT bytes, it is in the list lists.large, and shares no line with other objects.
**
** Larger allocations, and memory that the core frees explicitly, come from lua_Alloc.
**
** A small heap, or one that is short of memory, has small blocks: of any length up to 32 KiB, at
** any address, found by binary search. They waste nothing for alignment. A chunk is a piece of
** memory from lua_Alloc or mmap that contains one or more blocks.
**
** A line without marks is free. A run of free lines is a hole, through which the nursery bumps a
** pointer. A collection marks the lines of the objects that it reaches; lines without marks are
** used again. A line has one mark bit for each epoch (number 1 to 3 of a major collection), so that
** a major collection adds new marks next to old ones. An object of lists.large has no epoch mark on
** its lines: once a collection has found it alive, they have the mark LUAN_HELD.
**
** Invariants (verify.c checks all except H2 and H3; debug.h checks H3):
**   H1  marks[i] is the mark byte of line i of a block. The line is free if and only if the byte is
**       0. A free line contains no reachable byte. All lines of a hole that the allocator has taken
**       since the last minor collection have the mark LUAN_YOUNG, so that they are not free, even
**       if nothing was allocated in them yet.
**   H2  An object or vector is in exactly one place: in lines (at most LUAN_LARGE bytes, or
**       LUAN_LINETEXT for a string or userdata), or in memory of its own from lua_Alloc.
**   H3  Objects and vectors that are in use do not overlap.
**   H4  A block is in at most one list of luaN_Blocks. It is in the list 'used' if a hole of it was
**       taken since the last minor collection; in 'empty' only if all its lines except those of its
**       head (LUAN_HEAD) are free; in one of the lists 'holed' only if it has free lines.
**   H5  nempty of a chunk is the number of its blocks in 'empty'. In luaN_Blocks, 'room' is the
**       number of bytes of all blocks, 'vacant' that of the blocks in 'empty', 'held' the number of
**       bytes obtained from lua_Alloc or mapped.
**   H6  After a collection, the bytes in use are the sum of four members of luaN_Bytes: explicit
**       (the state, and memory that the core frees itself), old (old objects), aged (long strings
**       and large userdata left young) and waiting (small userdata left young). Until the next
**       collection, allocated bytes are added, and freed bytes subtracted.
**   H7  'small' has exactly the small blocks, in the order of their addresses; 'low' and 'span' are
**       the smallest range of addresses that contains them.
**   H8  A page whose bit in a block's 'released' is set is in a mapped chunk, and all its lines are
**       free. 'released' of luaN_Blocks is the sum of the bytes of these pages.
*/
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "llimits.h"

#include "mapped.h"
#include "vec.h"

/* bytes of a line, the unit in which memory is marked and becomes free */
#define LUAN_LINE	64u
#define LUAN_LINES	(LUAN_BLOCK / LUAN_LINE)	/* largest number of lines of a block */

/* Bytes that certainly fit into the cache of one core of the processor. Compared with the bytes of
   old objects (luaN_isnear). */
#define LUAN_NEAR	((l_mem)256 * 1024)

/* Number of cache lines in LUAN_NEAR bytes. A list of up to this number of slots can be visited
   twice with few cache misses. Used as limit of such lists (refine.c, ageing.c, ahead.c,
   mark.c). */
#define LUAN_CACHED	((unsigned)LUAN_NEAR / LUAN_LINE)

/* Largest size in bytes of an object or vector that is stored in lines. Larger ones come from
   lua_Alloc. (For long strings and userdata: LUAN_LINETEXT.) */
#define LUAN_LARGE	8192u
/* Largest size in bytes of a long string or userdata that is stored in lines. */
#define LUAN_LINETEXT	8000u
/* A long string or userdata of more bytes than this is large: it is in the list lists.large, and
   shares no line with other objects. With a lower limit, more of these objects may stay young and
   be freed by minor collections (ageing.h), and the list is longer. */
#define LUAN_LARGETEXT	512u
/* Bytes of a granule, the unit of allocation: sizes are rounded up to granules. */
#define LUAN_GRANULE	8u
/* A heap is big if its blocks or its old objects have at least this number of bytes: no cache holds
   it, and huge pages are worth their cost. The share of a state is LUAN_BIGHEAP divided by the
   number of states of the process. After the heap of a state has shrunk, the state keeps free
   memory only up to its share (major.c). */
#define LUAN_BIGHEAP	((size_t)64 * 1024 * 1024)
/* Largest size in bytes of a small allocation. If a small allocation fits into no hole (run of free
   lines) of the current block, the nursery continues in another block, and the rest of the current
   block stays unused. For a larger allocation, the nursery continues in the current block: the
   allocation uses a second hole, the overflow region. */
#define LUAN_SMALL	256u
/* Number of lists 'holed' of blocks with holes. The index of a list is log2 of the number of lines
   of the largest hole of its blocks. */
#define LUAN_CLASSES	10

/* Bit in a line's mark byte: the line is part of a hole (run of free lines) that the allocator has
   taken since the last minor collection. */
#define LUAN_YOUNG	0x08
/* Bit in a line's mark byte: the line stays in use, because the sweep of lines keeps this bit. Set
   for
   - a long string or large userdata that a collection has found alive; the sweep of lists.large
     clears it when the object is dead
   - a small userdata that a minor collection has left young (ageing.h, waiting.h) */
#define LUAN_HELD	0x10

/* Rounds n bytes up to a multiple of a granule (8 bytes), the unit of allocation. */
#define luaN_round(n)	(((size_t)(n) + (LUAN_GRANULE - 1)) & ~(size_t)(LUAN_GRANULE - 1))

/* Cache of the small blocks that luaN_smallblock has found last, direct-mapped. It has LUAN_RECENT
   entries. The entry for an address has the index (address / LUAN_RECENTPIECE) modulo
   LUAN_RECENT. */
#define LUAN_RECENT	16u
#define LUAN_RECENTPIECE	2048u

#define luaN_recentat(p)	((uintptr_t)(p) / LUAN_RECENTPIECE % LUAN_RECENT)
#define luaN_recent(h,p) \
  ((luaN_Block *)((h)->low + (size_t)(h)->recent[luaN_recentat(p)] * LUAN_GRANULE))

struct luaN_Chunk;
struct global_State;

/* Links of a block in a circular list. The head of each list is a luaN_Link in luaN_Blocks, which
   belongs to no block; an empty list contains only its head. */
typedef struct luaN_Link {
  struct luaN_Link *next, *prev;
} luaN_Link;

/* The list of luaN_Blocks that contains a block: none; 'empty'; one of the lists 'holed' (blocks
   with some free lines); 'used' (blocks in which the nursery has taken free lines). */
typedef enum { LUAN_UNLISTED, LUAN_EMPTY, LUAN_HOLED, LUAN_USED } luaN_Where;

/*
** Head of a block. After marks[] there is a set of bits, one for each granule of 8 bytes
** (luaN_bits): it marks objects that did not fit on a mark stack, or objects that a walk of the
** heap has visited. The debug build has a second set, for the granules in use.
*/
typedef struct luaN_Block {
  /* Links in the list of blocks that 'where' names. Must be the first field, because links are cast
     to blocks. */
  luaN_Link link;
  struct luaN_Chunk *chunk;	/* the chunk of the block */
  unsigned short nlines;	/* number of lines, a multiple of 8 */
  /* number of lines for objects and vectors: all lines of the block without the lines of its head
     and of the luaN_Chunk after the head */
  unsigned short nusable;
  lu_byte where;		/* the list that contains the block: a luaN_Where */
  /* While the block is in one of the lists 'holed': the index of the list, log2 of the number of
     lines of the block's largest hole. */
  lu_byte class;
  /* 1: a marked object of the block did not fit on a mark stack and must still be traversed */
  lu_byte pending;
  lu_byte released;		/* bit i: page i was returned to the system */
  /* one mark byte per line; 0: the line is free (H1) */
  lu_byte marks[];
} luaN_Block;

/* Bit in a line's mark byte: the line contains a part of the block's head, or of the luaN_Chunk
   that follows the head. */
#define LUAN_HEAD	0x80

/* offset of marks[] in a block */
#define LUAN_MARKSAT	offsetof(luaN_Block, marks)

#if defined(LUAN_DEBUG)
/* Bytes of a block's head for each line: 1 in marks[], 1 in luaN_bits and, in the debug build only,
   1 in luaN_usedbits. */
#define LUAN_LINESETS	3u
#else
#define LUAN_LINESETS	2u
#endif

/* bytes of the head of a block of n lines, without a luaN_Chunk */
#define luaN_headbytes(n)  (LUAN_MARKSAT + (size_t)(n) * LUAN_LINESETS)

/* Two sets of bits in the head of block b, with one bit for each granule (8 bytes).
   luaN_bits      objects that did not fit on a mark stack, or that a walk of the heap has visited
   luaN_usedbits  only in the debug build: granules in use */
#define luaN_bits(b)	((uint64_t *)(void *)((b)->marks + (b)->nlines))
#define luaN_usedbits(b)  ((uint64_t *)(void *)((b)->marks + 2 * (b)->nlines))

/* index in block b of the granule of address p */
#define luaN_granuleof(b,p) \
  ((size_t)((const char *)(p) - (const char *)(b)) / LUAN_GRANULE)

/* index in block b of the line of address p */
#define luaN_lineof(b,p) \
  ((unsigned)((size_t)((const char *)(p) - (const char *)(b)) / LUAN_LINE))

/* bytes of block b, with its head */
#define luaN_bytesof(b)	((size_t)(b)->nlines * LUAN_LINE)

/* A chunk: a piece of memory from lua_Alloc or mmap that contains blocks. This struct is at the
   start of the chunk; in a mapping, after the head of the first block. */
typedef struct luaN_Chunk {
  struct luaN_Chunk *next, *prev;
  size_t size;			/* bytes requested from lua_Alloc or mapped */
  char *first;			/* its first block */
  unsigned nblocks;		/* number of blocks */
  /* number of blocks in the list 'empty' (H5) */
  unsigned nempty;
  lu_byte small;		/* 1: its only block is a small block */
  lu_byte mapped;		/* 1: a mapping; 0: from lua_Alloc */
  /* 1: the chunk is mapped and as large as a huge page of the system, and none of its pages was
     returned to the system */
  lu_byte huge;
} luaN_Chunk;

/* block i of chunk c */
#define luaN_blockat(c,i) \
  ((luaN_Block *)((c)->first + (size_t)(i) * LUAN_BLOCK))

/* The unused rest of a hole (run of free lines). The allocator takes memory from its start. If
   there is no hole, both fields are the address of the luaN_Heap. */
typedef struct luaN_Region {
  char *free;			/* next byte to allocate */
  /* end of the hole: the next line is in use, or the block ends here */
  char *end;
} luaN_Region;

/* The blocks of one state. */
typedef struct luaN_Blocks {
  luaN_Link empty;		/* blocks of which all usable lines are free */
  /* Blocks with holes; the index is log2 of the number of lines of the block's largest hole. */
  luaN_Link holed[LUAN_CLASSES];
  /* blocks of which holes were taken since the last minor collection */
  luaN_Link used;
  luaN_Chunk *chunks;
  /* the chunk that luaN_trim, which frees empty chunks, visits next; NULL: the first chunk */
  luaN_Chunk *trimmed;
  /* Progress of the sweep of lines: the first chunk that has blocks not swept yet; NULL: no sweep
     runs, or all chunks were swept. */
  luaN_Chunk *sweptchunk;
  /* index of the first block of sweptchunk that is not swept */
  unsigned sweptblock;
  /* 1: free pages are to be returned to the system, and luaN_releasepages has not visited all
     chunks yet */
  lu_byte releasing;
  lu_byte unadvised;		/* 1: madvise was refused; chunks.c does not call it again */
  /* 1: lua_Alloc has refused memory or may soon do so. Set by luaN_askmore, luaN_leavesroom and
     luaN_refused; cleared at the start of the next nursery or the end of a major collection. */
  lu_byte refused;
  /* 1: luaN_leavesroom has refused growth since the last major collection */
  lu_byte cramped;
  /* the small blocks, in the order of their addresses (H7) */
  luaN_Vec small;
  /* Range of addresses that contains all small blocks (H7).
     low   lowest address of a small block
     span  bytes from 'low' to the end of the small block with the highest address */
  uintptr_t low, span;
  /* Cache of the small blocks found last (luaN_recentat): distances from 'low', in granules. */
  uint16_t recent[LUAN_RECENT];
  /* room    bytes of all blocks
     vacant  bytes of the blocks in the list 'empty' (H5) */
  size_t room, vacant;
  /* bytes of pages returned to the system (H8) */
  size_t released;
  /* the chunk that luaN_releasepages, which returns free pages to the system, visits next; NULL:
     the first chunk */
  luaN_Chunk *next;
  /* bytes obtained from lua_Alloc or mapped (H5) */
  size_t held;
  /* Bytes that luaN_ask has freed since the last call of luaN_freeend. luaN_freeend adds them to
     the count of freed bytes of the process (giveback.h). */
  size_t freed;
  /* Limit in bytes: luaN_askmore refuses growth that would raise the field 'held' to this number;
     0: no limit. Set when lua_Alloc refuses memory; set to 0 at the end of a major collection. */
  size_t ceiling;
  /* Value that the field 'held' can reach, in bytes: a test of luaN_leavesroom has shown that
     lua_Alloc can provide this memory; 0: no test since the last major collection. luaN_leavesroom
     permits growth without another test if the new value of 'held' plus half of the reserve is at
     most 'proven'. */
  size_t proven;
  /* Limit for heap.allocated, the bytes allocated in the life of the state: up to this limit,
     luaN_leavesroom lets the heap grow without checking that lua_Alloc can provide more. Set anew
     at the end of a major collection. */
  uint64_t unchecked;
} luaN_Blocks;

/* Initializes the lists of blocks as empty. Allocates nothing. */
LUAI_FUNC void luaN_openblocks (luaN_Blocks *h);

/* Adds block b, which must be in no list, to the list that 'where' names. LUAN_HOLED is the list
   holed[b->class]. */
LUAI_FUNC void luaN_enlist (luaN_Blocks *h, luaN_Block *b, luaN_Where where);

/* Removes block b from its list. Does nothing if b is in no list. */
LUAI_FUNC void luaN_unlist (luaN_Blocks *h, luaN_Block *b);

/* Adds b to 'small', the list of small blocks. The list must have capacity for it. */
LUAI_FUNC void luaN_addsmall (luaN_Blocks *h, luaN_Block *b);

/* Removes b from the list 'small'. */
LUAI_FUNC void luaN_dropsmall (luaN_Blocks *h, const luaN_Block *b);

/* Returns the small block that contains address p, or NULL. Searches the list 'small' of all small
   blocks, and stores the block in the cache of the blocks found last (luaN_recent) if possible. */
LUAI_FUNC luaN_Block *luaN_smallblock (const luaN_Blocks *h, const void *p);

/* Returns the block that contains address p; there must be such a block. For a small block, tries
   the cache before the binary search: without the cache, half of the collection time of a small
   heap was spent in searches. */
static inline luaN_Block *luaN_blockof (const luaN_Blocks *h, const void *p) {
  if (l_unlikely((uintptr_t)p - h->low < h->span)) {
    luaN_Block *b = luaN_recent(h, p);
    if ((uintptr_t)p - (uintptr_t)b < luaN_bytesof(b)) return b;
    b = luaN_smallblock(h, p);
    if (b != NULL) return b;
  }
  return (luaN_Block *)((uintptr_t)p & ~(uintptr_t)(LUAN_BLOCK - 1));
}
