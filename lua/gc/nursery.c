/* SPDX-License-Identifier: MIT */
/*
** Everything that allocation does off its fast path (nursery.h): asks why the
** limit was reached, takes the sample, goes to the next hole, keeps the
** accounts that pace the collector. The only file that moves nursery_free,
** nursery_limit and the sample point.
*/
#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "lua.h"

#include "ldo.h"
#include "lgc.h"
#include "lmem.h"
#include "lobject.h"
#include "lstate.h"

#include "collector.h"
#include "memory.h"
#include "seam.h"


/* {== the limit and the accounts ======================================= */

static void setlimit (global_State *g) {
  luaN_Heap *h = &g->heap;
  char *limit = h->end;
  if (h->point <= (uint64_t)(uintptr_t)limit)
    limit = (char *)(uintptr_t)(h->point - 1);
  if (g->GCdebt <= 0 && (size_t)-g->GCdebt < (size_t)(limit - h->free))
    limit = h->free - g->GCdebt;
  if (luaN_isstressed(g)) limit = h->free;  /* no allocation passes by us */
  lua_assert(h->free <= limit && limit <= h->end);
  h->limit = limit;
}


static void account (global_State *g) {
  luaN_Heap *h = &g->heap;
  g->GCdebt += h->free - h->mark;
  h->allocated += (size_t)(h->free - h->mark);
  h->mark = h->free;
}


void luaN_settle (global_State *g) {
  account(g);
  setlimit(g);
}


static uint64_t distance (const luaN_Heap *h) {
  return h->point - (uint64_t)(uintptr_t)h->free;
}


static void setdistance (luaN_Heap *h, uint64_t d) {
  h->point = (uint64_t)(uintptr_t)h->free + d;
}


void luaN_pad (global_State *g) {
  luaN_Heap *h = &g->heap;
  if (((uintptr_t)h->free & 15) && h->end - h->free >= 8) {
    uint64_t d = distance(h);
    account(g);
    h->free += 8;
    h->mark += 8;  /* the padding is not allocated */
    setdistance(h, d);
    setlimit(g);
  }
}

/* }===================================================================== */


/* {== memory =========================================================== */

/* Bumps n bytes out of the hole in hand, or the next one that has room. */
static char *bump (global_State *g, size_t n, int desperate) {
  luaN_Heap *h = &g->heap;
  char *p;
  if ((size_t)(h->end - h->free) < n) {
    luaN_Region r;
    int found;
    account(g);
    r.free = h->free; r.end = h->end;
    found = luaN_holehere(g, &r, n) ||
            ((n <= LUAN_SMALL || h->end == (char *)h) &&
             luaN_nexthole(g, &r, n, desperate));
    h->free = h->mark = r.free;
    h->end = r.end;
    if (!found) return NULL;
  }
  p = h->free;
  h->free += n;
  luaN_handedout(h, p, n);
  return p;
}


/* n bytes of the region for medium blocks; aligned to 16 for userdata. */
static char *bumpmedium (global_State *g, size_t n, int what, int desperate) {
  luaN_Heap *h = &g->heap;
  luaN_Region *r = &h->medium;
  char *p;
  if ((size_t)(r->end - r->free) < n + 8 &&
      !luaN_holehere(g, r, n + 8) && !luaN_nexthole(g, r, n + 8, desperate))
    return NULL;
  if (what == LUA_VUSERDATA && ((uintptr_t)r->free & 15)) r->free += 8;
  p = r->free;
  r->free += n;
  luaN_handedout(h, p, n);
  return p;
}


/* The list that a block from lua_Alloc, or its owner, will be in, or NULL. */
static luaN_Vec *listfor (luaN_Gc *c, int what) {
  if (what < LUAN_VARRAY) return &c->large.v;
  if (what == LUAN_VARRAY || what == LUAN_VHASH) return &c->tables.v;
  return NULL;
}


/*
** The place for a userdata in a block of LUAN_UDATAROOM bytes more: aligned to 16
** whatever lua_Alloc gives. The byte before it says how far from the begin it is.
*/
static char *udataplace (char *block) {
  char *p = (char *)(((uintptr_t)block + LUAN_UDATAROOM) &
                     ~(uintptr_t)(LUAN_UDATAROOM - 1));
  p[-1] = (char)(p - block);
  return p;
}


void luaN_freeudata (global_State *g, void *o, size_t size) {
  char *p = (char *)o;
  luaN_ask(g, p - p[-1], size + LUAN_UDATAROOM, 0);
}


/* A block from lua_Alloc, with room in its list. */
static char *apart (global_State *g, size_t size, int what) {
  luaN_Vec *v = listfor(&g->heap.gc, what);
  size_t room = (what == LUA_VUSERDATA) ? LUAN_UDATAROOM : 0;
  char *p;
  if (v != NULL && !luaN_reserve(g, v, 1)) return NULL;
  p = (char *)luaN_callalloc(g, NULL, (what < LUAN_VARRAY)
                             ? (size_t)novariant(what) : 0, size + room);
  if (p == NULL) return NULL;
  g->heap.held += size + room;
  if (room > 0) p = udataplace(p);
  if (what < LUAN_VARRAY) v->a[v->n++] = p;
  if (luaN_isexplicit(what)) g->heap.gc.explicit += luaN_round(size);
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
  if (size > LUAN_LARGE || luaN_isexplicit(what)) return apart(g, size, what);
  if ((p = bump(g, n, desperate)) != NULL) *outside = 0;
  else if (n > LUAN_SMALL) p = bumpmedium(g, n, what, desperate);
  return p;
}

/* }===================================================================== */


/* {== samples ========================================================== */

static luaN_Kind kindof (int what) {
  switch (what) {
    case LUA_VTABLE: return LUAN_KTABLE;
    case LUAN_VARRAY: return LUAN_KARRAY;
    case LUAN_VHASH: return LUAN_KHASH;
    case LUA_VSHRSTR: case LUA_VLNGSTR: return LUAN_KSTRING;
    case LUA_VLCL: return LUAN_KLCLOSURE;
    case LUA_VCCL: return LUAN_KCCLOSURE;
    case LUA_VUPVAL: return LUAN_KUPVALUE;
    case LUA_VUSERDATA: return LUAN_KUSERDATA;
    case LUA_VTHREAD: return LUAN_KTHREAD;
    case LUAN_VSTACK: case LUAN_VRESTACK: return LUAN_KSTACK;
    case LUA_VPROTO: case LUAN_VPROTO: return LUAN_KPROTO;
    case LUAN_VOUTSIDE: return LUAN_KOUTSIDE;
    default: return LUAN_KBUFFER;
  }
}


/* Takes the sample of a block at p; returns the distance to the next. */
static uint64_t take (lua_State *L, char *p, uint64_t n, int what, int outside,
                      uint64_t over) {
  luaN_Heap *h = &G(L)->heap;
  luaN_Sample s;
  uint64_t d;
  if (h->sampler == NULL) return LUAN_INFINITY;
  s.block = p;
  s.size = n;
  s.kind = kindof(what);
  s.outside = outside;
  if (what == LUA_VTHREAD) s.owner = p + LUA_EXTRASPACE;
  else if (what < LUAN_VARRAY) s.owner = p;
  else if (what == LUAN_VRESTACK) s.owner = L;
  else if (what <= LUAN_VSTACK) s.owner = h->resizing;
  else if (what == LUAN_VOUTSIDE) s.owner = p - offsetof(Udata, outside);
  else s.owner = NULL;
  luaN_asking(h, 1);
  d = h->sampler->sample(h->sampler->ud, L, &s, over);
  luaN_asking(h, 0);
  lua_assert(d >= 1);
  return d;
}


/*
** Counts a block at p of n bytes, of which 'old' do not count, and takes the
** sample when the point is reached. 'd' is the distance before it.
*/
static void count (lua_State *L, char *p, uint64_t n, size_t old, int what,
                   int outside, uint64_t d) {
  luaN_Heap *h = &G(L)->heap;
  uint64_t new = (n > old) ? n - old : 0;
  if (new < d) d -= new;
  else if (what == LUAN_VRESTACK) {
    h->waiting = p;
    h->waitingsize = n;
    h->waitingoutside = outside;
    h->waitingover = new - d;
    d = 1;  /* of no account: luaN_moved comes before any allocation */
  }
  else d = take(L, p, n, what, outside, new - d);
  setdistance(h, d);
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


void *luaN_obtain (lua_State *L, size_t size, size_t oldsize, int what) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  size_t n = luaN_round(size);
  size_t old = luaN_round(oldsize);
  uint64_t d;
  int outside;
  char *p = NULL;
  if (l_unlikely(size > MAX_SIZE - LUAN_GRANULE))
    return NULL;
  luaN_stress(L);
  d = distance(h);
  outside = 0;
  if (firsttry(g))
    p = find(g, size, what, &outside, 0);
  if (l_unlikely(p == NULL)) {
    setdistance(h, d);
    luaN_settle(g);
    if (!canretry(g)) return NULL;
    luaC_fullgc(L, 1);  /* an emergency; finalizers wait */
    d = distance(h);
    p = find(g, size, what, &outside, 1);
    if (p == NULL) {
      setdistance(h, d);
      luaN_settle(g);
      h->starved = 1;
      return NULL;
    }
  }
  if (outside) {
    g->GCdebt += (l_mem)n;
    h->allocated += n;
  }
  account(g);
  h->allocated -= (old < n) ? old : n;
  count(L, p, n, old, what, outside, d);
  setlimit(g);
  if (l_unlikely(h->gc.refused)) luaN_hurry(g);
  return p;
}


void *luaN_slow (lua_State *L, size_t size, int what) {
  void *p = luaN_obtain(L, size, 0, what);
  if (l_unlikely(p == NULL))
    luaM_error(L);
  return p;
}


/* Does a block of this size and kind come from lua_Alloc? */
static int isapart (size_t size, int what) {
  return size > LUAN_LARGE || luaN_isexplicit(what);
}


/* A block is freed by hand while the sampler watches some: is it one of these?
   Apart, so that who frees has no registers to save for it. */
static __attribute__((noinline)) void tellfree (lua_State *L,
                                                const void *block) {
  luaN_Heap *h = &G(L)->heap;
  unsigned bit = luaN_watchbit(block, h->watchlog);
  if (l_unlikely(h->watched[bit / 64] >> bit % 64 & 1)) {
    luaN_asking(h, 1);
    h->sampler->freed(h->sampler->ud, L, block);
    luaN_asking(h, 0);
  }
}


/* From lua_Alloc to lua_Alloc: its own realloc. */
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
    luaC_fullgc(L, 1);
    p = (char *)luaN_callalloc(g, block, osize, nsize);
    if (p == NULL) {
      h->starved = 1;
      return NULL;
    }
  }
  if (l_unlikely(h->watched != NULL)) tellfree(L, block);
  h->held += nsize - osize;
  if (luaN_isexplicit(what)) h->gc.explicit += n - o;
  d = distance(h);
  account(g);
  if (n > o) {
    g->GCdebt += (l_mem)(n - o);
    h->allocated += n - o;
  }
  else g->totalbytes -= (l_mem)(o - n);
  count(L, p, n, o, what, 1, d);
  setlimit(g);
  return p;
}


void *luaN_resize (lua_State *L, void *block, size_t osize, size_t nsize,
                   int what) {
  global_State *g = G(L);
  size_t o = luaN_round(osize), n = luaN_round(nsize);
  void *p;
  lua_assert((osize == 0) == (block == NULL));
  if (nsize == 0) {
    if (block != NULL) luaN_release(L, block, osize, what);
    return NULL;
  }
  if (block != NULL) {
    if (isapart(osize, what) && isapart(nsize, what))
      return relarge(L, block, osize, nsize, what);
    if (!isapart(osize, what) && n <= o) {  /* shrink in place */
      if (n < o) {
        g->totalbytes -= (l_mem)(o - n);
        luaN_forget(&g->heap, (char *)block + n, o - n);
      }
      return block;
    }
  }
  else if (!isapart(nsize, what) && (p = luaN_bump(&g->heap, n)) != NULL)
    return p;
  p = luaN_obtain(L, nsize, osize, what);
  if (p != NULL && block != NULL) {
    memcpy(p, block, osize < nsize ? osize : nsize);
    luaN_release(L, block, osize, what);
  }
  return p;
}


void luaN_release (lua_State *L, void *block, size_t size, int what) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  size_t n = luaN_round(size);
  lua_assert((size == 0) == (block == NULL));
  if (block == NULL) return;
  if (l_unlikely(h->watched != NULL)) tellfree(L, block);
  g->totalbytes -= (l_mem)n;
  if (what == LUAN_VSTACK) luaN_recounted(L, obj2gco(L), -(l_mem)n);
  if (isapart(size, what)) {
    if (luaN_isexplicit(what)) h->gc.explicit -= n;
    luaN_ask(g, block, size, 0);
  }
  else luaN_forget(h, (char *)block, n);
}


void luaN_moved (lua_State *L, int oldsize) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  if (L->marked & LUAN_ASLEEP) luaN_wake(L);
  luaN_recounted(L, obj2gco(L),
                 (l_mem)(L->stackroom - oldsize) * (l_mem)sizeof(StackValue));
  if (h->waiting != NULL) {
    char *p = (char *)h->waiting;
    h->waiting = NULL;
    setdistance(h, take(L, p, h->waitingsize, LUAN_VRESTACK,
                        h->waitingoutside, h->waitingover));
    luaN_settle(g);
  }
}


/* Its address in the userdata is the block: nothing else can have it. */
void luaN_countoutside (lua_State *L, Udata *u, uint64_t n) {
  global_State *g = G(L);
  g->heap.announced += n;
  account(g);
  count(L, (char *)&u->outside, n, 0, LUAN_VOUTSIDE, 1, distance(&g->heap));
  setlimit(g);
}


void luaN_tookback (lua_State *L, Udata *u) {
  if (G(L)->heap.watched != NULL) tellfree(L, &u->outside);
}


void luaN_atomic (lua_State *L, int major) {
  luaN_Heap *h = &G(L)->heap;
  if (major) h->majors++;
  else h->minors++;
  if (h->sampler == NULL) return;
  luaN_asking(h, 1);
  h->sampler->decide(h->sampler->ud, L, major);
  luaN_asking(h, 0);
}


void luaN_closing (lua_State *L) {
  luaN_Heap *h = &G(L)->heap;
  if (h->sampler == NULL) return;
  if (L->ci == &L->base_ci) luaN_afterchunk(L, h->sampler->closing, h->sampler->ud);
  else h->sampler->closing(h->sampler->ud, L);
}


/* {== the seam's part that belongs to the nursery ====================== */

LUA_API void luaN_setsampler (lua_State *L, const luaN_Sampler *s,
                              uint64_t d) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  h->sampler = s;
  h->watched = NULL;
  luaN_settle(g);
  setdistance(h, (s == NULL || d > LUAN_INFINITY) ? LUAN_INFINITY
                                                  : (d < 1) ? 1 : d);
  setlimit(g);
}


LUA_API const luaN_Sampler *luaN_getsampler (lua_State *L) {
  return G(L)->heap.sampler;
}


LUA_API uint64_t luaN_distance (lua_State *L) {
  luaN_Heap *h = &G(L)->heap;
  return (h->sampler == NULL) ? UINT64_MAX : distance(h);
}


LUA_API void luaN_setdistance (lua_State *L, uint64_t d) {
  global_State *g = G(L);
  if (g->heap.sampler != NULL) {
    setdistance(&g->heap, (d < 1) ? 1 : (d > LUAN_INFINITY) ? LUAN_INFINITY : d);
    setlimit(g);
  }
}


LUA_API uint64_t luaN_allocated (lua_State *L) {
  luaN_Heap *h = &G(L)->heap;
  return h->allocated + h->announced + (size_t)(h->free - h->mark);
}


LUA_API void luaN_watch (lua_State *L, const uint64_t *bits, unsigned log2) {
  luaN_Heap *h = &G(L)->heap;
  h->watched = bits;
  h->watchlog = log2;
}


LUA_API int luaN_isdead (lua_State *L, const void *owner) {
  return luaN_white(G(L), (const GCObject *)owner);
}


LUA_API int luaN_isclosing (lua_State *L) {
  return (G(L)->gcstp & GCSTPCLS) != 0;
}

/* }===================================================================== */
