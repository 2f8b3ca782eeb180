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
    char *p = h->free;
    account(g);
    h->free += 8;
    h->mark += 8;  /* the padding is not allocated */
    luaN_giveback_(g, p, 8);
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
            (n <= LUAN_LINE && luaN_nexthole(g, &r, n, 0, desperate));
    h->free = h->mark = r.free;
    h->end = r.end;
    if (!found) return NULL;
  }
  p = h->free;
  h->free += n;
  luaN_handedout(p, n);
  return p;
}


/* n bytes of the region for medium blocks; aligned to 16 for userdata. */
static char *bumpmedium (global_State *g, size_t n, int what, int desperate) {
  luaN_Heap *h = &g->heap;
  luaN_Region *r = &h->medium;
  char *p;
  if ((size_t)(r->end - r->free) < n + 8 &&
      !luaN_nexthole(g, r, n + 8, 1, desperate))
    return NULL;
  if (what == LUA_VUSERDATA && ((uintptr_t)r->free & 15)) {
    p = r->free;
    r->free += 8;
    luaN_giveback_(g, p, 8);
  }
  p = r->free;
  r->free += n;
  luaN_handedout(p, n);
  return p;
}


/*
** Memory for a block that the fast path could not serve. '*outside' tells
** whether it went past the nursery. NULL: there is none.
*/
static char *find (global_State *g, size_t size, int what, int *outside,
                   int desperate) {
  luaN_Heap *h = &g->heap;
  size_t n = luaN_round(size);
  char *p;
  *outside = 0;
  if (size > LUAN_LARGE) {
    int tag = (what < LUAN_VARRAY) ? novariant(what) : 0;
    *outside = 1;
    p = (char *)(*g->frealloc)(g->ud, NULL, (size_t)tag, size);
    if (p != NULL) h->held += size;
    return p;
  }
  if ((p = bump(g, n, desperate)) == NULL && n > LUAN_LINE) {
    *outside = 1;
    p = bumpmedium(g, n, what, desperate);
  }
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
    default: return LUAN_KBUFFER;
  }
}


/* Takes the sample of a block at p; returns the distance to the next. */
static uint64_t take (lua_State *L, char *p, size_t n, int what, int outside,
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
  else s.owner = NULL;
  d = h->sampler->sample(h->sampler->ud, L, &s, over);
  lua_assert(d >= 1);
  return d;
}


/*
** Counts a block at p of n bytes, of which 'old' do not count, and takes the
** sample when the point is reached. 'd' is the distance before it.
*/
static void count (lua_State *L, char *p, size_t n, size_t old, int what,
                   int outside, uint64_t d) {
  luaN_Heap *h = &G(L)->heap;
  uint64_t new = (n > old) ? n - old : 0;
  if (new < d) d -= new;
  else if (what == LUAN_VRESTACK) {
    h->waiting = p;
    h->waitingsize = n;
    h->waitingover = new - d;
    d = 1;  /* of no account: luaN_moved comes before any allocation */
  }
  else d = take(L, p, n, what, outside, new - d);
  setdistance(h, d);
}


void luaN_moved (lua_State *L) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  if (h->waiting != NULL) {
    char *p = (char *)h->waiting;
    h->waiting = NULL;
    setdistance(h, take(L, p, h->waitingsize, LUAN_VRESTACK,
                        h->waitingsize > LUAN_LARGE, h->waitingover));
    luaN_settle(g);
  }
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
  uint64_t d = distance(h);
  int outside;
  char *p = NULL;
  if (l_unlikely(size > MAX_SIZE - LUAN_GRANULE))
    return NULL;
  if (firsttry(g)) p = find(g, size, what, &outside, 0);
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
  return p;
}


void *luaN_slow (lua_State *L, size_t size, int what) {
  void *p = luaN_obtain(L, size, 0, what);
  if (l_unlikely(p == NULL))
    luaM_error(L);
  return p;
}


/* Large block to large block: lua_Alloc's own realloc. */
static void *relarge (lua_State *L, void *block, size_t osize, size_t nsize,
                      int what) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  size_t o = luaN_round(osize), n = luaN_round(nsize);
  char *p = NULL;
  uint64_t d;
  if (l_unlikely(nsize > MAX_SIZE - LUAN_GRANULE))
    return NULL;
  if (firsttry(g))
    p = (char *)(*g->frealloc)(g->ud, block, osize, nsize);
  if (l_unlikely(p == NULL)) {
    if (!canretry(g)) return NULL;
    luaC_fullgc(L, 1);
    p = (char *)(*g->frealloc)(g->ud, block, osize, nsize);
    if (p == NULL) return NULL;
  }
  if (h->watched > 0) h->sampler->freed(h->sampler->ud, L, block);
  h->held += nsize - osize;
  d = distance(h);
  account(g);
  g->GCdebt += (l_mem)n - (l_mem)o;
  if (n > o) h->allocated += n - o;
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
    if (block != NULL) luaN_release(L, block, osize);
    return NULL;
  }
  if (block == NULL && nsize <= LUAN_LARGE &&
      (p = luaN_bump(&g->heap, n)) != NULL)
    return p;
  if (osize > LUAN_LARGE && nsize > LUAN_LARGE) {
    return relarge(L, block, osize, nsize, what);
  }
  if (block != NULL && osize <= LUAN_LARGE && n <= o) {  /* shrink in place */
    if (n < o) {
      g->GCdebt -= (l_mem)(o - n);
      luaN_giveback(g, (char *)block + n, o - n);
    }
    return block;
  }
  p = luaN_obtain(L, nsize, osize, what);
  if (p != NULL && block != NULL) {
    memcpy(p, block, osize < nsize ? osize : nsize);
    luaN_release(L, block, osize);
  }
  return p;
}


void luaN_release (lua_State *L, void *block, size_t size) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  size_t n = luaN_round(size);
  lua_assert((size == 0) == (block == NULL));
  if (block == NULL) return;
  if (l_unlikely(h->watched > 0))
    h->sampler->freed(h->sampler->ud, L, block);
  g->GCdebt -= (l_mem)n;
  if (size > LUAN_LARGE) {
    h->held -= size;
    (*g->frealloc)(g->ud, block, size, 0);
  }
  else luaN_giveback(g, block, n);
}


void luaN_atomic (lua_State *L) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  int major = (g->gckind != KGC_GEN);
  if (major) h->majors++;
  else h->minors++;
  luaN_settle(g);  /* the sweep estimates by differences of GCdebt */
  if (h->sampler != NULL)
    h->sampler->decide(h->sampler->ud, L, major);
  luaN_mustverify(L);
}


void luaN_closing (lua_State *L) {
  luaN_Heap *h = &G(L)->heap;
  if (h->sampler != NULL)
    h->sampler->closing(h->sampler->ud, L);
}


/* {== the seam's part that belongs to the nursery ====================== */

LUA_API void luaN_setsampler (lua_State *L, const luaN_Sampler *s,
                              uint64_t d) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  h->sampler = s;
  h->watched = 0;
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
  return h->allocated + (size_t)(h->free - h->mark);
}


LUA_API void luaN_watch (lua_State *L, int n) {
  luaN_Heap *h = &G(L)->heap;
  h->watched += (size_t)(ptrdiff_t)n;
}


LUA_API int luaN_isdead (lua_State *L, const void *owner) {
  return isdead(G(L), (const GCObject *)owner);
}


LUA_API void luaN_collect (lua_State *L) {
  global_State *g = G(L);
  lu_byte stopped = g->gcstp;
  if ((stopped & (GCSTPGC | GCSTPCLS)) || g->gcstopem) return;
  g->gcstp = 0;
  if (isdecGCmodegen(g)) {
    g->gcemergency = 1;  /* finalizers wait for the next collection */
    luaE_setdebt(g, 0);
    luaC_step(L);
    g->gcemergency = 0;
  }
  else luaC_fullgc(L, 1);
  g->gcstp = stopped;
}


LUA_API int luaN_isclosing (lua_State *L) {
  return (G(L)->gcstp & GCSTPCLS) != 0;
}


LUA_API void luaN_memory (lua_State *L, luaN_Memory *m) {
  global_State *g = G(L);
  m->inuse = (uint64_t)gettotalbytes(g);
  m->held = g->heap.held + LUA_EXTRASPACE + sizeof(lua_State) +
            sizeof(global_State);
  m->minors = g->heap.minors;
  m->majors = g->heap.majors;
}

/* }===================================================================== */
