/* SPDX-License-Identifier: MIT */
/*
** Chunks: pieces of memory that contain the blocks of a heap (chunks.h).
**
** Size. In a small heap a chunk is one small block, of a sixteenth of the heap's size, but at least
** 4 KiB (the first one has FIRST_BLOCK bytes). In a larger heap a chunk has a quarter of the heap's
** size: 4 to 32 blocks of 32 KiB if chunks are mapped, 8 to 31 if they come from lua_Alloc. If
** memory is refused, a smaller chunk is requested, and finally one small block that just fits the
** present allocation, so that a program can use all memory that a limit permits.
**
** Origin. In a state of luaL_newstate, chunks are mapped when the heap has reached 128 KiB: the
** system aligns mappings at no cost, and takes them back independently of malloc (mapped.h). Other
** chunks come from lua_Alloc. A process may have at most 65,530 mappings. So all mappings except
** huge chunks have the same advice (madvise): the system can then join them.
**
** Huge chunks. A big mapped heap (LUAN_BIGHEAP) grows by chunks of 2 MiB, which become huge pages
** if the system has transparent huge pages. Huge pages make fork() several times faster
** (bench/heap). The first touch of a huge page is a pause of 0.2 ms or more, because the system
** clears it. So a huge chunk gets MADV_HUGEPAGE only when the next one is added, and the system
** joins its pages in the background. (With LUA_GC=huge-pages it gets the advice at once.) If more
** than an eighth of a huge chunk is free later, luaN_releasepages returns its free pages, with
** MADV_NOHUGEPAGE, so that the system does not fill the gaps again.
*/

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lgc.h"

#include "chunks.h"
#include "host.h"
#include "mapped.h"
#include "seam.h"

/* bytes of the first block of a state */
#define FIRST_BLOCK	((size_t)2560)
/* smallest size in bytes of a small block that is requested when memory is short */
#define LEAST_ASKED	((size_t)1024)

/* A new chunk has 1 / GROWTH_SMALL of the bytes of all blocks in a small heap, 1 / GROWTH in a
   larger one. Larger chunks mean fewer chunks and more unused memory. */
#define GROWTH_SMALL	16u
#define GROWTH		4u

/* Numbers of blocks of a chunk.
   CHUNK_MIN to CHUNK_MAX    if the chunk comes from lua_Alloc. The memory of one more block is
                             requested, so that the blocks can be aligned.
   MAPPED_MIN to MAPPED_MAX  if the chunk is mapped. A huge chunk has more blocks; a mapping left by
                             a closed state may have fewer. */
#define CHUNK_MIN	8u
#define CHUNK_MAX	(MAPPED_MAX - 1)
#define MAPPED_MIN	4u
#define MAPPED_MAX	LUAN_MAPUNITS

/* A heap whose blocks have fewer bytes than this gets small blocks; a larger heap gets blocks of
   LUAN_BLOCK bytes. SMALL_HEAP is the limit if chunks come from lua_Alloc, SMALL_MAPPED if chunks
   are mapped. */
#define SMALL_HEAP	((size_t)MAPPED_MAX * LUAN_BLOCK)
#define SMALL_MAPPED	((size_t)MAPPED_MIN * LUAN_BLOCK)

/* bytes of a huge page of the system, and of a huge chunk (a chunk that may become one) */
#define HUGE_PAGE		((size_t)2 * 1024 * 1024)

/* Limits of one call of luaN_trim with the argument 'all' 0. They keep a pause short.
   MAX_TRIM_VISITS  number of chunks visited
   MAX_TRIMMED      number of chunks freed */
#define MAX_TRIM_VISITS		64u
#define MAX_TRIMMED		2u

/* Limits of one call of luaN_releasepages. They keep a pause short.
   MAX_RELEASE_CALLS   number of system calls; those for the last chunk may exceed it
   MAX_RELEASE_VISITS  number of chunks visited */
#define MAX_RELEASE_CALLS		128u
#define MAX_RELEASE_VISITS	8u


/* {== chunks ============================================================ */

/* True if state g maps its chunks. Always false with AddressSanitizer, because LeakSanitizer
   searches for pointers only in memory of malloc. */
#if defined(__SANITIZE_ADDRESS__)
#define ismapped(g)	0
#else
#define ismapped(g)	((g)->frealloc == luaN_alloc)
#endif


/* Calls madvise with this advice for the n bytes at p. Returns 0 if that succeeds, else -1. Never
   calls it with LUA_GC=no-madvise, or after the system has forbidden it (a seccomp filter does
   so). */
static int advise (global_State *g, char *p, size_t n, int advice) {
  luaN_Blocks *h = &g->heap.blocks;
  int before = errno;
  if (h->unadvised || g->heap.gc.pace.tuning.nomadvise) return -1;
  if (madvise(p, n, advice) == 0) return 0;
  h->unadvised = (errno == EPERM || errno == EACCES || errno == ENOSYS);
  errno = before;
  return -1;
}


#define hugepages(g,p,n,yes)  advise(g, p, n, (yes) ? MADV_HUGEPAGE : MADV_NOHUGEPAGE)


/* Returns 1 if lua_Alloc can provide n bytes in pieces of 'size' bytes: requests the pieces and
   frees them again. */
static int hasmore (global_State *g, size_t n, size_t size) {
  void *list = NULL, *p;
  size_t sum = 0;
  for (; sum < n && (p = luaN_callalloc(g, NULL, 0, size)) != NULL; sum += size) {
    *(void **)p = list;
    list = p;
  }
  while ((p = list) != NULL) {
    list = *(void **)p;
    luaN_callalloc(g, p, size, 0);
  }
  return sum >= n;
}


int luaN_leavesroom (global_State *g, size_t n) {
  luaN_Blocks *h = &g->heap.blocks;
  size_t all = h->held + n, room = all / 2;
  if (g->frealloc == luaN_alloc || g->heap.allocated <= h->unchecked || !gcrunning(g) ||
      !completestate(g) || g->gcstopem || g->gcemergency)
    return 1;
  if (h->cramped) return 0;
  if (room > SMALL_HEAP) room = SMALL_HEAP;
  if (all + room / 2 <= h->proven) return 1;
  if (hasmore(g, n + room, (room < SMALL_HEAP) ? LUAN_PAGE : LUAN_BLOCK)) {
    h->proven = all + room;
    return 1;
  }
  h->refused = h->cramped = 1;
  return 0;
}


/* Initializes block i of chunk c with n lines, and adds it to the list 'empty'. more: bytes of the
   luaN_Chunk that follows the head of the block, or 0. */
static void newblock (luaN_Blocks *h, luaN_Chunk *c, unsigned i, unsigned n, size_t more) {
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


/* Initializes chunk c of 'size' bytes, which has n blocks from address 'first' on, and adds it to
   the heap. */
static void addchunk (luaN_Blocks *h, luaN_Chunk *c, size_t size, char *first, unsigned n) {
  memset(c, 0, sizeof(*c));
  c->size = size;
  c->first = first;
  c->nblocks = n;
  if ((c->next = h->chunks) != NULL) h->chunks->prev = c;
  h->chunks = c;
}


/* Rounds n bytes up to a multiple of eight lines. */
static size_t wholelines (size_t n) {
  return (n + (8 * LUAN_LINE - 1)) & ~(size_t)(8 * LUAN_LINE - 1);
}


/* Adds a chunk with one small block of 'size' bytes, at most LUAN_BLOCK. If memory is short, the
   block is smaller, but can still contain an allocation of n bytes. Returns 0 if there is no
   memory. */
static int newsmall (global_State *g, size_t size, size_t n) {
  luaN_Blocks *h = &g->heap.blocks;
  luaN_Chunk *c;
  size_t bytes;
  size_t least = wholelines(n + n / 16 + 256);  /* n / 16 + 256 bytes suffice for the head */
  /* 'ceiling' is the limit that was set when lua_Alloc refused memory; the end of a major
     collection removes it. If no collection can run now, ignores the limit. */
  if (!luaN_maycollect(g)) h->ceiling = 0;
  if (!luaN_reserve(g, &h->small, 1)) return 0;
  if (least < LEAST_ASKED) least = LEAST_ASKED;
  size = wholelines(size < least ? least : size > LUAN_BLOCK ? LUAN_BLOCK : size);
  for (;;) {
    bytes = size + sizeof(luaN_Chunk) + 2 * LUAN_GRANULE;
    if ((c = (luaN_Chunk *)luaN_askmore(g, NULL, 0, bytes)) != NULL) break;
    if (size == least) return 0;
    if ((size = wholelines(size / 2)) < least) size = least;
  }
  addchunk(h, c, bytes, (char *)(((uintptr_t)(c + 1) + 15) & ~(uintptr_t)15), 1);
  c->small = 1;
  newblock(h, c, 0, (unsigned)(size / LUAN_LINE), 0);
  return 1;
}


/* Adds a chunk from lua_Alloc with n blocks, or fewer (at least CHUNK_MIN) if memory is short.
   Returns 0 if there is no memory. */
static int newwhole (global_State *g, unsigned n) {
  luaN_Blocks *h = &g->heap.blocks;
  luaN_Chunk *c = NULL;
  size_t size = 0;
  char *first;
  /* requests memory for one block more than n, so that the first block can be aligned */
  for (; n >= CHUNK_MIN; n /= 2) {
    size = ((size_t)n + 1) * LUAN_BLOCK + sizeof(luaN_Chunk);
    if ((c = (luaN_Chunk *)luaN_ask(g, NULL, 0, size)) != NULL) break;
  }
  if (c == NULL) return 0;
  first = (char *)(((uintptr_t)(c + 1) + (LUAN_BLOCK - 1)) & ~(uintptr_t)(LUAN_BLOCK - 1));
  n = (unsigned)(((char *)c + size - first) / LUAN_BLOCK);
  addchunk(h, c, size, first, n);
  while (n-- > 0) newblock(h, c, n, LUAN_LINES, 0);
  return 1;
}


/* Adds a mapped chunk of n blocks. Unless the chunk is huge, prefers a mapping that a closed state
   has left (mapped.h), which may have fewer blocks. Returns 0 if there is no memory. */
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
  addchunk(h, c, size, p, n);
  c->mapped = 1;
  c->huge = (lu_byte)huge;
  h->held += size;
  while (n-- > 0)
    newblock(h, c, n, LUAN_LINES, (n == 0) ? sizeof(*c) : 0);
  return 1;
}


int luaN_newchunk (global_State *g, size_t n) {
  size_t room = g->heap.blocks.room, blocks = room / GROWTH / LUAN_BLOCK;
  if (!luaN_leavesroom(g, n)) return 0;
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


/* Frees chunk c. closing: 1 if the state is being closed, so that a mapping may be kept for other
   states (mapped.h). */
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
  if (h->sweptchunk == c) {  /* the sweep of lines is at c: it continues with the next chunk */
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


/* Gives the free pages of block b back to the system. Returns the number of calls of 'advise', an
   upper bound of the number of system calls. */
static unsigned releasepages (global_State *g, luaN_Block *b) {
  luaN_Blocks *h = &g->heap.blocks;
  const unsigned npages = LUAN_BLOCK / LUAN_PAGE;
  unsigned page, end, calls = 0;
  for (page = 1; page < npages; page = end + 1) {  /* page 0 contains the head */
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


/* Returns 1 if the free pages of c should be returned to the system: always if c is not huge; if c
   is huge, only if more than an eighth of its pages are free. A lower limit would break up more
   huge pages. */
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
