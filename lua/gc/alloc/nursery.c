/* SPDX-License-Identifier: MIT */
/*
** The slow path of allocation (nursery.h): takes memory from a hole or lua_Alloc, counts it and
** samples it. Runs an emergency collection and tries again if memory is short.
*/

#include "ldo.h"
#include "lgc.h"

#include "chunks.h"
#include "holes.h"
#include "host.h"
#include "leaf.h"
#include "nursery.h"
#include "sampling.h"
#include "stress.h"


/* Bytes added to the block of a large userdata to align the userdata (udataplace). */
#define UDATAROOM	((size_t)16)


/* Returns 1 if a block of this size and kind (kind.h) is not part of the nursery: it comes from
   lua_Alloc, or shares its lines with no other block. */
static inline int islarge (size_t size, int kind) {
  if (l_likely(size <= LUAN_LARGETEXT)) return luaN_isexplicit(kind);
  return size > luaN_mostbumped(kind) || luaN_isexplicit(kind);
}


/* Bytes that a long string or large userdata adds to GCdebt if it fits into pace.textroom, a
   separate allowance for such objects. The number is above 0 because a program that allocates only
   such objects needs minor collections, too. A higher value makes minor collections more
   frequent. */
#define TEXTCHARGE	((l_mem)128)


/* {== memory ============================================================ */

/*
** Takes the unused part of the overflow region (free lines for blocks that do not fit into the
** current hole), so that the nursery can continue there: sets *r to that part, from the next
** multiple of 16 bytes on, and makes the overflow region empty. Returns 0, and changes nothing, if
** that part has less than n bytes, or if the blocks of the heap have more than LUAN_DENSEHEAP
** bytes.
*/
static int takeoverflow (luaN_Heap *h, luaN_Region *r, size_t n) {
  size_t pad = (uintptr_t)h->overflow.free & 15;
  if (h->blocks.room > LUAN_DENSEHEAP || (size_t)(h->overflow.end - h->overflow.free) < n + pad)
    return 0;
  r->free = h->overflow.free + pad;
  r->end = h->overflow.end;
  h->overflow.free = h->overflow.end = (char *)h;
  return 1;
}


/*
** Bump-allocates n bytes in the current hole (run of free lines), even above heap.limit. Takes
** another hole if the current one is too short. If there is a current hole and n is above
** LUAN_SMALL, searches only the block of that hole and the overflow region. Returns NULL, and keeps
** the current hole, if no hole of n bytes is found. desperate: argument of luaN_nexthole, 1 after
** an emergency collection.
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
            ((n <= LUAN_SMALL || h->end == (char *)h) && luaN_nexthole(g, &r, n, desperate));
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
** Bump-allocates n bytes in the overflow region (free lines for blocks that do not fit into the
** current hole). Takes another hole as region if the region is too short. Returns NULL if there is
** none.
** align      The number of bytes from the start of the block to the end of the region is a multiple
**            of 'align'. (The region ends at the end of a line.) LUAN_LINE for a block that must
**            not share lines.
** desperate  1 after an emergency collection, to search all blocks
**
** If 'align' is 8, as for an array, at least 8 bytes of the region are left after the block: the
** array may grow into them in place.
*/
static char *bumpoverflow (global_State *g, size_t n, size_t align, int desperate) {
  luaN_Heap *h = &g->heap;
  luaN_Region *r = &h->overflow;
  size_t pad = (size_t)(r->end - r->free) % align;
  size_t more = (align < LUAN_LINE) ? LUAN_GRANULE : 0;
  char *p;
  if ((size_t)(r->end - r->free) < n + (pad > more ? pad : more)) {
    if (!luaN_holehere(g, r, n + more) && !luaN_nexthole(g, r, n + more, desperate)) return NULL;
    pad = 0;  /* the new hole starts at a line, which is aligned already */
  }
  p = r->free + pad;
  r->free = p + n;
  luaN_handedout(&h->blocks, p, n);
  return p;
}


/* Returns the list of the sweep that needs an entry for a new block of this kind (kind.h) that is
   not in the nursery. For an object, the entry is the object; for an array part or hash part, it is
   the table. Returns NULL for other kinds, which need no entry. */
static luaN_Vec *listfor (luaN_Gc *c, int kind) {
  if (kind < LUAN_VARRAY) return &c->lists.large.v;
  if (kind == LUAN_VARRAY || kind == LUAN_VHASH) return &c->lists.tables.v;
  return NULL;
}


/* Returns the address of a large userdata in its block, a multiple of 16. Stores the distance from
   the start of the block to the userdata in the byte before the userdata. */
static char *udataplace (char *block) {
  char *p = (char *)(((uintptr_t)block + UDATAROOM) & ~(uintptr_t)(UDATAROOM - 1));
  p[-1] = (char)(p - block);
  return p;
}


/* Returns the start of the block of o, a long string or large userdata, and sets *n to the block's
   bytes. */
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


/* Allocates a block of this size and kind (kind.h) that is not in the nursery: a string or userdata
   of up to LUAN_LINETEXT bytes in lines of its own, other blocks by lua_Alloc. If the block is an
   object, adds it to its list (listfor). Returns NULL if there is no memory. desperate: 1 after an
   emergency collection. */
static char *newlarge (global_State *g, size_t size, int kind, int desperate) {
  luaN_Vec *v = listfor(&g->heap.gc, kind);
  size_t room = (kind == LUA_VUSERDATA) ? UDATAROOM : 0;
  char *p;
  if (v != NULL && !luaN_reserve(g, v, 1)) return NULL;
  if (luaN_istextkind(kind) && size <= LUAN_LINETEXT)
    p = bumpoverflow(g, wholelines(size + room), LUAN_LINE, desperate);
  else {
    if (!desperate && !luaN_leavesroom(g, size + room)) return NULL;
    p = (char *)luaN_ask(g, NULL, (kind < LUAN_VARRAY) ? (size_t)novariant(kind) : 0, size + room);
  }
  if (p == NULL) return NULL;
  if (room > 0) p = udataplace(p);
  if (kind < LUAN_VARRAY) v->a[v->n++] = p;
  if (luaN_isexplicit(kind)) g->heap.gc.bytes.explicit += luaN_round(size);
  return p;
}


/* Allocates a block of this size and kind (kind.h) for which the fast path has failed, or returns
   NULL. Sets *outside to 1 if the block is not in the hole (run of free lines) in which the fast
   path allocates. desperate: 1 after an emergency collection, to search all blocks
   (luaN_nexthole). */
static char *nursery_find (global_State *g, size_t size, int kind, int *outside, int desperate) {
  size_t n = luaN_round(size);
  char *p;
  *outside = 1;
  if (islarge(size, kind)) return newlarge(g, size, kind, desperate);
  if ((p = bump(g, n, desperate)) != NULL) *outside = 0;
  else if (n > LUAN_SMALL)
    p = bumpoverflow(g, n, (kind == LUA_VUSERDATA) ? 16 : LUAN_GRANULE, desperate);
  return p;
}

/* }===================================================================== */


/* Adds the n bytes of a new block of this kind (kind.h) that is not in the nursery to GCdebt, so
   that the next minor collection is due earlier. For a long string or userdata that fits into
   pace.textroom, a separate allowance, adds only TEXTCHARGE bytes. */
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
** Counts the new block of this size and kind (kind.h) at p as allocated, and takes a sample if one
** is due.
** - old: rounded size of the block that the new block replaces, or 0. Samples and heap.allocated
**   count only the growth, GCdebt counts all bytes.
** - outside: 1 if the block is not in the hole in which the fast path allocates
** - d: bytes from the start of the allocation to the next sample (luaN_topoint)
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


/* Allocates and counts a block of this size and kind (kind.h), which replaces one of 'oldsize'
   bytes (0: none). If there is no memory, runs an emergency collection and tries again. Returns
   NULL if there is still no memory, or if a limit would be exceeded. */
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


/* Adds the growth of the block at p, from o to n bytes, to GCdebt, heap.allocated and the counts
   for samples; takes a sample if one is due. kind: kind of the block (kind.h). */
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
** Resizes a block from lua_Alloc by one call of lua_Alloc. Such a block is either a vector or stack
** that has more than LUAN_LARGE bytes both before and after the resize, or explicit memory of any
** size: a buffer, a prototype's vector. (block is NULL for a new block of explicit memory.)
**
** If there is no memory, runs an emergency collection and tries again. Returns NULL, and keeps the
** block, if there is still no memory or a limit would be exceeded.
*/
static void *relarge (lua_State *L, void *block, size_t osize, size_t nsize, int kind) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  size_t o = luaN_round(osize), n = luaN_round(nsize);
  char *p = NULL;
  if (l_unlikely(nsize > MAX_SIZE - LUAN_GRANULE)) return luaN_unlimited(g);
  luaN_stress(L);
  if (n > o && luaN_exceeds(L, n - o)) return NULL;
  if (n <= o || luaN_leavesroom(g, n - o))
    p = (char *)luaN_ask(g, block, osize, nsize);
  if (l_unlikely(p == NULL)) {
    if (!luaN_maycollect(g)) return luaN_unlimited(g);
    luaN_emergency(L);
    p = (char *)luaN_ask(g, block, osize, nsize);
    if (p == NULL) {
      h->starved = 1;
      return luaN_unlimited(g);
    }
  }
  if (block != NULL && luaN_iswatched(h, block)) luaN_reportresized(L, block, p, o, n);
  if (luaN_isexplicit(kind)) h->gc.bytes.explicit += n - o;
  if (n <= o) {
    g->totalbytes -= (l_mem)(o - n);
    return p;
  }
  h->spare += n - o;
  if (kind == LUAN_VSTACK || kind == LUAN_VRESTACK) h->gc.pace.stackgrowth += n - o;
  countgrowth(L, p, o, n, kind);
  return p;
}


/* Grows an array from o to n bytes in place and returns 1, if the free bytes of the current hole or
   of the overflow region directly follow the array. Otherwise, or if a limit would be exceeded,
   returns 0. Growth in place copies nothing and leaves no garbage. */
static int growsinplace (lua_State *L, char *block, size_t o, size_t n) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  luaN_Region *r = &h->overflow;
  if (block + o == h->free) return luaN_bump(h, n - o) != NULL;
  if (block + o != r->free || (size_t)(r->end - r->free) < n - o ||
      l_unlikely(h->limits != NULL && n - o > luaN_left(g)))
    return 0;
  r->free += n - o;
  luaN_handedout(&h->blocks, block + o, n - o);
  countgrowth(L, block, o, n, LUAN_VARRAY);
  return 1;
}


void *luaN_resize (lua_State *L, void *block, size_t osize, size_t nsize, int kind) {
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
    if (kind == LUAN_VARRAY && nsize <= LUAN_LARGE && growsinplace(L, (char *)block, o, n))
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


/* To be called when a block of n bytes from lua_Alloc was freed explicitly. Such a block leaves no
   garbage to collect, so this delays the next minor collection by up to n bytes of allocation. Does
   nothing while luaN_defer withholds a part of the nursery. */
static void payback (global_State *g, size_t n) {
  size_t most = (g->heap.gc.pace.deferred == 0) ? g->heap.spare : 0;
  l_mem back = (l_mem)(n < most ? n : most);
  if (back > luaN_used(g)) back = luaN_used(g);
  if (back <= 0) return;
  g->heap.spare -= (size_t)back;
  /* Leaves heap.limit, the address up to which the fast path allocates, unchanged. The limit may be
     lower than necessary until luaN_setlimit is called. */
  g->GCdebt -= back;
  g->totalbytes += back;
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
