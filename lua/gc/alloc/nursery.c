/* SPDX-License-Identifier: MIT */
/*
** The slow path of allocation (nursery.h): takes memory from a hole or from lua_Alloc, counts it
** and samples it. If there is no memory, or the limit of the bytes in use would be exceeded, runs
** an emergency collection and tries again. Runs no other collection.
*/
#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "ldo.h"
#include "lgc.h"
#include "lmem.h"
#include "lstring.h"

#include "allowance.h"
#include "chunks.h"
#include "holes.h"
#include "host.h"
#include "leaf.h"
#include "limit.h"
#include "nursery.h"
#include "sampling.h"
#include "stress.h"


/* Bytes that are requested in addition to those of a large userdata (one in lists.large), so that
   the userdata can be aligned (udataplace). */
#define UDATAROOM	((size_t)16)


/* Returns 1 if a block of this size and kind is not in the nursery: it comes from lua_Alloc, or
   is alone in its lines. */
static inline int islarge (size_t size, int kind) {
  if (l_likely(size <= LUAN_LARGETEXT)) return luaN_isexplicit(kind);
  return size > luaN_mostbumped(kind) || luaN_isexplicit(kind);
}


/* Bytes that a large leaf object (a long string or userdata) counts for the start of the next minor
   collection, while it fits into pace.textroom: that is the number of bytes of such objects that
   the program may allocate in addition to the nursery. It is not 0, so that a program that
   allocates nothing else has minor collections, too. */
#define TEXTCHARGE	((l_mem)128)


/* {== memory ============================================================ */

/*
** Sets *r to the unused part of the overflow region, from the next multiple of 16 bytes on, and
** makes the region empty. The overflow region is the second region of the allocator, for blocks
** that do not fit into the current hole. Returns 0 and changes nothing in two cases:
**   - the unused part has less than n bytes
**   - the blocks of the heap have more than LUAN_DENSEHEAP bytes; the unused part of a block
**     does not matter in a heap of that size
*/
static int takeoverflow (luaN_Heap *h, luaN_Region *r, size_t n) {
  size_t pad = (uintptr_t)h->overflow.free & 15;
  if (h->blocks.room > LUAN_DENSEHEAP ||
      (size_t)(h->overflow.end - h->overflow.free) < n + pad)
    return 0;
  r->free = h->overflow.free + pad;
  r->end = h->overflow.end;
  h->overflow.free = h->overflow.end = (char *)h;
  return 1;
}


/*
** Allocates n bytes from the current hole (a run of free lines). May allocate above
** nursery_limit, because the caller then handles the events that the limit represents. If the
** bytes do not fit, takes another hole as the current one, in this order:
**   - a later hole of the same block
**   - the overflow region (takeoverflow)
**   - a hole of another block (luaN_nexthole, which receives 'desperate'); only if n is at most
**     LUAN_SMALL or there is no current hole
**
** Returns NULL, and keeps the current hole, if no hole has n bytes.
*/
static char *bump (global_State *g, size_t n, int desperate) {
  luaN_Heap *h = &g->heap;
  char *p;
  if ((size_t)(h->end - h->free) < n) {
    luaN_Region r;
    int found;
    luaN_account(g);
    r.free = h->free; r.end = h->end;
    found = luaN_holehere(g, &r, n) || takeoverflow(h, &r, n) ||
            ((n <= LUAN_SMALL || h->end == (char *)h) &&
             luaN_nexthole(g, &r, n, desperate));
    h->free = h->mark = r.free;
    h->end = r.end;
    if (!found) return NULL;
  }
  p = h->free;
  h->free += n;
  luaN_handedout(&h->blocks, p, n);
  return p;
}


/*
** Allocates n bytes from the overflow region: a hole (a run of free lines) for objects that do not
** fit into the current hole. The address is a multiple of 16 for a userdata. If the region is too
** short, the next hole of the same block replaces it, or else a hole of another block
** (luaN_nexthole, which receives 'desperate'). Returns NULL if there is no memory.
*/
static char *bumpoverflow (global_State *g, size_t n, int kind, int desperate) {
  luaN_Heap *h = &g->heap;
  luaN_Region *r = &h->overflow;
  char *p;
  if ((size_t)(r->end - r->free) < n + 8 &&
      !luaN_holehere(g, r, n + 8) && !luaN_nexthole(g, r, n + 8, desperate))
    return NULL;
  if (kind == LUA_VUSERDATA && ((uintptr_t)r->free & 15)) r->free += 8;
  p = r->free;
  r->free += n;
  luaN_handedout(&h->blocks, p, n);
  return p;
}


/* Returns the list that must have capacity for one more entry before a large block of this kind
   is allocated. For an object that is lists.large; for a vector of a table, lists.tables, to
   which the table is added later. Returns NULL for other kinds. */
static luaN_Vec *listfor (luaN_Gc *c, int kind) {
  if (kind < LUAN_VARRAY) return &c->lists.large.v;
  if (kind == LUAN_VARRAY || kind == LUAN_VHASH) return &c->lists.tables.v;
  return NULL;
}


/* Returns the address of a large userdata in its block, a multiple of 16. The block has
   UDATAROOM bytes more than the userdata. Sets the byte before the userdata: its lower bits are
   the distance from the start of the block, the others the survivor age (ageing.h). */
static char *udataplace (char *block) {
  char *p = (char *)(((uintptr_t)block + UDATAROOM) &
                     ~(uintptr_t)(UDATAROOM - 1));
  p[-1] = (char)(p - block);
  return p;
}


/* Returns the start of the block of o, a large leaf object, and sets *n to the block's bytes. */
static char *textblock (const GCObject *o, size_t *n) {
  char *p = (char *)o;
  *n = luaN_textsize(o);
  if (o->tt == LUA_VLNGSTR) return p;
  *n += UDATAROOM;
  return p - (p[-1] & ((1 << LUAN_UDATAAGE) - 1));
}


static size_t wholelines (size_t n) {
  return (n + (LUAN_LINE - 1)) & ~(size_t)(LUAN_LINE - 1);
}


void luaN_holdtext (global_State *g, const GCObject *o) {
  size_t n;
  const char *p = textblock(o, &n);
  luaN_Block *b;
  lu_byte *marks;
  if (luaN_textsize(o) > LUAN_LINETEXT) return;
  b = luaN_blockof(&g->heap.blocks, p);
  marks = b->marks + luaN_lineof(b, p);
  if (!(*marks & LUAN_HELD)) memset(marks, *marks | LUAN_HELD, wholelines(n) / LUAN_LINE);
}


luaN_Block *luaN_freetext (global_State *g, GCObject *o) {
  size_t n;
  char *p = textblock(o, &n);
  if (luaN_textsize(o) <= LUAN_LINETEXT)
    return luaN_freelines(&g->heap.blocks, p, wholelines(n));
  luaN_ask(g, p, n, 0);
  return NULL;
}


/* Allocates n bytes in whole lines, which contain nothing else, from the overflow region. If the
   region is too short, first makes another hole the overflow region, as bumpoverflow does.
   Returns NULL if there is no memory. */
static char *bumplines (global_State *g, size_t n, int desperate) {
  luaN_Heap *h = &g->heap;
  luaN_Region *r = &h->overflow;
  size_t lines = wholelines(n), pad = (size_t)(r->end - r->free) % LUAN_LINE;
  char *p;
  if ((size_t)(r->end - r->free) < lines + pad) {
    if (!luaN_holehere(g, r, lines) && !luaN_nexthole(g, r, lines, desperate)) return NULL;
    pad = 0;
  }
  p = r->free + pad;
  r->free = p + lines;
  luaN_handedout(&h->blocks, p, lines);
  return p;
}


/* Allocates a block that is not in the nursery, or returns NULL if there is no memory. A large
   leaf object of up to LUAN_LINETEXT bytes gets lines of its own. A larger one, a large vector
   or explicit memory comes from lua_Alloc. First reserves capacity in the list that listfor
   returns. Adds an object to that list. */
static char *newlarge (global_State *g, size_t size, int kind, int desperate) {
  luaN_Vec *v = listfor(&g->heap.gc, kind);
  size_t room = (kind == LUA_VUSERDATA) ? UDATAROOM : 0;
  char *p;
  if (v != NULL && !luaN_reserve(g, v, 1)) return NULL;
  if (luaN_istextkind(kind) && size <= LUAN_LINETEXT) p = bumplines(g, size + room, desperate);
  else {
    if (!desperate && !luaN_leavesroom(g, size + room)) return NULL;
    p = (char *)luaN_callalloc(g, NULL, (kind < LUAN_VARRAY)
                               ? (size_t)novariant(kind) : 0, size + room);
    if (p != NULL) g->heap.blocks.held += size + room;
  }
  if (p == NULL) return NULL;
  if (room > 0) p = udataplace(p);
  if (kind < LUAN_VARRAY) v->a[v->n++] = p;
  if (luaN_isexplicit(kind)) g->heap.gc.bytes.explicit += luaN_round(size);
  return p;
}


/* Allocates a block for which the fast path has failed, or returns NULL if there is no memory.
   Sets *outside to 0 if the block is from the current hole, to 1 if it is from the overflow
   region or lua_Alloc. 'desperate' is passed to luaN_nexthole. */
static char *nursery_find (global_State *g, size_t size, int kind, int *outside,
                           int desperate) {
  size_t n = luaN_round(size);
  char *p;
  *outside = 1;
  if (islarge(size, kind)) return newlarge(g, size, kind, desperate);
  if ((p = bump(g, n, desperate)) != NULL) *outside = 0;
  else if (n > LUAN_SMALL) p = bumpoverflow(g, n, kind, desperate);
  return p;
}

/* }===================================================================== */


/* Counts a new block of n bytes that is not in the nursery (a large block, or explicit memory that
   the core frees itself) for the start of the next minor collection. Usually the block counts with
   n bytes. A large leaf object that fits into pace.textroom, the bytes of such objects that may be
   allocated in addition to the nursery, counts with TEXTCHARGE bytes. */
static void charge (global_State *g, size_t n, int kind) {
  luaN_Heap *h = &g->heap;
  l_mem bytes = (l_mem)n;
  if (luaN_istextkind(kind)) {
    h->texts += n;
    if (n <= h->gc.pace.textroom) {
      h->gc.pace.textroom -= n;
      bytes = TEXTCHARGE;
    }
  }
  g->GCdebt += bytes;
  g->totalbytes += (l_mem)n - bytes;
  h->spare += (size_t)bytes;
}


/*
** Counts the new block at p as allocated. Takes a sample of the block if the sample point is
** reached.
**   - 'size' is its size, 'old' the rounded size of the block that it replaces (0: none). GCdebt
**     counts all bytes; heap.allocated and samples count only the growth.
**   - 'd' is the number of bytes that remained until the next sample before the allocation.
**   - 'outside' is 1 if the block is not from the current hole.
*/
static inline __attribute__((always_inline)) void count (lua_State *L, char *p, size_t size,
                                                         size_t old, int kind, int outside,
                                                         uint64_t d) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  size_t n = luaN_round(size);
  if (outside) {
    h->allocated += n;
    if (!islarge(size, kind)) g->GCdebt += (l_mem)n;
    else charge(g, n, kind);
  }
  luaN_account(g);
  h->allocated -= (old < n) ? old : n;
  h->rounding = (unsigned)(n - size);
  luaN_countblock(L, p, n, old, kind, outside, d);
  luaN_setlimit(g);
}


/* Allocates and counts a block of 'size' > 0 bytes of this kind, which replaces a block of
   'oldsize' bytes (0: none). If there is no memory, tries again after an emergency collection, if
   one may run. Returns NULL if that fails, too, or if a limit of the state would be exceeded. */
static void *obtain (lua_State *L, size_t size, size_t oldsize, int kind) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  uint64_t d;
  int outside;
  char *p;
  if (l_unlikely(size > MAX_SIZE - LUAN_GRANULE)) return luaN_unlimited(g);
  luaN_stress(L);
  d = luaN_round(oldsize);
  if (luaN_exceeds(L, luaN_round(size) > d ? luaN_round(size) - d : 0)) return NULL;
  d = luaN_topoint(h);
  p = nursery_find(g, size, kind, &outside, 0);
  if (l_unlikely(p == NULL)) {
    luaN_setpoint(h, d);
    luaN_flush(g);
    if (!luaN_maycollect(g)) return luaN_unlimited(g);
    luaN_emergency(L);
    d = luaN_topoint(h);
    p = nursery_find(g, size, kind, &outside, 1);
    if (p == NULL) {
      luaN_setpoint(h, d);
      luaN_flush(g);
      h->starved = 1;
      return luaN_unlimited(g);
    }
  }
  count(L, p, size, luaN_round(oldsize), kind, outside, d);
  if (l_unlikely(h->blocks.refused)) luaN_hurry(g);
  return p;
}


void *luaN_slow (lua_State *L, size_t size, int kind) {
  void *p = obtain(L, size, 0, kind);
  if (l_unlikely(p == NULL))
    luaM_error(L);
  return p;
}


void luaN_countlate (lua_State *L, void *block, size_t size, int kind) {
  lua_assert(islarge(size, kind));
  count(L, (char *)block, size, 0, kind, 1, luaN_topoint(&G(L)->heap));
}


/* Counts n bytes that are not from the current hole, if no sample and no collection can be due
   after them, and returns 1. To that end, moves the sample point (S1) and nursery_limit n bytes
   down. If n is at least the distance to the limit, returns 0 and does nothing. The limit may be
   lower than necessary until the next slow allocation, because the current hole has not become
   shorter. */
static int nursery_passes (global_State *g, size_t n) {
  luaN_Heap *h = &g->heap;
  if (n >= (size_t)(h->limit - h->free)) return 0;
  g->GCdebt += (l_mem)n;
  h->allocated += n;
  h->point -= n;
  h->limit -= n;
  return 1;
}


/* Counts the growth from o to n bytes of the block at p, which is not from the current hole.
   Takes a sample of the growth if the sample point is reached. */
static void countgrowth (lua_State *L, char *p, size_t o, size_t n, int kind) {
  global_State *g = G(L);
  uint64_t d = luaN_topoint(&g->heap);
  luaN_account(g);
  g->GCdebt += (l_mem)(n - o);
  g->heap.allocated += n - o;
  luaN_countblock(L, p, n, o, kind, 1, d);
  luaN_setlimit(g);
}


/*
** Resizes a block by lua_Alloc: memory that the core frees explicitly (osize 0: a new block), or a
** large vector that stays large. If there is no memory, runs an emergency collection, if one may
** run, and tries again. Returns NULL, and keeps the old block, if there is no memory after that, or
** if a limit of the state would be exceeded.
*/
static void *relarge (lua_State *L, void *block, size_t osize, size_t nsize,
                      int kind) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  size_t o = luaN_round(osize), n = luaN_round(nsize);
  char *p = NULL;
  if (l_unlikely(nsize > MAX_SIZE - LUAN_GRANULE)) return luaN_unlimited(g);
  luaN_stress(L);
  if (n > o && luaN_exceeds(L, n - o)) return NULL;
  if (n <= o || luaN_leavesroom(g, n - o))
    p = (char *)luaN_callalloc(g, block, osize, nsize);
  if (l_unlikely(p == NULL)) {
    if (!luaN_maycollect(g)) return luaN_unlimited(g);
    luaN_emergency(L);
    p = (char *)luaN_callalloc(g, block, osize, nsize);
    if (p == NULL) {
      h->starved = 1;
      return luaN_unlimited(g);
    }
  }
  if (block != NULL && luaN_iswatched(h, block)) luaN_reportresized(L, block, p, o, n);
  h->blocks.held += nsize - osize;
  if (luaN_isexplicit(kind)) h->gc.bytes.explicit += n - o;
  if (n <= o) {
    g->totalbytes -= (l_mem)(o - n);
    return p;
  }
  h->spare += n - o;
  if (kind == LUAN_VSTACK || kind == LUAN_VRESTACK) h->gc.pace.stackgrowth += n - o;
  if (!nursery_passes(g, n - o)) countgrowth(L, p, o, n, kind);
  return p;
}


/* Grows an array from o to n bytes in place, which copies nothing and leaves no garbage, and
   returns 1. The bytes after the array must be unused: in the current hole up to nursery_limit,
   or in the overflow region. Otherwise, or if a limit of the state would be exceeded, does
   nothing and returns 0. */
static int growsinplace (lua_State *L, char *block, size_t o, size_t n) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  luaN_Region *r = &h->overflow;
  uint64_t d;
  if (l_unlikely(h->limits != NULL) && n - o > luaN_left(g)) return 0;
  if (block + o == h->free) {
    if (luaN_bump(h, n - o) != NULL) return 1;
    if (h->counts == NULL || (size_t)(h->end - h->free) < n - o) return 0;
    d = luaN_topoint(h);
    h->free += n - o;
    luaN_handedout(&h->blocks, block + o, n - o);
    luaN_account(g);
    luaN_countblock(L, block, n, o, LUAN_VARRAY, 0, d);
    luaN_setlimit(g);
    return 1;
  }
  if (block + o != r->free || (size_t)(r->end - r->free) < n - o) return 0;
  r->free += n - o;
  luaN_handedout(&h->blocks, block + o, n - o);
  countgrowth(L, block, o, n, LUAN_VARRAY);
  return 1;
}


void *luaN_resize (lua_State *L, void *block, size_t osize, size_t nsize,
                   int kind) {
  global_State *g = G(L);
  size_t o = luaN_round(osize), n = luaN_round(nsize);
  void *p;
  lua_assert((osize == 0) == (block == NULL));
  if (luaN_isexplicit(kind) && nsize > 0) return relarge(L, block, osize, nsize, kind);
  if (nsize == 0) {
    if (block != NULL) luaN_release(L, block, osize, kind);
    return NULL;
  }
  if (block != NULL) {
    if (osize > LUAN_LARGE && nsize > LUAN_LARGE)
      return relarge(L, block, osize, nsize, kind);
    if (osize <= LUAN_LARGE && n <= o) {  /* shrink in place */
      if (n < o) {
        if (luaN_iswatched(&g->heap, block)) luaN_reportresized(L, block, block, o, n);
        g->totalbytes -= (l_mem)(o - n);
        luaN_forget(&g->heap.blocks, (char *)block + n, o - n);
      }
      return block;
    }
    if (kind == LUAN_VARRAY && nsize <= LUAN_LARGE &&
        growsinplace(L, (char *)block, o, n))
      return block;
  }
  else if (nsize <= LUAN_LARGE && (p = luaN_bump(&g->heap, n)) != NULL) return p;
  p = obtain(L, nsize, osize, kind);
  if (p != NULL && block != NULL) {
    memcpy(p, block, osize < nsize ? osize : nsize);
    if (luaN_iswatched(&g->heap, block)) luaN_reportresized(L, block, p, o, n);
    luaN_release(L, block, osize, kind);
  }
  return p;
}


/* Makes the next minor collection start later, because a large or explicit block of n bytes was
   freed explicitly. Such a block needs no collection, so its allocation should bring none
   closer. Subtracts n bytes from those that count for the start of the collection, but at most
   heap.spare, and at most the bytes that count now. Subtracts nothing while luaN_defer withholds
   a part of the nursery. */
static void payback (global_State *g, size_t n) {
  size_t most = (g->heap.gc.pace.deferred == 0) ? g->heap.spare : 0;
  l_mem back = (l_mem)(n < most ? n : most), charged;
  if (back == 0) return;
  charged = g->GCdebt + luaN_unflushed(g) + (l_mem)g->heap.gc.pace.nursery;
  if (back > charged) back = charged;
  if (back <= 0) return;
  g->heap.spare -= (size_t)back;
  g->GCdebt -= back;
  g->totalbytes += back;  /* nursery_limit is lower than necessary then, as in nursery_passes */
}


void luaN_release (lua_State *L, void *block, size_t size, int kind) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  size_t n = luaN_round(size);
  lua_assert((size == 0) == (block == NULL));
  if (block == NULL) return;
  if (luaN_iswatched(h, block)) luaN_reportfree(L, block);
  g->totalbytes -= (l_mem)n;
  if (kind == LUAN_VSTACK) luaN_recounted(L, obj2gco(L), -(l_mem)n);
  if (islarge(size, kind)) {
    if (luaN_isexplicit(kind)) h->gc.bytes.explicit -= n;
    luaN_ask(g, block, size, 0);
    payback(g, n);
  }
  else luaN_forget(&h->blocks, (char *)block, n);
}
