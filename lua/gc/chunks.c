/* SPDX-License-Identifier: MIT */
/*
** Chunks (chunks.h).
**
** While a heap is small, a chunk is one small block: nothing is lost to alignment,
** the first one of a state has room for what every state is born with, and the next ones are a
** sixteenth of the heap, which bounds what it has and does not use. Then chunks have
** several blocks of 32 KiB, a quarter of the heap together. When lua_Alloc refuses, less
** is asked for, down to one small block for the request alone: a limit is used to its end.
**
** The states of luaL_newstate have their chunks mapped, once they are not tiny: the
** system aligns those at no cost, and they go back to it whatever malloc does (mapped.h).
** Whoever swaps the allocator of such a state gets those that come later. They lie side by
** side, those of other states among them, and all have the same advice, so that the system
** has one mapping of them: a process may have 65,530.
**
** A large heap may have huge pages, where the system has them (transparent huge pages,
** "always" or "madvise"): a fork, which copies the page tables, takes a small part of the
** time then (bench/heap), and the processor finds addresses sooner. The system may join the
** pages of a chunk, behind the program's back and at its leisure, once the next chunk has come:
** it would clear a whole huge page at the first touch otherwise, and look for one where memory
** is in pieces. That is a pause of 0.2 ms, but of 9 on a virtual machine whose host has taken
** free memory back. LUA_GC=huge-pages wants it nevertheless. Such chunks lie side by side, so
** that all of them are few mappings: a new one becomes part of the mapping of the one before,
** which has no advice yet. Where an eighth of one is free, that goes back, and its pages are
** small for good: the system would join them again otherwise, and fill the gaps.
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

/* Bytes of a small block, and of a state's first one. */
#define LEAST_BLOCK	((size_t)4096)
#define FIRST_BLOCK	((size_t)2560)
#define LEAST_ASKED	((size_t)1024)	/* when memory is short */

/* Part of the heap by which it grows. */
#define GROWTH_SMALL	16u
#define GROWTH		4u

/* A heap of so many bytes gets whole blocks: of lua_Alloc, which has to give 32 KiB
   more to align them, and mapped. */
#define SMALL_HEAP	((size_t)1024 * 1024)
#define SMALL_MAPPED	((size_t)128 * 1024)

/* Blocks of a chunk: from lua_Alloc (at most 1 MiB less one), mapped. */
#define CHUNK_MIN	8u
#define CHUNK_MAX	31u
#define MAPPED_MIN	4u
#define MAPPED_MAX	LUAN_MAPUNITS

/* A huge page, and the heap that has them: by one of these it grows. */
#define HUGE_PAGE		((size_t)2 * 1024 * 1024)
#define HUGE_HEAP	((size_t)64 * 1024 * 1024)
#define HUGE_FREE_PART	8u	/* part of it that is free before it is broken up */

/* Chunks that luaN_trim looks at, and gives back, at most. */
#define MAX_TRIM_LOOKS		64u
#define MAX_TRIMMED		2u

/* Calls of the system, and chunks looked at, of luaN_releasepages. */
#define MAX_RELEASE_CALLS		128u
#define MAX_RELEASE_LOOKS	8u


/* {== chunks ============================================================ */

/* Leaks are looked for in what malloc gave, and what that refers to. */
#if defined(__SANITIZE_ADDRESS__) || !defined(MAP_ANONYMOUS)
#define ismapped(g)	0
#else
#define ismapped(g)	((g)->frealloc == luaN_alloc)
#endif


/*
** Advises the system about n bytes at p. Returns 0 if that had an effect. Where a filter of
** system calls refuses it (seccomp), pages are neither given back nor huge, and it is not
** called again; LUA_GC=no-madvise does the same, for filters that end the process instead.
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


/* Puts block i of c, which has n lines, 'more' bytes behind its head in use, into
   'empty'. */
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


/* So many bytes in multiples of eight lines. */
static size_t wholelines (size_t n) {
  return (n + (8 * LUAN_LINE - 1)) & ~(size_t)(8 * LUAN_LINE - 1);
}


/* One small block with room for n bytes, of 'size' bytes if there is memory. */
static int newsmall (global_State *g, size_t size, size_t n) {
  luaN_Blocks *h = &g->heap.blocks;
  luaN_Chunk *c;
  size_t least = wholelines(n + n / 16 + 256);  /* a head is less than that */
  if (!completestate(g) || g->gcstopem) h->ceiling = 0;  /* nobody can collect first */
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


/* At most n whole blocks, fewer when memory is short; 0: not even CHUNK_MIN. */
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
  lua_assert(LUAN_BLOCK == LUAN_MAPUNIT);
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
    return newsmall(g, room == 0 ? FIRST_BLOCK : more > LEAST_BLOCK ? more : LEAST_BLOCK, n);
  }
  if (ismapped(g)) {
    if (room >= HUGE_HEAP && newmapped(g, HUGE_PAGE / LUAN_BLOCK)) return 1;
    if (newmapped(g, blocks < MAPPED_MIN ? MAPPED_MIN
                     : blocks > MAPPED_MAX ? MAPPED_MAX : (unsigned)blocks))
      return 1;
  }
  else if (newwhole(g, blocks > CHUNK_MAX ? CHUNK_MAX
                        : blocks < CHUNK_MIN ? CHUNK_MIN : (unsigned)blocks))
    return 1;
  return newsmall(g, LUAN_BLOCK, n);
}


/* 'closing': the state is. */
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
  if (h->sweptchunk == c) {  /* a sweep had come this far */
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
  unsigned looked = 0, freed = 0;
  luaN_Chunk *c = h->trimmed;
  if (all || c == NULL) c = h->chunks;
  while (c != NULL && h->vacant > reserve &&
         (all || (looked++ < MAX_TRIM_LOOKS && freed < MAX_TRIMMED))) {
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


/* Releases the free pages of b, a run of them at a time. Returns the calls. */
static unsigned releasepages (global_State *g, luaN_Block *b) {
  luaN_Blocks *h = &g->heap.blocks;
  const unsigned npages = LUAN_BLOCK / LUAN_PAGE;
  unsigned page, end, calls = 0;
  for (page = 1; page < npages; page = end + 1) {  /* the head is in the first */
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


/* Is so much of a chunk free that its huge page should be broken up? */
static int isworth (const luaN_Chunk *c) {
  const unsigned npages = LUAN_BLOCK / LUAN_PAGE;
  unsigned i, page, n = 0;
  if (!c->huge) return 1;
  for (i = 0; i < c->nblocks; i++)
    for (page = 1; page < npages; page++)
      n += (unsigned)isfreepage(luaN_blockat(c, i), page);
  return n > c->nblocks * npages / HUGE_FREE_PART;
}


void luaN_releasepages (global_State *g, size_t most) {
  luaN_Blocks *h = &g->heap.blocks;
  unsigned looked = 0, calls = 0, i;
  if (sysconf(_SC_PAGESIZE) > (long)LUAN_PAGE || h->unadvised || g->heap.gc.pace.tuning.nomadvise)
    h->releasing = 0;
  if (!h->releasing) return;
  if (h->next == NULL) h->next = h->chunks;
  while (h->next != NULL && looked++ < MAX_RELEASE_LOOKS && calls < MAX_RELEASE_CALLS) {
    luaN_Chunk *c = h->next;
    if (h->room - h->released <= most) break;
    for (i = 0; c->mapped && i < c->nblocks && (i > 0 || isworth(c)); i++)
      calls += releasepages(g, luaN_blockat(c, i));
    h->next = c->next;
  }
  if (h->next == NULL || h->room - h->released <= most) h->releasing = 0;
}

/* }===================================================================== */
