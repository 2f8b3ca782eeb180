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

#define ALL_LINES	(LUAN_LINES - LUAN_HEADLINES)	/* of a block */

/* Free lines that make a block worth a visit. */
#define WORTH		16u

/* A heap of so few blocks uses the holes of blocks in use before it grows. */
#define FEW		2u

/* Class from which on holes are large enough to be worth going to at once. */
#define ROOMY		2u

/* Of marks[]: line of a block's head. */
#define HEAD		0x80


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


/* Puts b first in a list: what was used last is used again first. */
static void enlist (luaN_Heap *h, luaN_Block *b, luaN_Where where) {
  luaN_Link *head = (where == LUAN_EMPTY) ? &h->empty
                  : (where == LUAN_HOLED) ? &h->holed[b->class] : &h->used;
  lua_assert(b->where == LUAN_UNLISTED);
  b->link.prev = head;
  b->link.next = head->next;
  head->next->prev = &b->link;
  head->next = &b->link;
  b->where = (lu_byte)where;
  if (where == LUAN_EMPTY) {
    h->nempty++;
    b->chunk->nempty++;
  }
}


static luaN_Block *firstof (luaN_Link *head) {
  return (head->next == head) ? NULL : (luaN_Block *)head->next;
}


static unsigned log2of (unsigned n) {
  return 31u - (unsigned)__builtin_clz(n);
}


/* The lowest, the highest bit of each of eight bytes. */
#define LOW	UINT64_C(0x0101010101010101)
#define HIGH	UINT64_C(0x8080808080808080)

/* The marks of eight lines. (What follows marks[] may be read too.) */
static uint64_t eight (const luaN_Block *b, unsigned i) {
  uint64_t w;
  memcpy(&w, (const lu_byte *)b + offsetof(luaN_Block, marks) + i, sizeof(w));
  return w;
}


/* A block that is not in use by the nursery finds its list. */
static void settleblock (luaN_Heap *h, luaN_Block *b) {
  unsigned i, k, n = 0, hole = 0, largest = 0;
  luaN_Where where;
  for (i = 0; i < LUAN_LINES; i += 8) {
    uint64_t w = eight(b, i);
    if (w == 0) {
      n += 8;
      hole += 8;
    }
    else {
      for (k = 0; k < 8; k++, w >>= 8) {
        if ((w & 0xFF) == 0) {
          n++;
          hole++;
        }
        else {
          if (hole > largest) largest = hole;
          hole = 0;
        }
      }
    }
  }
  if (hole > largest) largest = hole;
  unlist(h, b);
  where = (n == ALL_LINES) ? LUAN_EMPTY : (n >= WORTH) ? LUAN_HOLED
                                                       : LUAN_UNLISTED;
  if (where == LUAN_HOLED) b->class = (lu_byte)log2of(largest);
  if (where != LUAN_UNLISTED) enlist(h, b, where);
}

/* }===================================================================== */


/* {== chunks =========================================================== */

void *luaN_ask (global_State *g, void *p, size_t osize, size_t nsize) {
  void *q = (*g->frealloc)(g->ud, p, osize, nsize);
  if (q != NULL || nsize == 0)
    g->heap.held += nsize - ((p != NULL) ? osize : 0);
  return q;
}


/* A new chunk of at most n blocks, fewer when memory is short; 0: none. */
static int newchunk (global_State *g, unsigned n) {
  luaN_Heap *h = &g->heap;
  luaN_Chunk *c = NULL;
  size_t size = 0;
  unsigned i;
  for (; n > 0; n /= 2) {  /* one block more than n, to align the first */
    size = ((size_t)n + 1) * LUAN_BLOCK + sizeof(luaN_Chunk);
    if ((c = (luaN_Chunk *)luaN_ask(g, NULL, 0, size)) != NULL) break;
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
  for (i = c->nblocks; i-- > 0; ) {
    luaN_Block *b = (luaN_Block *)(c->first + (size_t)i * LUAN_BLOCK);
    memset(b, 0, sizeof(luaN_Block));
    memset(b->marks, HEAD, LUAN_HEADLINES);
    b->chunk = c;
    luaN_asanclose((char *)b + sizeof(luaN_Block),
                   LUAN_BLOCK - sizeof(luaN_Block));
    enlist(h, b, LUAN_EMPTY);
  }
  return 1;
}


static void freechunk (global_State *g, luaN_Chunk *c) {
  luaN_Heap *h = &g->heap;
  size_t size = c->size;
  unsigned i;
  for (i = 0; i < c->nblocks; i++)
    unlist(h, (luaN_Block *)(c->first + (size_t)i * LUAN_BLOCK));
  if (c->next) c->next->prev = c->prev;
  if (c->prev) c->prev->next = c->next;
  else h->chunks = c->next;
  if (h->gc.chunk == c) {  /* a sweep had come this far */
    h->gc.chunk = c->next;
    h->gc.block = 0;
  }
  h->nblocks -= c->nblocks;
  luaN_asanopen(c, size);
  luaN_ask(g, c, size, 0);
}


unsigned luaN_trim (global_State *g, size_t reserve, unsigned n) {
  luaN_Heap *h = &g->heap;
  luaN_Chunk *c, *next;
  unsigned freed = 0;
  for (c = h->chunks; c != NULL && freed < n; c = next) {
    next = c->next;
    if (h->nempty < reserve + c->nblocks) break;
    if (c->nempty == c->nblocks) {
      freechunk(g, c);
      freed++;
    }
  }
  return freed;
}


void luaN_openheap (luaN_Heap *h) {
  int i;
  memset(h, 0, sizeof(*h));
  h->free = h->limit = h->end = h->mark = (char *)h;  /* an empty hole */
  h->medium.free = h->medium.end = (char *)h;
  h->point = (uint64_t)(uintptr_t)h->free + LUAN_INFINITY;
  h->empty.next = h->empty.prev = &h->empty;
  for (i = 0; i < LUAN_CLASSES; i++)
    h->holed[i].next = h->holed[i].prev = &h->holed[i];
  h->used.next = h->used.prev = &h->used;
  h->gc.patience = 2;
  h->gc.limit = MINSTRTABSIZE;
  h->gc.colour = 1;
  h->gc.before = 2;
  luaN_opentick(&h->tick);
}


void luaN_closeheap (global_State *g) {
  while (g->heap.chunks != NULL)
    freechunk(g, g->heap.chunks);
}

/* }===================================================================== */


/* {== lines ============================================================ */

/* Line i of b has become free. */
static void clean (luaN_Block *b, unsigned i) {
  char *p = (char *)b + (size_t)i * LUAN_LINE;
  luaN_takenback(p, LUAN_LINE);
  (void)p;
}


void luaN_recycle (global_State *g) {
  luaN_Heap *h = &g->heap;
  luaN_Block *b;
  /* from the one used last, so that the one used first comes first again */
  while ((b = firstof(&h->used)) != NULL) {
    unsigned i;
    for (i = 0; i < LUAN_LINES; i += 8) {
      uint64_t w = eight(b, i);
#if defined(LUAN_DEBUG) || defined(__SANITIZE_ADDRESS__)
      unsigned k;
      for (k = i; k < i + 8; k++) if (b->marks[k] == LUAN_YOUNG) clean(b, k);
#endif
      w &= ~(LOW * LUAN_YOUNG);
      memcpy(b->marks + i, &w, sizeof(w));
    }
    settleblock(h, b);
  }
}


unsigned luaN_sweeplines (global_State *g, lu_byte bit, unsigned n) {
  luaN_Heap *h = &g->heap;
  unsigned done = 0;
  lu_byte keep = (lu_byte)(bit | LUAN_YOUNG | HEAD);
  for (; h->gc.chunk != NULL; h->gc.chunk = h->gc.chunk->next) {
    luaN_Chunk *c = h->gc.chunk;
    for (; h->gc.block < c->nblocks; h->gc.block++) {
      luaN_Block *b = (luaN_Block *)(c->first +
                                     (size_t)h->gc.block * LUAN_BLOCK);
      unsigned i;
      if (done == n) return done;
      done++;
      if (b->where == LUAN_EMPTY) continue;
#if defined(LUAN_DEBUG) || defined(__SANITIZE_ADDRESS__)
      for (i = LUAN_HEADLINES; i < LUAN_LINES; i++)
        if (b->marks[i] != 0 && (b->marks[i] & keep) == 0) clean(b, i);
#endif
      for (i = 0; i < LUAN_LINES; i++) b->marks[i] &= keep;
      if (b->where != LUAN_USED) settleblock(h, b);
    }
    h->gc.block = 0;
  }
  return done;
}


void luaN_forget (luaN_Heap *h, char *p, size_t n) {
  luaN_Block *b = luaN_blockof(p);
  size_t at = (uintptr_t)p & (LUAN_BLOCK - 1);
  size_t i = (at + LUAN_LINE - 1) / LUAN_LINE, end = (at + n) / LUAN_LINE;
  int freed = 0;
  for (; i < end; i++) {
    if (b->marks[i] & LUAN_YOUNG) b->marks[i] = LUAN_YOUNG;  /* until the next minor */
    else if (b->marks[i] != 0) {
      b->marks[i] = 0;
      clean(b, (unsigned)i);
      freed = 1;
    }
  }
  if (freed && b->where != LUAN_USED) settleblock(h, b);
}

/* }===================================================================== */


/* {== holes ============================================================ */

/* First line at or after i that is free. */
static unsigned nextfree (const luaN_Block *b, unsigned i) {
  for (; i < LUAN_LINES; i += 8) {
    uint64_t w = eight(b, i);
    uint64_t zeros = (w - LOW) & ~w & HIGH;  /* exact for the lowest (Mycroft) */
    if (zeros != 0) {
      i += (unsigned)__builtin_ctzll(zeros) / 8;
      break;
    }
  }
  return (i < LUAN_LINES) ? i : LUAN_LINES;
}


/* First line at or after i that is in use. */
static unsigned nextused (const luaN_Block *b, unsigned i) {
  for (; i < LUAN_LINES; i += 8) {
    uint64_t w = eight(b, i);
    if (w != 0) {
      i += (unsigned)__builtin_ctzll(w) / 8;
      break;
    }
  }
  return (i < LUAN_LINES) ? i : LUAN_LINES;
}


/* Takes the first hole of b at or after line 'from' with room for n bytes. */
static int takehole (luaN_Heap *h, luaN_Region *r, luaN_Block *b,
                     unsigned from, size_t n) {
  unsigned i = from;
  while ((i = nextfree(b, i)) < LUAN_LINES) {
    unsigned j = nextused(b, i);
    if ((size_t)(j - i) * LUAN_LINE >= n) {
      memset(b->marks + i, LUAN_YOUNG, j - i);
      if (b->where != LUAN_USED) {
        unlist(h, b);
        enlist(h, b, LUAN_USED);
      }
      r->free = (char *)b + (size_t)i * LUAN_LINE;
      r->end = (char *)b + (size_t)j * LUAN_LINE;
      return 1;
    }
    i = j;
  }
  return 0;
}


int luaN_holehere (global_State *g, luaN_Region *r, size_t n) {
  luaN_Heap *h = &g->heap;
  luaN_Block *b;
  if (r->end == (char *)h) return 0;
  b = luaN_blockof(r->end - 1);
  return takehole(h, r, b, (unsigned)((r->end - (char *)b) / LUAN_LINE), n);
}


/* Every block with a free line and a hole of n bytes, listed or not. */
static int holeanywhere (luaN_Heap *h, luaN_Region *r, size_t n) {
  luaN_Chunk *c;
  for (c = h->chunks; c != NULL; c = c->next) {
    unsigned i;
    for (i = 0; i < c->nblocks; i++) {
      luaN_Block *b = (luaN_Block *)(c->first + (size_t)i * LUAN_BLOCK);
      if (takehole(h, r, b, LUAN_HEADLINES, n)) return 1;
    }
  }
  return 0;
}


/* A block of 'holed' that has a hole of n lines: one with room, if there is. */
static luaN_Block *holedblock (luaN_Heap *h, unsigned n) {
  unsigned class = (n == 1) ? 0 : log2of(n - 1) + 1;
  unsigned i, from = (class < ROOMY) ? ROOMY : class;
  for (i = from; i < LUAN_CLASSES; i++)
    if (firstof(&h->holed[i]) != NULL) return firstof(&h->holed[i]);
  for (i = from; i-- > class; )
    if (firstof(&h->holed[i]) != NULL) return firstof(&h->holed[i]);
  return NULL;
}


int luaN_nexthole (global_State *g, luaN_Region *r, size_t n, int desperate) {
  luaN_Heap *h = &g->heap;
  luaN_Block *b;
  if (desperate && holeanywhere(h, r, n)) return 1;
  b = holedblock(h, (unsigned)((n + LUAN_LINE - 1) / LUAN_LINE));
  if (b == NULL) {
    if (h->nblocks <= FEW && holeanywhere(h, r, n)) return 1;
    if (h->empty.next == &h->empty) {
      size_t more = h->nblocks / 4 + 1;
      if (!newchunk(g, more > CHUNK_MAX ? CHUNK_MAX : (unsigned)more))
        return holeanywhere(h, r, n);
    }
    b = firstof(&h->empty);
  }
  return takehole(h, r, b, LUAN_HEADLINES, n);
}

/* }===================================================================== */
