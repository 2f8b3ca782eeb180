/* SPDX-License-Identifier: MIT */
/*
** Chunks, blocks, lines and holes (heap.h). Decides where memory lies; does
** not know what lies in it, what is dead, or that anything is sampled. Never
** collects and never raises: who has to ask again is nursery.c.
*/
#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "lua.h"

#include "lobject.h"
#include "lstate.h"

#include "heap.h"

/* Largest number of blocks in a chunk: 1 MiB less one block. */
#define CHUNK_MAX	31u

/* Lines that a left block must gain before it is worth a visit again. */
#define GAIN		4u

#define ALL_LINES	(LUAN_LINES - LUAN_HEADLINES)	/* of a block */

/* Wholly free blocks that are kept for the next need, at least. */
#define RESERVE		32u


/* {== lists of blocks ================================================== */

static void unlist (luaN_Heap *h, luaN_Block *b) {
  if (b->where == LUAN_UNLISTED) return;
  if (b->where == LUAN_EMPTY) {
    h->nempty--;
    b->chunk->nempty--;
  }
  b->link.prev->next = b->link.next;
  b->link.next->prev = b->link.prev;
  b->where = LUAN_UNLISTED;
}


static void enlist (luaN_Heap *h, luaN_Block *b, luaN_Where where) {
  luaN_Link *head = (where == LUAN_EMPTY) ? &h->empty : &h->holed;
  lua_assert(b->where == LUAN_UNLISTED && b->inhand == 0);
  b->link.next = head;
  b->link.prev = head->prev;
  head->prev->next = &b->link;
  head->prev = &b->link;
  b->where = (lu_byte)where;
  if (where == LUAN_EMPTY) {
    h->nempty++;
    b->chunk->nempty++;
  }
}


static luaN_Block *firstof (luaN_Link *head) {
  return (head->next == head) ? NULL : (luaN_Block *)head->next;
}

/* }===================================================================== */


/* {== chunks =========================================================== */

static void *ask (global_State *g, size_t size) {
  void *p = (*g->frealloc)(g->ud, NULL, 0, size);
  if (p != NULL) g->heap.held += size;
  return p;
}


/* A new chunk of at most n blocks, fewer when memory is short; 0: none. */
static int newchunk (global_State *g, unsigned n) {
  luaN_Heap *h = &g->heap;
  luaN_Chunk *c = NULL;
  size_t size = 0;
  unsigned i;
  for (; n > 0; n /= 2) {  /* one block more than n, to align the first */
    size = ((size_t)n + 1) * LUAN_BLOCK + sizeof(luaN_Chunk);
    if ((c = (luaN_Chunk *)ask(g, size)) != NULL) break;
  }
  if (c == NULL) return 0;
  c->size = size;
  c->first = (char *)(((uintptr_t)(c + 1) + (LUAN_BLOCK - 1)) &
                      ~(uintptr_t)(LUAN_BLOCK - 1));
  c->nblocks = (unsigned)(((char *)c + size - c->first) / LUAN_BLOCK);
  c->nempty = 0;
  c->prev = NULL;
  if ((c->next = h->chunks) != NULL) h->chunks->prev = c;
  h->chunks = c;
  h->nblocks += c->nblocks;
  for (i = 0; i < c->nblocks; i++) {
    luaN_Block *b = (luaN_Block *)(c->first + (size_t)i * LUAN_BLOCK);
    memset(b, 0, sizeof(luaN_Block));
    memset(b->live, 1, LUAN_HEADLINES);  /* the head's lines are never free */
    b->chunk = c;
    b->freelines = ALL_LINES;
    luaN_asanclose((char *)b + sizeof(luaN_Block),
                   LUAN_BLOCK - sizeof(luaN_Block));
    enlist(h, b, LUAN_EMPTY);
  }
  return 1;
}


/* Gives a wholly empty chunk back to lua_Alloc. */
static void freechunk (global_State *g, luaN_Chunk *c) {
  luaN_Heap *h = &g->heap;
  size_t size = c->size;
  unsigned i;
  for (i = 0; i < c->nblocks; i++)
    unlist(h, (luaN_Block *)(c->first + (size_t)i * LUAN_BLOCK));
  if (c->next) c->next->prev = c->prev;
  if (c->prev) c->prev->next = c->next;
  else h->chunks = c->next;
  h->nblocks -= c->nblocks;
  h->held -= size;
  luaN_asanopen(c, size);
  (*g->frealloc)(g->ud, c, size, 0);
}


void luaN_openheap (luaN_Heap *h) {
  memset(h, 0, sizeof(*h));
  h->free = h->limit = h->end = h->mark = (char *)h;  /* an empty hole */
  h->medium.free = h->medium.end = (char *)h;
  h->point = (uint64_t)(uintptr_t)h->free + LUAN_INFINITY;
  h->empty.next = h->empty.prev = &h->empty;
  h->holed.next = h->holed.prev = &h->holed;
}


void luaN_closeheap (global_State *g) {
  luaN_Heap *h = &g->heap;
  luaN_Region r;
  r.free = h->free; r.end = h->end;
  luaN_giverest(g, &r);
  luaN_giverest(g, &h->medium);
  while (h->chunks != NULL) {
    lua_assert(h->chunks->nempty == h->chunks->nblocks);
    freechunk(g, h->chunks);
  }
}

/* }===================================================================== */


/* {== lines given back ================================================= */

/* A block that nobody bumps in any more finds its list. */
static void settleblock (global_State *g, luaN_Block *b) {
  luaN_Heap *h = &g->heap;
  if (b->inhand > 0) return;
  if (b->freelines == ALL_LINES) {  /* wholly free? */
    luaN_Chunk *c = b->chunk;
    unlist(h, b);
    b->skipped = 0;
    enlist(h, b, LUAN_EMPTY);
    if (c->nempty == c->nblocks &&
        h->nempty >= RESERVE + c->nblocks + h->nblocks / 8)
      freechunk(g, c);
  }
  else if (b->where == LUAN_UNLISTED && b->freelines >= b->skipped + GAIN)
    enlist(h, b, LUAN_HOLED);
}


void luaN_linefreed (global_State *g, luaN_Block *b) {
  b->freelines++;
  lua_assert(b->freelines <= ALL_LINES);
  if (b->freelines >= b->skipped + GAIN || b->freelines == ALL_LINES)
    settleblock(g, b);
}


void luaN_giveback_ (global_State *g, char *p, size_t n) {
  luaN_Block *b = luaN_blockof(p);
  unsigned line = luaN_lineof(p);
  size_t part = LUAN_LINE - ((uintptr_t)p & (LUAN_LINE - 1));
  unsigned freed = 0;
  for (;; part = LUAN_LINE) {
    if (part > n) part = n;
    lua_assert(b->live[line] >= part);
    if ((b->live[line] -= (lu_byte)part) == 0) freed++;
    n -= part;
    if (n == 0) break;
    line++;
  }
  if (freed > 0) {
    b->freelines = (unsigned short)(b->freelines + freed);
    settleblock(g, b);
  }
}


void luaN_giverest (global_State *g, luaN_Region *r) {
  luaN_Block *b;
  size_t n = (size_t)(r->end - r->free);
  if (r->end == (char *)&g->heap) return;  /* never had a hole */
  b = luaN_blockof(r->end - 1);
  if (n > 0) {
    char *p = r->free;
    r->free = r->end;
    luaN_giveback_(g, p, n);  /* not listed yet: still in hand */
  }
  lua_assert(b->inhand > 0);
  b->inhand--;
  b->skipped = b->freelines;
  r->free = r->end = (char *)&g->heap;
  if (b->freelines == ALL_LINES)
    settleblock(g, b);
}

/* }===================================================================== */


/* {== holes ============================================================ */

/* First line at or after i that is free (taken = 0) or in use (taken = 1). */
static unsigned nextline (const luaN_Block *b, unsigned i, int taken) {
  while (i < LUAN_LINES && (b->live[i] != 0) != taken) {
    if (i % 8 == 0) {  /* pass eight lines at a time */
      uint64_t w, zeros;
      memcpy(&w, &b->live[i], sizeof(w));
      /* high bits of the zero bytes, exact for the lowest (Mycroft's test) */
      zeros = (w - UINT64_C(0x0101010101010101)) & ~w &
              UINT64_C(0x8080808080808080);
      if (taken ? w == 0 : zeros == 0) {
        i += 8;
        continue;
      }
    }
    i++;
  }
  return i;
}


/* Takes the first hole of b at or after line 'from' with room for n bytes. */
static int takehole (luaN_Region *r, luaN_Block *b, unsigned from, size_t n) {
  unsigned i = from;
  while ((i = nextline(b, i, 0)) < LUAN_LINES) {
    unsigned j = nextline(b, i, 1);
    if ((size_t)(j - i) * LUAN_LINE >= n) {
      memset(b->live + i, LUAN_LINE, j - i);
      b->freelines = (unsigned short)(b->freelines - (j - i));
      b->inhand++;
      r->free = (char *)b + (size_t)i * LUAN_LINE;
      r->end = (char *)b + (size_t)j * LUAN_LINE;
      return 1;
    }
    i = j;
  }
  return 0;
}


int luaN_holehere (global_State *g, luaN_Region *r, size_t n) {
  luaN_Region next;
  luaN_Block *b;
  if (r->end == (char *)&g->heap) return 0;
  b = luaN_blockof(r->end - 1);
  if (!takehole(&next, b, (unsigned)((r->end - (char *)b) / LUAN_LINE), n))
    return 0;
  luaN_giverest(g, r);
  *r = next;
  return 1;
}


/* Every block with a free line and a hole of n bytes, listed or not. */
static int holeanywhere (global_State *g, luaN_Region *r, size_t n) {
  luaN_Heap *h = &g->heap;
  luaN_Chunk *c;
  for (c = h->chunks; c != NULL; c = c->next) {
    unsigned i;
    for (i = 0; i < c->nblocks; i++) {
      luaN_Block *b = (luaN_Block *)(c->first + (size_t)i * LUAN_BLOCK);
      if (b->freelines > 0 && b->inhand == 0 && takehole(r, b, 0, n)) {
        unlist(h, b);
        return 1;
      }
    }
  }
  return 0;
}


int luaN_nexthole (global_State *g, luaN_Region *r, size_t n, int medium,
                   int desperate) {
  luaN_Heap *h = &g->heap;
  luaN_Block *b;
  luaN_giverest(g, r);
  if (desperate && holeanywhere(g, r, n)) return 1;
  if (!medium) {
    while ((b = firstof(&h->holed)) != NULL) {
      unlist(h, b);
      if (takehole(r, b, 0, n)) return 1;
      b->skipped = b->freelines;  /* all its holes are too short */
    }
  }
  if (h->empty.next == &h->empty) {
    size_t more = h->nblocks / 4 + 1;
    if (!newchunk(g, more > CHUNK_MAX ? CHUNK_MAX : (unsigned)more)) return 0;
  }
  b = firstof(&h->empty);
  unlist(h, b);
  return takehole(r, b, 0, n);
}

/* }===================================================================== */
