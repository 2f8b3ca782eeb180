/* SPDX-License-Identifier: MIT */
/*
** What allocation does off its fast path (nursery.h): goes to the next hole, or to
** lua_Alloc, counts and samples what it got. Never collects: when memory is short it asks
** its one hook, luaN_emergency, and then tries again.
*/
#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "ldo.h"
#include "lgc.h"
#include "lmem.h"
#include "lstring.h"

#include "ageing.h"
#include "holes.h"
#include "host.h"
#include "limit.h"
#include "nursery.h"
#include "pace.h"
#include "sampling.h"
#include "stress.h"


/* Bytes that lua_Alloc is asked for beside those of a userdata (udataplace). */
#define UDATAROOM	((size_t)16)


/* Does a block of this size and kind come one by one: from lua_Alloc, or in lines for itself? */
static inline int islarge (size_t size, int what) {
  if (l_likely(size <= LUAN_LARGETEXT)) return luaN_isexplicit(what);
  return size > luaN_mostbumped(what) || luaN_isexplicit(what);
}


/* n bytes of a text, up to so many of a nursery (texts.room), count as these. */
#define TEXTCHARGE	((l_mem)128)


/* {== memory ============================================================ */

/*
** In a small heap the rest of the overflow region becomes the current hole, if it has room
** for n bytes: a second block that is partly used would be a good part of such a heap.
** Aligned as a new hole is, for userdata (luaN_pad).
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


/* Bumps n bytes out of the current hole, or the next one that has room. */
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


/* n bytes of the overflow region; aligned to 16 for userdata. */
static char *bumpoverflow (global_State *g, size_t n, int what, int desperate) {
  luaN_Heap *h = &g->heap;
  luaN_Region *r = &h->overflow;
  char *p;
  if ((size_t)(r->end - r->free) < n + 8 &&
      !luaN_holehere(g, r, n + 8) && !luaN_nexthole(g, r, n + 8, desperate))
    return NULL;
  if (what == LUA_VUSERDATA && ((uintptr_t)r->free & 15)) r->free += 8;
  p = r->free;
  r->free += n;
  luaN_handedout(&h->blocks, p, n);
  return p;
}


/* The list that a large block, or the table that owns it, will be in, or NULL. */
static luaN_Vec *listfor (luaN_Gc *c, int what) {
  if (what < LUAN_VARRAY) return &c->lists.large.v;
  if (what == LUAN_VARRAY || what == LUAN_VHASH) return &c->lists.tables.v;
  return NULL;
}


/*
** The place for a userdata in a block of UDATAROOM bytes more: aligned to 16
** whatever lua_Alloc gives. The byte before it says how far from the begin it is, in its lower bits
** (the others are ageing.h's).
*/
static char *udataplace (char *block) {
  char *p = (char *)(((uintptr_t)block + UDATAROOM) &
                     ~(uintptr_t)(UDATAROOM - 1));
  p[-1] = (char)(p - block);
  return p;
}


/* Where the block of a listed string or userdata begins, and its bytes. */
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


/* Lines for n bytes, of the overflow region. */
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


/* A block from lua_Alloc, or in lines for itself, with room in its list. */
static char *newlarge (global_State *g, size_t size, int what, int desperate) {
  luaN_Vec *v = listfor(&g->heap.gc, what);
  size_t room = (what == LUA_VUSERDATA) ? UDATAROOM : 0;
  char *p;
  if (v != NULL && !luaN_reserve(g, v, 1)) return NULL;
  if (luaN_istextkind(what) && size <= LUAN_LINETEXT) p = bumplines(g, size + room, desperate);
  else {
    p = (char *)luaN_callalloc(g, NULL, (what < LUAN_VARRAY)
                               ? (size_t)novariant(what) : 0, size + room);
    if (p != NULL) g->heap.blocks.held += size + room;
  }
  if (p == NULL) return NULL;
  if (room > 0) p = udataplace(p);
  if (what < LUAN_VARRAY) v->a[v->n++] = p;
  if (luaN_isexplicit(what)) g->heap.gc.bytes.explicit += luaN_round(size);
  return p;
}


/*
** Memory for a block that the fast path could not serve. '*outside' tells
** whether it went past the nursery. NULL: there is none.
*/
static char *find (global_State *g, size_t size, int what, int *outside,
                   int desperate) {
  size_t n = luaN_round(size);
  char *p;
  *outside = 1;
  if (islarge(size, what)) return newlarge(g, size, what, desperate);
  if ((p = bump(g, n, desperate)) != NULL) *outside = 0;
  else if (n > LUAN_SMALL) p = bumpoverflow(g, n, what, desperate);
  return p;
}

/* }===================================================================== */


#define canretry(g)	(completestate(g) && !(g)->gcstopem)


/*
** Emergency collections in place of every first try that could be retried
** (the name of the switch is upstream's).
*/
#if defined(EMERGENCYGCTESTS)
#define firsttry(g)	(!canretry(g))
#else
#define firsttry(g)	1
#endif


/* A large block of n bytes is charged to the nursery: a text with little of it, as far as there is
   room for texts. */
static void charge (global_State *g, size_t n, int what) {
  luaN_Heap *h = &g->heap;
  l_mem bytes = (l_mem)n;
  if (luaN_istextkind(what)) {
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


/* A block of 'size' bytes at p goes into the accounts, and may be sampled. 'old' bytes (rounded)
   are not new; 'd' was the distance before it. */
static inline __attribute__((always_inline)) void count (lua_State *L, char *p, size_t size,
                                                         size_t old, int what, int outside,
                                                         uint64_t d) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  size_t n = luaN_round(size);
  if (outside) {
    h->allocated += n;
    if (!islarge(size, what)) g->GCdebt += (l_mem)n;
    else charge(g, n, what);
  }
  luaN_account(g);
  h->allocated -= (old < n) ? old : n;
  h->rounding = (unsigned)(n - size);
  luaN_countblock(L, p, n, old, what, outside, d);
  luaN_setlimit(g);
}


/*
** A block of 'size' > 0 bytes of kind 'what', of which 'oldsize' bytes are not
** new (a block that is being resized). Collects in an emergency; returns NULL
** when there is no memory then.
*/
static void *obtain (lua_State *L, size_t size, size_t oldsize, int what) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  uint64_t d;
  int outside;
  char *p = NULL;
  if (l_unlikely(size > MAX_SIZE - LUAN_GRANULE))
    return NULL;
  luaN_stress(L);
  d = luaN_topoint(h);
  outside = 0;
  if (firsttry(g))
    p = find(g, size, what, &outside, 0);
  if (l_unlikely(p == NULL)) {
    luaN_setpoint(h, d);
    luaN_flush(g);
    if (!canretry(g)) return NULL;
    luaN_emergency(L);
    d = luaN_topoint(h);
    p = find(g, size, what, &outside, 1);
    if (p == NULL) {
      luaN_setpoint(h, d);
      luaN_flush(g);
      h->starved = 1;
      return NULL;
    }
  }
  count(L, p, size, luaN_round(oldsize), what, outside, d);
  if (l_unlikely(h->blocks.refused)) luaN_hurry(g);
  return p;
}


void *luaN_slow (lua_State *L, size_t size, int what) {
  void *p = obtain(L, size, 0, what);
  if (l_unlikely(p == NULL))
    luaM_error(L);
  return p;
}


void luaN_countlate (lua_State *L, void *block, size_t size, int what) {
  lua_assert(islarge(size, what));
  count(L, (char *)block, size, 0, what, 1, luaN_topoint(&G(L)->heap));
}


/*
** n bytes that pass by the nursery, where neither a sample nor a collection is due for them: the
** point and the limit move left (S1, N3). Where it was the hole's end that set the limit it is
** lower than it need be, and the next slow allocation sets it anew.
*/
static int passes (global_State *g, size_t n) {
  luaN_Heap *h = &g->heap;
  if (n >= (size_t)(h->limit - h->free)) return 0;
  g->GCdebt += (l_mem)n;
  h->allocated += n;
  h->point -= n;
  h->limit -= n;
  return 1;
}


/* From lua_Alloc, or nothing, to lua_Alloc: its own realloc. */
static void *relarge (lua_State *L, void *block, size_t osize, size_t nsize,
                      int what) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  size_t o = luaN_round(osize), n = luaN_round(nsize);
  char *p = NULL;
  uint64_t d;
  if (l_unlikely(nsize > MAX_SIZE - LUAN_GRANULE))
    return NULL;
  luaN_stress(L);
  if (firsttry(g))
    p = (char *)luaN_callalloc(g, block, osize, nsize);
  if (l_unlikely(p == NULL)) {
    if (!canretry(g)) return NULL;
    luaN_emergency(L);
    p = (char *)luaN_callalloc(g, block, osize, nsize);
    if (p == NULL) {
      h->starved = 1;
      return NULL;
    }
  }
  if (l_unlikely(h->watched != NULL) && block != NULL) luaN_tellresized(L, block, p, o, n);
  h->blocks.held += nsize - osize;
  if (luaN_isexplicit(what)) h->gc.bytes.explicit += n - o;
  if (n <= o) {
    g->totalbytes -= (l_mem)(o - n);
    return p;
  }
  h->spare += n - o;
  if (what == LUAN_VSTACK || what == LUAN_VRESTACK) luaN_stackgrew(&h->gc, n - o);
  if (passes(g, n - o)) return p;
  d = luaN_topoint(h);
  luaN_account(g);
  g->GCdebt += (l_mem)(n - o);
  h->allocated += n - o;
  luaN_countblock(L, p, n, o, what, 1, d);
  luaN_setlimit(g);
  return p;
}


/*
** Grows an array of o bytes to n where it lies, if what is behind it has not been handed out
** yet: it is the last block of the current hole, or of the overflow region, where an array
** that is being filled stays the last for long. It leaves no garbage, then, and nothing is moved.
*/
static int growsinplace (lua_State *L, char *block, size_t o, size_t n) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  luaN_Region *r = &h->overflow;
  uint64_t d;
  if (block + o == h->free) return luaN_bump(h, n - o) != NULL;
  if (block + o != r->free || (size_t)(r->end - r->free) < n - o) return 0;
  d = luaN_topoint(h);
  luaN_account(g);
  r->free += n - o;
  luaN_handedout(&h->blocks, block + o, n - o);
  g->GCdebt += (l_mem)(n - o);
  h->allocated += n - o;
  luaN_countblock(L, block, n, o, LUAN_VARRAY, 1, d);
  luaN_setlimit(g);
  return 1;
}


void *luaN_resize (lua_State *L, void *block, size_t osize, size_t nsize,
                   int what) {
  global_State *g = G(L);
  size_t o = luaN_round(osize), n = luaN_round(nsize);
  void *p;
  lua_assert((osize == 0) == (block == NULL));
  if (luaN_isexplicit(what) && nsize > 0) return relarge(L, block, osize, nsize, what);
  if (nsize == 0) {
    if (block != NULL) luaN_release(L, block, osize, what);
    return NULL;
  }
  if (block != NULL) {
    if (osize > LUAN_LARGE && nsize > LUAN_LARGE)
      return relarge(L, block, osize, nsize, what);
    if (osize <= LUAN_LARGE && n <= o) {  /* shrink in place */
      if (n < o) {
        if (l_unlikely(g->heap.watched != NULL)) luaN_tellresized(L, block, block, o, n);
        g->totalbytes -= (l_mem)(o - n);
        luaN_forget(&g->heap.blocks, (char *)block + n, o - n);
      }
      return block;
    }
    if (what == LUAN_VARRAY && nsize <= LUAN_LARGE &&
        growsinplace(L, (char *)block, o, n))
      return block;
  }
  else if (nsize <= LUAN_LARGE && (p = luaN_bump(&g->heap, n)) != NULL) return p;
  p = obtain(L, nsize, osize, what);
  if (p != NULL && block != NULL) {
    memcpy(p, block, osize < nsize ? osize : nsize);
    if (l_unlikely(g->heap.watched != NULL)) luaN_tellresized(L, block, p, o, n);
    luaN_release(L, block, osize, what);
  }
  return p;
}


/* A large block of n bytes is freed by hand: what is no garbage brings no collection nearer, as
   far as the nursery has been charged with large blocks, and still is: what they were charged
   may have been taken back otherwise (luaN_uncharge, a restart). */
static void payback (global_State *g, size_t n) {
  size_t most = (g->heap.gc.pace.deferred == 0) ? g->heap.spare : 0;
  l_mem back = (l_mem)(n < most ? n : most), charged;
  if (back == 0) return;
  charged = g->GCdebt + luaN_unflushed(g) + (l_mem)g->heap.gc.pace.nursery;
  if (back > charged) back = charged;
  if (back <= 0) return;
  g->heap.spare -= (size_t)back;
  g->GCdebt -= back;
  g->totalbytes += back;  /* the limit is lower than it need be, as in passes */
}


void luaN_release (lua_State *L, void *block, size_t size, int what) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  size_t n = luaN_round(size);
  lua_assert((size == 0) == (block == NULL));
  if (block == NULL) return;
  if (l_unlikely(h->watched != NULL)) luaN_tellfree(L, block);
  g->totalbytes -= (l_mem)n;
  if (what == LUAN_VSTACK) luaN_recounted(L, obj2gco(L), -(l_mem)n);
  if (islarge(size, what)) {
    if (luaN_isexplicit(what)) h->gc.bytes.explicit -= n;
    luaN_ask(g, block, size, 0);
    payback(g, n);
  }
  else luaN_forget(&h->blocks, (char *)block, n);
}
