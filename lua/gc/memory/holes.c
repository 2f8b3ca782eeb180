/* SPDX-License-Identifier: MIT */
/* Lines and holes (holes.h): chooses the memory of allocations. Runs no collection and raises no
   error: nursery.c collects and tries again. */

#include "lstate.h"

#include "chunks.h"
#include "debug.h"
#include "holes.h"

/* The allocator takes holes (runs of free lines) from the blocks of the lists 'holed'. A block that
   is not completely free is in one of these lists if at least MIN_FREE_LINES of its lines are free.
   For a small block it suffices that 1 / MIN_FREE_PART of its lines are free. Lower limits fill
   blocks better, and make the allocator visit more blocks. */
#define MIN_FREE_LINES		16u
#define MIN_FREE_PART	(LUAN_LINES / MIN_FREE_LINES)

/* holedblock prefers blocks of this class or higher, even if a smaller hole would suffice. The
   class of a block is log2 of the number of lines of its largest hole. */
#define MIN_ROOMY_CLASS		2u


static luaN_Block *firstof (luaN_Link *head) {
  return (head->next == head) ? NULL : (luaN_Block *)head->next;
}


static unsigned log2of (unsigned n) {
  return 31u - (unsigned)__builtin_clz(n);
}


/* words in which the lowest, or the highest, bit of each byte is set */
#define LOW	UINT64_C(0x0101010101010101)
#define HIGH	UINT64_C(0x8080808080808080)


/* Returns the marks of lines i to i + 7 as a word, with the mark of line i in the lowest byte. May
   read a few bytes past marks[], which are part of the block's head. */
static uint64_t eight (const luaN_Block *b, unsigned i) {
  uint64_t w;
  memcpy(&w, (const lu_byte *)b + LUAN_MARKSAT + i, sizeof(w));
  return w;
}


/* Sets bit 7 of each byte that is 0 in w, and no other bit (Warren, "Hacker's Delight", 6-1). */
static uint64_t zerobytes (uint64_t w) {
  return ~(((w & ~HIGH) + ~HIGH) | w | ~HIGH);
}


/* Returns the length, in bytes, of the longest run of bytes of 'zeros' that have bit 7 set, but at
   least 'least'. No other bits of 'zeros' may be set. */
static unsigned longest (uint64_t zeros, unsigned least) {
  unsigned n = 0;
  while (zeros != 0) {
    zeros &= zeros >> 8;
    n++;
  }
  return (n > least) ? n : least;
}


unsigned luaN_survey (const luaN_Block *b, unsigned *largest) {
  unsigned i, n = 0, hole = 0, most = 0;
  for (i = 0; i < b->nlines; i += 8) {
    uint64_t w = eight(b, i), zeros;
    if (w == 0) {
      n += 8;
      hole += 8;
      continue;
    }
    zeros = zerobytes(w);
    /* the hole, which may have started in earlier lines, ends at the first line in use */
    hole += (unsigned)__builtin_ctzll(w) / 8;
    if (hole > most) most = hole;
    hole = 0;
    if (zeros == 0) continue;
    n += (unsigned)((zeros >> 7) * LOW >> 56);
    /* a hole between two lines in use has at most 6 of the eight lines of w */
    if (most < 6) most = longest(zeros, most);
    hole = (unsigned)__builtin_clzll(w) / 8;
  }
  *largest = (hole > most) ? hole : most;
  return n;
}


/* Moves b to the list for its number of free lines. Unlike luaN_relist, also moves a block of
   'used', the list of blocks from which the nursery has taken holes. May be called for such a block
   only after the nursery has given up its current hole (luaN_retire). */
static void relist (luaN_Blocks *h, luaN_Block *b) {
  unsigned largest, n = luaN_survey(b, &largest);
  luaN_Where where;
  luaN_unlist(h, b);
  where = (n == b->nusable) ? LUAN_EMPTY
        : (n >= MIN_FREE_LINES || (n > 0 && n >= b->nlines / MIN_FREE_PART)) ? LUAN_HOLED
        : LUAN_UNLISTED;
  if (where == LUAN_HOLED) b->class = (lu_byte)log2of(largest);
  if (where != LUAN_UNLISTED) luaN_enlist(h, b, where);
}


/* {== lines ============================================================= */

/* Records that line i of b is free, for the checks of the debug and sanitizer builds. Empty in a
   release build, where compilers remove the loops that only call this function. */
static void clean (luaN_Blocks *h, luaN_Block *b, unsigned i) {
  char *p = (char *)b + (size_t)i * LUAN_LINE;
  luaN_takenback(h, p, LUAN_LINE);
  (void)h; (void)p;
}


void luaN_recycle (luaN_Blocks *h) {
  luaN_Block *b;
  /* luaN_enlist adds each block at the start of its new list (a small block at the end), so the
     allocator uses the blocks in the reverse order of this loop. */
  while ((b = firstof(&h->used)) != NULL) {
    unsigned i, k;
    for (i = 0; i < b->nlines; i += 8) {
      uint64_t w = eight(b, i);
      for (k = i; k < i + 8; k++) if (b->marks[k] == LUAN_YOUNG) clean(h, b, k);
      w &= ~(LOW * LUAN_YOUNG);
      memcpy(b->marks + i, &w, sizeof(w));
    }
    relist(h, b);
  }
}


void luaN_relist (luaN_Blocks *h, luaN_Block *b) {
  unsigned i;
  for (i = 0; i < b->nlines; i++) if (b->marks[i] == 0) clean(h, b, i);
  if (b->where != LUAN_USED) relist(h, b);
}


/* Removes all bits except 'keep' from the marks of b. Returns 1 if a line has become free. */
static int sweepblock (luaN_Blocks *h, luaN_Block *b, lu_byte keep) {
  uint64_t freed = 0;
  unsigned i, k;
  for (i = 0; i < b->nlines; i += 8) {
    uint64_t w = eight(b, i), kept = w & LOW * keep;
    freed |= zerobytes(kept) ^ zerobytes(w);
    for (k = i; k < i + 8; k++)
      if (b->marks[k] != 0 && (b->marks[k] & keep) == 0) clean(h, b, k);
    memcpy(b->marks + i, &kept, sizeof(kept));
  }
  return freed != 0;
}


unsigned luaN_sweeplines (luaN_Blocks *h, lu_byte bit, unsigned n) {
  unsigned done = 0;
  lu_byte keep = (lu_byte)(bit | LUAN_YOUNG | LUAN_HELD | LUAN_HEAD);
  for (; h->sweptchunk != NULL; h->sweptchunk = h->sweptchunk->next) {
    luaN_Chunk *c = h->sweptchunk;
    for (; h->sweptblock < c->nblocks; h->sweptblock++) {
      luaN_Block *b = luaN_blockat(c, h->sweptblock);
      if (done == n) return done;
      done++;
      if (b->where != LUAN_EMPTY && sweepblock(h, b, keep) && b->where != LUAN_USED)
        relist(h, b);
    }
    h->sweptblock = 0;
  }
  return done;
}


void luaN_forget (luaN_Blocks *h, char *p, size_t n) {
  luaN_Block *b = luaN_blockof(h, p);
  size_t at = (size_t)(p - (char *)b);
  size_t i = (at + LUAN_LINE - 1) / LUAN_LINE, end = (at + n) / LUAN_LINE;
  int freed = 0;
  for (; i < end; i++) {
    /* the line is part of a hole taken since the last minor collection; luaN_recycle frees the line
       later */
    if (b->marks[i] & LUAN_YOUNG) b->marks[i] = LUAN_YOUNG;
    else if (b->marks[i] != 0) {
      b->marks[i] = 0;
      clean(h, b, (unsigned)i);
      freed = 1;
    }
  }
  if (freed && b->where != LUAN_USED) relist(h, b);
}


luaN_Block *luaN_freelines (luaN_Blocks *h, char *p, size_t n) {
  luaN_Block *b = luaN_blockof(h, p);
  lu_byte young = b->marks[luaN_lineof(b, p)] & LUAN_YOUNG;
  memset(b->marks + luaN_lineof(b, p), young, n / LUAN_LINE);
  if (young) return NULL;  /* luaN_recycle frees the lines */
  luaN_takenback(h, p, n);
  return (b->where != LUAN_USED) ? b : NULL;
}

/* }===================================================================== */


/* {== holes ============================================================= */

/* Returns the index of the first line of b from i on that is free ('free' is 1) or in use ('free'
   is 0); nlines if there is none. */
static inline unsigned nextline (const luaN_Block *b, unsigned i, int free) {
  for (; i < b->nlines; i += 8) {
    uint64_t w = eight(b, i);
    if (free) w = (w - LOW) & ~w & HIGH;  /* the lowest 1 bit is in the first 0 byte of w */
    if (w != 0) {
      i += (unsigned)__builtin_ctzll(w) / 8;
      break;
    }
  }
  return (i < b->nlines) ? i : b->nlines;
}


/* Takes the first hole (run of free lines) of at least n bytes of b, from line 'from' on: sets *r
   to the hole, marks its lines as young, and moves b to 'used', the list of blocks with taken
   holes. Returns 0 if b has no such hole. */
static int takehole (luaN_Blocks *h, luaN_Region *r, luaN_Block *b, unsigned from, size_t n) {
  unsigned i = from;
  while ((i = nextline(b, i, 1)) < b->nlines) {
    unsigned j = nextline(b, i, 0);
    if ((size_t)(j - i) * LUAN_LINE >= n) {
      memset(b->marks + i, LUAN_YOUNG, j - i);
      if (b->released) luaN_usepages(h, b, i, j);
      if (b->where != LUAN_USED) {
        luaN_unlist(h, b);
        luaN_enlist(h, b, LUAN_USED);
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
  luaN_Blocks *h = &g->heap.blocks;
  luaN_Block *b;
  if (r->end == (char *)&g->heap) return 0;  /* the region has no hole */
  b = luaN_blockof(h, r->end - 1);
  return takehole(h, r, b, (unsigned)((r->end - (char *)b) / LUAN_LINE), n);
}


/* Sets *r to the first hole of at least n bytes in any block, even a block that is in no list.
   Returns 0 if no block has such a hole. */
static int holeanywhere (luaN_Blocks *h, luaN_Region *r, size_t n) {
  luaN_Chunk *c;
  for (c = h->chunks; c != NULL; c = c->next) {
    unsigned i;
    for (i = 0; i < c->nblocks; i++) {
      if (takehole(h, r, luaN_blockat(c, i), 0, n)) return 1;
    }
  }
  return 0;
}


/* Returns a block of the lists 'holed' whose largest hole has at least n lines, or NULL. Prefers
   blocks of class MIN_ROOMY_CLASS or higher. */
static luaN_Block *holedblock (luaN_Blocks *h, unsigned n) {
  unsigned class = (n == 1) ? 0 : log2of(n - 1) + 1;
  unsigned i, from = (class < MIN_ROOMY_CLASS) ? MIN_ROOMY_CLASS : class;
  for (i = from; i < LUAN_CLASSES; i++)
    if (firstof(&h->holed[i]) != NULL) return firstof(&h->holed[i]);
  for (i = from; i-- > class; )
    if (firstof(&h->holed[i]) != NULL) return firstof(&h->holed[i]);
  return NULL;
}


/* Returns an empty block with at least n usable bytes, or NULL. */
static luaN_Block *emptyblock (luaN_Blocks *h, size_t n) {
  luaN_Link *l;
  for (l = h->empty.next; l != &h->empty; l = l->next) {
    luaN_Block *b = (luaN_Block *)l;
    if ((size_t)b->nusable * LUAN_LINE >= n) return b;
  }
  return NULL;
}


int luaN_nexthole (global_State *g, luaN_Region *r, size_t n, int desperate) {
  luaN_Blocks *h = &g->heap.blocks;
  luaN_Block *b;
  if (desperate && holeanywhere(h, r, n)) return 1;
  b = holedblock(h, (unsigned)((n + LUAN_LINE - 1) / LUAN_LINE));
  if (b == NULL) b = emptyblock(h, n);
  if (b == NULL) {
    if (h->room <= LUAN_DENSEHEAP && holeanywhere(h, r, n)) return 1;
    if (!luaN_newchunk(g, n)) return holeanywhere(h, r, n);
    b = emptyblock(h, n);
  }
  return takehole(h, r, b, 0, n);
}

/* }===================================================================== */
