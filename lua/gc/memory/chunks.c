/* SPDX-License-Identifier: MIT */
/*
** Chunks (chunks.h).
**
** In a small heap a chunk is one small block, which wastes nothing for alignment. The first one
** has capacity for everything that a new state contains; each later one is a sixteenth of the
** heap, which bounds the unused part, but 4 KiB at least. In a larger heap a chunk is a quarter of
** the heap, with bounds: 4 to 32 blocks of 32 KiB if mapped, 8 to 31 from lua_Alloc. If memory is
** refused, less is requested, down to one small block for the request alone, so that a limit of
** memory is used completely.
**
** Chunks of states of luaL_newstate are mapped if the heap has 128 KiB or more: the system aligns
** them at no cost, and they can be returned independently of malloc (mapped.h). Code that replaces
** the allocator of such a state receives the requests for later chunks. Mappings of all states,
** except huge chunks, have the same advice, so that the system joins adjacent ones, because a
** process may have 65,530 mappings at most.
**
** A big mapped heap (LUAN_BIGHEAP) grows by huge chunks, of the size of a huge page, 2 MiB. They
** become huge pages where the system has them (transparent huge pages, "always" or "madvise"):
** a fork, which copies the page tables, is several times faster then (bench/heap), and address
** translation costs less. The system may join the pages of a chunk in the background after the next
** huge chunk was added. A huge page at the first touch has to be cleared as a whole, and found
** if memory is fragmented: a pause of 0.2 ms, and of 9 ms on a virtual machine whose host has
** reclaimed free memory. LUA_GC=huge-pages requests that nevertheless. Huge chunks are adjacent if
** possible, so that they are few mappings: a new one becomes part of the mapping of the previous
** one, which has no advice yet. If more than an eighth of a huge chunk is free, luaN_releasepages
** returns the free pages and keeps the others small: otherwise the system would join the pages
** again and fill the gaps.
*/
#define LUA_CORE
#define _DEFAULT_SOURCE

#include "lprefix.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lua.h"

#include "lstate.h"

#include "chunks.h"
#include "host.h"
#include "mapped.h"
#include "seam.h"

/* Bytes of a state's first block, which is small. Later small blocks have a page if possible. */
#define FIRST_BLOCK	((size_t)2560)
#define LEAST_ASKED	((size_t)1024)	/* least bytes of a small block, when memory is short */

/* A heap grows by one GROWTH_SMALL-th while it is small, and by one GROWTH-th later, within the
   bounds of chunks. A larger growth means fewer chunks and more unused memory. */
#define GROWTH_SMALL	16u
#define GROWTH		4u

/* Bounds of the number of blocks of a chunk: CHUNK_ if it comes from lua_Alloc, which must provide
   one block more to align them; MAPPED_ if it is mapped. A huge chunk has more, and a spare mapping
   may have less. */
#define CHUNK_MIN	8u
#define CHUNK_MAX	(MAPPED_MAX - 1)
#define MAPPED_MIN	4u
#define MAPPED_MAX	LUAN_MAPUNITS

/* Bytes of blocks from which on a heap gets chunks of whole blocks: SMALL_HEAP if chunks come from
   lua_Alloc, SMALL_MAPPED if they are mapped. */
#define SMALL_HEAP	((size_t)MAPPED_MAX * LUAN_BLOCK)
#define SMALL_MAPPED	((size_t)MAPPED_MIN * LUAN_BLOCK)

/* Bytes of a huge page, by which a big mapped heap grows. */
#define HUGE_PAGE		((size_t)2 * 1024 * 1024)

/* Limits of a call of luaN_trim without 'all': chunks visited, chunks freed. They bound its
   time. */
#define MAX_TRIM_VISITS		64u
#define MAX_TRIMMED		2u

/* Limits of a call of luaN_releasepages: system calls (checked after each chunk), chunks visited.
   They bound its time. */
#define MAX_RELEASE_CALLS		128u
#define MAX_RELEASE_VISITS	8u


/* {== chunks ============================================================ */

/* True if the state's chunks of whole blocks are mapped. False in a build with AddressSanitizer:
   LeakSanitizer searches for pointers only in memory of malloc. */
#if defined(__SANITIZE_ADDRESS__) || !defined(MAP_ANONYMOUS)
#define ismapped(g)	0
#else
#define ismapped(g)	((g)->frealloc == luaN_alloc)
#endif


/*
** Calls madvise for n bytes at p. Returns 0 if madvise has succeeded, else -1. If a filter of
** system calls (seccomp) refuses madvise, later calls do nothing for the state, so that pages are
** neither released nor made huge. LUA_GC=no-madvise has that effect, too, for filters that end the
** process.
*/
static int advise (global_State *g, char *p, size_t n, int advice) {
  luaN_Blocks *h = &g->heap.blocks;
  int before = errno;
  if (h->unadvised || g->heap.gc.pace.tuning.nomadvise) return -1;
  if (madvise(p, n, advice) == 0) return 0;
  h->unadvised = (errno == EPERM || errno == EACCES || errno == ENOSYS);
  errno = before;
  return -1;
}


#if defined(MADV_HUGEPAGE)
#define hugepages(g,p,n,yes)  advise(g, p, n, (yes) ? MADV_HUGEPAGE : MADV_NOHUGEPAGE)
#else
#define hugepages(g,p,n,yes)  (-1)
#endif


/* Initializes block i of c, which has n lines, and puts it into 'empty'. 'more' bytes after its
   head are in use. */
static void newblock (luaN_Blocks *h, luaN_Chunk *c, unsigned i, unsigned n,
                      size_t more) {
  luaN_Block *b = luaN_blockat(c, i);
  size_t before = luaN_headbytes(n) + more;
  unsigned heads = (unsigned)((before + LUAN_LINE - 1) / LUAN_LINE);
  memset(b, 0, luaN_headbytes(n));
  memset(b->marks, LUAN_HEAD, heads);
  b->chunk = c;
  b->nlines = (unsigned short)n;
  b->nusable = (unsigned short)(n - heads);
  luaN_asanclose((char *)b + before, n * LUAN_LINE - before);
  if (c->small) luaN_addsmall(h, b);
  h->room += luaN_bytesof(b);
  luaN_enlist(h, b, LUAN_EMPTY);
}


static void addchunk (luaN_Blocks *h, luaN_Chunk *c) {
  c->nempty = 0;
  c->prev = NULL;
  if ((c->next = h->chunks) != NULL) h->chunks->prev = c;
  h->chunks = c;
}


/* Rounds n bytes up to a multiple of eight lines. */
static size_t wholelines (size_t n) {
  return (n + (8 * LUAN_LINE - 1)) & ~(size_t)(8 * LUAN_LINE - 1);
}


/* Adds a small block of 'size' bytes, within its bounds, or less if memory is short, but with
   capacity for n bytes. Returns 0 if there is no memory. */
static int newsmall (global_State *g, size_t size, size_t n) {
  luaN_Blocks *h = &g->heap.blocks;
  luaN_Chunk *c;
  size_t least = wholelines(n + n / 16 + 256);  /* n / 16 + 256 bytes are enough for the head */
  /* If no collection can run, a repeated request is the only way to get memory, so an earlier
     refusal of lua_Alloc is forgotten. */
  if (!completestate(g) || g->gcstopem) h->ceiling = 0;
  if (!luaN_reserve(g, &h->small, 1)) return 0;
  if (least < LEAST_ASKED) least = LEAST_ASKED;
  size = wholelines(size < least ? least : size > LUAN_BLOCK ? LUAN_BLOCK : size);
  for (;;) {
    size_t bytes = size + sizeof(luaN_Chunk) + 2 * LUAN_GRANULE;
    if ((c = (luaN_Chunk *)luaN_askmore(g, NULL, 0, bytes)) != NULL) {
      c->size = bytes;
      break;
    }
    if (size == least) return 0;
    if ((size = wholelines(size / 2)) < least) size = least;
  }
  c->first = (char *)(((uintptr_t)(c + 1) + 15) & ~(uintptr_t)15);
  c->nblocks = 1;
  c->small = 1;
  c->mapped = c->huge = 0;
  addchunk(h, c);
  newblock(h, c, 0, (unsigned)(size / LUAN_LINE), 0);
  return 1;
}


/* Adds a chunk of n whole blocks, or of fewer if memory is short, down to CHUNK_MIN. Returns 0 if
   there is no memory. */
static int newwhole (global_State *g, unsigned n) {
  luaN_Blocks *h = &g->heap.blocks;
  luaN_Chunk *c = NULL;
  size_t size = 0;
  unsigned i;
  for (; n >= CHUNK_MIN; n /= 2) {  /* one block more than n, to align the first */
    size = ((size_t)n + 1) * LUAN_BLOCK + sizeof(luaN_Chunk);
    if ((c = (luaN_Chunk *)luaN_ask(g, NULL, 0, size)) != NULL) break;
  }
  if (c == NULL) return 0;
  c->size = size;
  c->first = (char *)(((uintptr_t)(c + 1) + (LUAN_BLOCK - 1)) &
                      ~(uintptr_t)(LUAN_BLOCK - 1));
  c->nblocks = (unsigned)(((char *)c + size - c->first) / LUAN_BLOCK);
  c->small = c->mapped = c->huge = 0;
  addchunk(h, c);
  for (i = c->nblocks; i-- > 0; )
    newblock(h, c, i, LUAN_LINES, 0);
  return 1;
}


/* Adds a mapped chunk of n blocks; unless it is huge, a spare mapping of n blocks or fewer is
   preferred. Returns 0 if there is no memory. */
static int newmapped (global_State *g, unsigned n) {
  luaN_Blocks *h = &g->heap.blocks;
  size_t size = (size_t)n * LUAN_BLOCK;
  int huge = (size == HUGE_PAGE);
  const luaN_Chunk *last = h->chunks;
  char *p = huge ? NULL : luaN_takespare(&size);
  luaN_Chunk *c;
  if (p == NULL)
    p = luaN_map(size, huge ? HUGE_PAGE : LUAN_BLOCK,
                 (huge && last != NULL && last->huge) ? last->first - size : NULL);
  if (p == NULL) return 0;
  n = (unsigned)(size / LUAN_BLOCK);
  if (huge && g->heap.gc.pace.tuning.hugepages) huge = (hugepages(g, p, size, 1) == 0);
  else if (huge && last != NULL && last->huge) hugepages(g, last->first, last->size, 1);
  else if (!huge) hugepages(g, p, size, 0);
  c = (luaN_Chunk *)(p + luaN_headbytes(LUAN_LINES));
  c->size = size;
  c->first = p;
  c->nblocks = n;
  c->small = 0;
  c->mapped = 1;
  c->huge = (lu_byte)huge;
  h->held += size;
  addchunk(h, c);
  while (n-- > 0)
    newblock(h, c, n, LUAN_LINES, (n == 0) ? sizeof(*c) : 0);
  return 1;
}


int luaN_newchunk (global_State *g, size_t n) {
  size_t room = g->heap.blocks.room, blocks = room / GROWTH / LUAN_BLOCK;
  if (room < (ismapped(g) ? SMALL_MAPPED : SMALL_HEAP)) {
    size_t more = room / GROWTH_SMALL;
    return newsmall(g, room == 0 ? FIRST_BLOCK : more > LUAN_PAGE ? more : LUAN_PAGE, n);
  }
  if (ismapped(g)) {
    if (room >= LUAN_BIGHEAP && newmapped(g, HUGE_PAGE / LUAN_BLOCK)) return 1;
    if (newmapped(g, blocks < MAPPED_MIN ? MAPPED_MIN
                     : blocks > MAPPED_MAX ? MAPPED_MAX : (unsigned)blocks))
      return 1;
  }
  else if (newwhole(g, blocks > CHUNK_MAX ? CHUNK_MAX
                        : blocks < CHUNK_MIN ? CHUNK_MIN : (unsigned)blocks))
    return 1;
  return newsmall(g, LUAN_BLOCK, n);
}


/* Frees chunk c. 'closing': the state is being closed, so a mapping may become a spare. */
static void freechunk (global_State *g, luaN_Chunk *c, int closing) {
  luaN_Blocks *h = &g->heap.blocks;
  size_t size = c->size;
  unsigned i;
  for (i = 0; i < c->nblocks; i++) {
    luaN_Block *b = luaN_blockat(c, i);
    luaN_unlist(h, b);
    luaN_usepages(h, b, 0, b->nlines);
    h->room -= luaN_bytesof(b);
    if (c->small) luaN_dropsmall(h, b);
  }
  if (c->next) c->next->prev = c->prev;
  if (c->prev) c->prev->next = c->next;
  else h->chunks = c->next;
  if (h->sweptchunk == c) {  /* the sweep of lines was at c and continues with the next chunk */
    h->sweptchunk = c->next;
    h->sweptblock = 0;
  }
  if (h->trimmed == c) h->trimmed = c->next;
  if (h->next == c) h->next = c->next;
  if (c->mapped) {
    char *p = c->first;
    int stays = closing && !c->huge;
    luaN_asanopen(p, size);
    h->held -= size;
    if (stays) luaN_unmapclosed(p, size);
    else luaN_unmap(p, size);
  }
  else {
    luaN_asanopen(c, size);
    luaN_ask(g, c, size, 0);
  }
}


void luaN_trim (global_State *g, size_t reserve, int all) {
  luaN_Blocks *h = &g->heap.blocks;
  unsigned visited = 0, freed = 0;
  luaN_Chunk *c = h->trimmed;
  if (all || c == NULL) c = h->chunks;
  while (c != NULL && h->vacant > reserve &&
         (all || (visited++ < MAX_TRIM_VISITS && freed < MAX_TRIMMED))) {
    luaN_Chunk *next = c->next;
    if (c->nempty == c->nblocks && (all || h->vacant >= reserve + c->size)) {
      freechunk(g, c, 0);
      freed++;
    }
    c = next;
  }
  h->trimmed = c;
}


void luaN_freechunks (global_State *g) {
  while (g->heap.blocks.chunks != NULL)
    freechunk(g, g->heap.blocks.chunks, 1);
}

/* }===================================================================== */


/* {== pages ============================================================= */

void luaN_usepages (luaN_Blocks *h, luaN_Block *b, unsigned i, unsigned j) {
  unsigned page;
  for (page = luaN_pageof(i); b->released != 0 && page <= luaN_pageof(j - 1);
       page++) {
    unsigned bit = 1u << page;
    if (b->released & bit) {
      b->released &= (lu_byte)~bit;
      h->released -= LUAN_PAGE;
    }
  }
}


/* Returns 1 if all lines of page number 'page' of b are free. */
static int isfreepage (const luaN_Block *b, unsigned page) {
  const unsigned n = LUAN_PAGE / LUAN_LINE;
  unsigned i;
  uint64_t all = 0, w;
  for (i = 0; i < n; i += sizeof(w)) {
    memcpy(&w, b->marks + page * n + i, sizeof(w));
    all |= w;
  }
  return all == 0;
}


/* Releases the free pages of b to the system. Returns the number of system calls, including those
   that 'advise' has left out. */
static unsigned releasepages (global_State *g, luaN_Block *b) {
  luaN_Blocks *h = &g->heap.blocks;
  const unsigned npages = LUAN_BLOCK / LUAN_PAGE;
  unsigned page, end, calls = 0;
  for (page = 1; page < npages; page = end + 1) {  /* the first page has the head */
    unsigned run = 0;
    for (end = page; end < npages && !(b->released & (1u << end)) &&
                     isfreepage(b, end); end++)
      run |= 1u << end;
    if (run == 0) continue;
    if (b->chunk->huge) {
      hugepages(g, b->chunk->first, b->chunk->size, 0);
      b->chunk->huge = 0;
      calls++;
    }
    calls++;
    if (advise(g, (char *)b + (size_t)page * LUAN_PAGE,
               (size_t)(end - page) * LUAN_PAGE, MADV_DONTNEED) != 0)
      continue;
    b->released |= (lu_byte)run;
    h->released += (size_t)(end - page) * LUAN_PAGE;
  }
  return calls;
}


/* Returns 1 if the free pages of c should be released: if c is not huge, or has more than one free
   page for each block. A lower limit would return memory earlier and break up more huge pages. */
static int isworth (const luaN_Chunk *c) {
  const unsigned npages = LUAN_BLOCK / LUAN_PAGE;
  unsigned i, page, n = 0;
  if (!c->huge) return 1;
  for (i = 0; i < c->nblocks; i++)
    for (page = 1; page < npages; page++)
      n += (unsigned)isfreepage(luaN_blockat(c, i), page);
  return n > c->nblocks;
}


void luaN_releasepages (global_State *g, size_t most) {
  luaN_Blocks *h = &g->heap.blocks;
  unsigned visited = 0, calls = 0, i;
  if (sysconf(_SC_PAGESIZE) > (long)LUAN_PAGE || h->unadvised || g->heap.gc.pace.tuning.nomadvise)
    h->releasing = 0;
  if (!h->releasing) return;
  if (h->next == NULL) h->next = h->chunks;
  while (h->next != NULL && visited++ < MAX_RELEASE_VISITS && calls < MAX_RELEASE_CALLS) {
    luaN_Chunk *c = h->next;
    if (h->room - h->released <= most) break;
    for (i = 0; c->mapped && i < c->nblocks && (i > 0 || isworth(c)); i++)
      calls += releasepages(g, luaN_blockat(c, i));
    h->next = c->next;
  }
  if (h->next == NULL || h->room - h->released <= most) h->releasing = 0;
}

/* }===================================================================== */
