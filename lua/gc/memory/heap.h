/* SPDX-License-Identifier: MIT */
/*
** The heap: blocks of lines, and the lists that blocks are in. gc.h has an overview.
**
** A block is 32 KiB of 64-byte lines, aligned to its size, so that the block of an address is
** found by a mask. Objects, vectors of tables, stacks and CallInfos of at most LUAN_LARGE bytes are
** in lines. A long string or userdata of more than LUAN_LARGETEXT bytes is in lists.large; up to
** LUAN_LINETEXT bytes, it has lines to itself, which are freed when it is found dead. Everything
** larger, and explicit memory (prototypes and their vectors, buffers, the string table), comes from
** lua_Alloc one block at a time. Nothing moves.
**
** A small heap has small blocks: of any length up to 32 KiB, at any address that lua_Alloc
** returns. They are found by binary search in a sorted list. They avoid the cost of alignment. A
** larger heap gets small blocks, too, when lua_Alloc has too little memory for whole blocks.
**
** A line without marks is free. A run of free lines is a hole; the nursery bumps a pointer
** through one hole after another (nursery.h). Most memory in lines is not freed explicitly: a
** collection marks the lines of the objects that it reaches, and later nurseries use the lines
** without marks. (luaN_forget frees lines of old vectors earlier.) This is the mark-region heap of
** Blackburn and McKinley (Immix, PLDI 2008) with sticky marks: a minor collection keeps the marks
** of old objects and adds marks for the objects that it tenures.
**
** The mark of an object has the object's epoch, 1 to 3 (gc.h): a line has one bit for each epoch.
** (Lines of a large leaf object, a long string or userdata, have LUAN_HELD instead.) So a major
** collection adds new marks next to the old ones, while minor collections make the lines that have
** no mark free again.
**
** Invariants (checked by luaN_verify; H2 is not, H3 is checked by debug.h):
**   H1  marks[i] of a block is 0 if and only if line i is free. A free line contains no reachable
**       byte, and is not part of a hole that was taken since the last minor collection.
**   H2  An object or vector is in exactly one place: in lines (at most LUAN_LARGE bytes, or
**       LUAN_LINETEXT for a large leaf object), or in memory of its own from lua_Alloc.
**   H3  Objects and vectors that are in use do not overlap.
**   H4  A block is in 'used' if a hole of it was taken since the last minor collection. It is in
**       'empty' only if all its lines but those of its head (LUAN_HEAD) are free, in 'holed' only
**       if it has free lines. It is in at most one list.
**   H5  chunk->nempty is the number of the chunk's blocks in 'empty'. room is the number of bytes
**       of all blocks, vacant that of the blocks in 'empty'. held is the number of bytes obtained
**       from lua_Alloc or mapped.
**   H6  After a collection, the bytes in use are the sum of four members of luaN_Bytes: explicit
**       (which includes the state), old, aged and waiting. Until the next collection, allocated
**       bytes are added, and freed bytes subtracted.
**   H7  'small' has exactly the small blocks, in the order of their addresses; 'low' and 'span'
**       are the smallest range of addresses that contains them.
**   H8  A page whose bit in a block's 'released' is set is in a mapped chunk, and all its lines are
**       free. 'released' of luaN_Blocks is the sum of the bytes of these pages.
**
** This header needs only the core's basic types.
*/
#ifndef luaN_heap_h
#define luaN_heap_h

#include <stddef.h>
#include <stdint.h>

#include "llimits.h"

#include "mapped.h"
#include "vec.h"

/* bytes of a line: the unit in which the heap records whether memory is in use */
#define LUAN_LINE	64u
#define LUAN_LINES	(LUAN_BLOCK / LUAN_LINE)	/* largest number of lines of a block */

/* Bytes that certainly fit into the cache of a processor's core. */
#define LUAN_NEAR	((l_mem)256 * 1024)

/* Number of cache lines in LUAN_NEAR bytes. A list of at most this number of slots can be visited
   twice without many cache misses: the slots and their objects are still in the cache at the second
   visit. It limits the lists of remembered slots (refine.c) and of weak keys that are not marked so
   far, with the marked objects that are logged there (ahead.c, mark.c). */
#define LUAN_CACHED	((unsigned)LUAN_NEAR / LUAN_LINE)

/* Largest size in bytes of an object or vector that is stored in lines of the heap; larger ones
   have a block of lua_Alloc. The limit of long strings and userdata is LUAN_LINETEXT. */
#define LUAN_LARGE	8192u
/* Largest size in bytes of a long string or userdata that is stored in lines of the heap; larger
   ones have a block of lua_Alloc. */
#define LUAN_LINETEXT	8000u
/* A long string or userdata of more than this number of bytes is a large leaf object: it is in the
   list of large objects (lists.large), and has lines or a block of lua_Alloc to itself. With a
   lower limit, more dead objects are freed early, and the list is longer. */
#define LUAN_LARGETEXT	512u
#define LUAN_GRANULE	8u
/* A heap is big if its blocks, or its old objects, have at least this number of bytes in total: no
   cache holds it then, and huge pages are worth their cost. The same number of bytes, divided by
   the number of states of the process, is the share of each state: a heap above its share returns
   free pages early (WHILE_HEAPS in major.c). */
#define LUAN_BIGHEAP	((size_t)64 * 1024 * 1024)
/* Decides what happens to a request that fits neither into the current hole (run of free lines) of
   the nursery nor into a later hole of the same block. If the request has at most this number of
   bytes, the nursery continues in a hole of another block. A larger request is served from a second
   hole, the overflow region, and the nursery keeps its hole. (Exceptions: bump of nursery.c.) */
#define LUAN_SMALL	256u
/* Number of lists of blocks with holes (runs of free lines). The list of a block depends on log2 of
   the number of lines of its largest hole, so there are log2 of LUAN_LINES, plus 1. */
#define LUAN_CLASSES	10

/* Bit of the mark byte of a line (marks[]): the line is part of a hole, a run of free lines, that
   was taken for allocation since the last minor collection. */
#define LUAN_YOUNG	0x08
/* Bit of the mark byte of a line (marks[]): the line belongs to a large leaf object that has
   survived a collection, or to a small userdata that was left young. luaN_freetext or waiting.c
   removes the bit; the sweep of lines never does. */
#define LUAN_HELD	0x10

/* Rounds n bytes up to a multiple of LUAN_GRANULE, the unit of sizes and addresses of objects. */
#define luaN_round(n)	(((size_t)(n) + (LUAN_GRANULE - 1)) & ~(size_t)(LUAN_GRANULE - 1))

/* Direct-mapped cache of the small blocks found last. It has LUAN_RECENT entries; the entry of an
   address is address / LUAN_RECENTPIECE modulo LUAN_RECENT. */
#define LUAN_RECENT	16u
#define LUAN_RECENTPIECE	2048u

#define luaN_recentat(p)	((uintptr_t)(p) / LUAN_RECENTPIECE % LUAN_RECENT)
#define luaN_recent(h,p) \
  ((luaN_Block *)((h)->low + (size_t)(h)->recent[luaN_recentat(p)] * LUAN_GRANULE))

struct luaN_Chunk;
struct global_State;

/* Links of a block in a circular list. The head of each list is a luaN_Link, too. */
typedef struct luaN_Link {
  struct luaN_Link *next, *prev;
} luaN_Link;

typedef enum { LUAN_UNLISTED, LUAN_EMPTY, LUAN_HOLED, LUAN_USED } luaN_Where;

/*
** Head of a block, at its first byte. After marks[] there is a set of bits, one bit for each
** granule of 8 bytes, which are 'nlines' bytes because a line has eight granules (luaN_bits).
** During marking, the bit of an object's first granule records that the object is marked and still
** to be traversed (pending, mark.c); during a walk over the heap, that it was visited (visits.h).
** In the debug build a second set of 'nlines' bytes records the granules in use, so that memory
** that is allocated twice is detected (H3).
*/
typedef struct luaN_Block {
  /* Links in the list of blocks that contains the block; block.where says which list that is. Must
     be the first field. */
  luaN_Link link;
  struct luaN_Chunk *chunk;	/* the chunk that contains the block */
  unsigned short nlines;	/* number of lines of the block, a multiple of 8 */
  /* Number of lines of the block that objects can use: those that contain no part of its head
     (without LUAN_HEAD). */
  unsigned short nusable;
  lu_byte where;		/* the list of blocks that contains the block: a luaN_Where */
  /* For a block in a list of blocks with holes (runs of free lines): log2 of the number of lines of
     its largest hole. */
  lu_byte class;
  /* 1: an object in the block is marked and still to be traversed, and has its bit set in luaN_bits
     because a mark stack was full. */
  lu_byte pending;
  lu_byte released;		/* bit i is set: page i of the block was returned to the system */
  /* the mark byte of each line of the block: 0 if the line is free (H1) */
  lu_byte marks[];
} luaN_Block;

/* Bit of the mark byte of a line (marks[]): the line contains a part of the block's head, or of the
   luaN_Chunk after the head. */
#define LUAN_HEAD	0x80

/* Offset in bytes of the mark bytes of lines (marks[]) from the start of a block, a multiple of
   8. */
#define LUAN_MARKSAT	offsetof(luaN_Block, marks)

#if defined(LUAN_DEBUG)
/* Bytes that the head of a block has for each of its lines: one each in marks[], luaN_bits and
   luaN_usedbits. */
#define LUAN_LINESETS	3u
#else
#define LUAN_LINESETS	2u
#endif

/* Bytes of the head of a block of n lines. */
#define luaN_headbytes(n)  (LUAN_MARKSAT + (size_t)(n) * LUAN_LINESETS)

/* Two sets of bits of block b, one bit for each granule. luaN_bits has the bits of objects that are
   still to be traversed, or that a walk has visited. luaN_usedbits, only in the debug build, has
   the bits of granules in use. */
#define luaN_bits(b)	((uint64_t *)(void *)((b)->marks + (b)->nlines))
#define luaN_usedbits(b)  ((uint64_t *)(void *)((b)->marks + 2 * (b)->nlines))

/* Index, in block b, of the granule (luaN_granuleof) or the line (luaN_lineof) that contains
   address p. */
#define luaN_granuleof(b,p) \
  ((size_t)((const char *)(p) - (const char *)(b)) / LUAN_GRANULE)
#define luaN_lineof(b,p) \
  ((unsigned)((size_t)((const char *)(p) - (const char *)(b)) / LUAN_LINE))

#define luaN_bytesof(b)	((size_t)(b)->nlines * LUAN_LINE)

/* A chunk. If it comes from lua_Alloc, this struct is at its first byte. If it is a mapping, this
   struct is after the head of its first block. */
typedef struct luaN_Chunk {
  struct luaN_Chunk *next, *prev;
  size_t size;			/* bytes of the chunk, as requested from lua_Alloc or mapped */
  char *first;			/* address of the first block of the chunk */
  unsigned nblocks;		/* number of blocks of the chunk; 1 if 'small' is 1 */
  /* number of blocks of the chunk that are in the list of empty blocks (H5) */
  unsigned nempty;
  lu_byte small;		/* 1: the only block of the chunk is a small block */
  lu_byte mapped;		/* 1: the chunk is a mapping; 0: it comes from lua_Alloc */
  /* 1: the chunk has the size of a huge page, and no page of it was returned to the system yet. */
  lu_byte huge;
} luaN_Chunk;

/* The block with index i of chunk c. */
#define luaN_blockat(c,i) \
  ((luaN_Block *)((c)->first + (size_t)(i) * LUAN_BLOCK))

/* A region: the unused rest of a hole. */
typedef struct luaN_Region {
  char *free;			/* address of the next byte to allocate in the region */
  /* end of the hole (run of free lines) of which the region is the rest */
  char *end;
} luaN_Region;

/* The blocks of one state. */
typedef struct luaN_Blocks {
  luaN_Link empty;		/* list of the blocks of which all usable lines are free */
  /* Lists of the blocks with holes (runs of free lines); the index is log2 of the number of lines
     of the block's largest hole. */
  luaN_Link holed[LUAN_CLASSES];
  /* list of the blocks in which holes were taken since the last minor collection */
  luaN_Link used;
  luaN_Chunk *chunks;
  /* The next chunk that luaN_trim, which frees empty chunks, visits; NULL: the first one. */
  luaN_Chunk *trimmed;
  /* The first chunk whose lines the sweep (luaN_sweeplines) has not finished, or NULL. */
  luaN_Chunk *sweptchunk;
  /* In the chunk whose lines are being swept (sweptchunk): the index of the first block that is not
     swept. */
  unsigned sweptblock;
  /* 1: luaN_releasepages, which returns free pages to the system, has more chunks to visit */
  lu_byte releasing;
  lu_byte unadvised;		/* 1: madvise was refused; chunks.c does not call it again */
  /* 1: memory is short: luaN_askmore has refused growth, luaN_leavesroom has returned 0, or
     luaN_refused was called. Becomes 0 when the size of the next nursery is set, or when a major
     collection ends. */
  lu_byte refused;
  /* 1: since the last major collection, growth of the heap was refused because lua_Alloc would have
     had too little memory left for C modules (luaN_leavesroom) */
  lu_byte cramped;
  /* The small blocks of the state, in the order of their addresses (H7). A small block is the only
     block of its chunk. */
  luaN_Vec small;
  /* Lowest address of the small blocks of the state, and number of bytes from there to the end of
     the small block with the highest address. */
  uintptr_t low, span;
  /* Cache of the small blocks that were found last, indexed by luaN_recentat. An entry is the
     distance of a block from the lowest address of all small blocks, in granules of 8 bytes. */
  uint16_t recent[LUAN_RECENT];
  /* bytes of all blocks of the state; bytes of its empty blocks (H5) */
  size_t room, vacant;
  /* bytes of pages of the state's blocks that were returned to the system (H8) */
  size_t released;
  /* The next chunk that luaN_releasepages, which returns free pages to the system, visits; NULL:
     the first one. */
  luaN_Chunk *next;
  /* bytes of memory that the state has obtained from lua_Alloc or mapped (H5) */
  size_t held;
  /* Bytes that the state has freed by luaN_ask and that were not added yet to the count of freed
     bytes of the process (giveback.h). Only for a state whose lua_Alloc is luaN_alloc. */
  size_t freed;
  /* A limit, in bytes, of blocks.held, the memory obtained from lua_Alloc or mapped (0: none):
     luaN_askmore refuses growth that would raise 'held' to the limit or above. luaN_askmore sets
     the limit to the smallest 'held' that lua_Alloc has refused, luaN_refused to the present 'held'
     plus 1. The end of a major collection removes the limit; so does newsmall (chunks.c) if no
     collection can run. */
  size_t ceiling;
  /* Limits of a check: luaN_leavesroom (chunks.h) does not check growth of blocks.held up to
     'proven' bytes, nor growth while heap.allocated is at most 'unchecked' bytes, which is
     LUAN_BLOCK in a new state. The end of a major collection sets 'proven' to 0, and 'unchecked' to
     heap.allocated plus half of the live bytes. */
  size_t proven;
  uint64_t unchecked;
} luaN_Blocks;

/* Initializes the lists of blocks as empty. Allocates nothing. */
LUAI_FUNC void luaN_openblocks (luaN_Blocks *h);

/* Puts block b into the list 'where'. LUAN_HOLED represents the list 'holed' with index
   b->class. b must be in no list. */
LUAI_FUNC void luaN_enlist (luaN_Blocks *h, luaN_Block *b, luaN_Where where);

/* Removes b from its list, if it is in one. */
LUAI_FUNC void luaN_unlist (luaN_Blocks *h, luaN_Block *b);

/* luaN_addsmall adds the small block b to the list 'small', which must have capacity for one
   more block. luaN_dropsmall removes b from that list. */
LUAI_FUNC void luaN_addsmall (luaN_Blocks *h, luaN_Block *b);
LUAI_FUNC void luaN_dropsmall (luaN_Blocks *h, const luaN_Block *b);

/* Returns the small block that contains address p, or NULL. Searches the list 'small', and
   stores the block in the cache 'recent', if the block's distance from 'low' fits into an entry. */
LUAI_FUNC luaN_Block *luaN_smallblock (const luaN_Blocks *h, const void *p);

/* Returns the block that contains address p, which must be in a block. For a small block, tries
   the cache 'recent' before a search: without the cache, searches took half of the collection
   time of a small heap. */
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
