/* SPDX-License-Identifier: MIT */
/* Sets heap.limit, updates the counts of allocated bytes, and checks limits of the state
   (limit.h). */

#include "lgc.h"
#include "lstring.h"

#include "host.h"
#include "limit.h"


void luaN_setlimit (global_State *g) {
  luaN_Heap *h = &g->heap;
  char *limit = h->end;
  if (h->point <= (uint64_t)(uintptr_t)limit)
    limit = (char *)(uintptr_t)(h->point - 1);
  if (g->GCdebt <= 0 && (size_t)-g->GCdebt < (size_t)(limit - h->free))
    limit = h->free - g->GCdebt;
  if (l_unlikely(h->limits != NULL)) {
    uint64_t left = luaN_left(g);
    if (left < (uint64_t)(limit - h->free)) limit = h->free + left;
  }
  /* Every allocation takes the slow path with LUAN_STRESS=emergency, and while a client counts
     allocations (luaN_setcounts). */
  if (luaN_isstressed(g) || h->counts != NULL) limit = h->free;
  lua_assert(h->free <= limit && limit <= h->end);
  h->limit = limit;
}


void luaN_flush (global_State *g) {
  luaN_account(g);
  luaN_setlimit(g);
}


void luaN_pad (global_State *g) {
  luaN_Heap *h = &g->heap;
  if (((uintptr_t)h->free & 15) && h->end - h->free >= 8) {
    uint64_t d = luaN_topoint(h);
    luaN_account(g);
    h->free += 8;
    h->mark += 8;  /* padding does not count as allocated */
    luaN_setpoint(h, d);
    luaN_setlimit(g);
  }
}


void luaN_retire (global_State *g) {
  luaN_Heap *h = &g->heap;
  uint64_t d;
  luaN_flush(g);
  d = luaN_topoint(h);
  h->free = h->mark = h->end = (char *)h;
  luaN_setpoint(h, d);
  h->overflow.free = h->overflow.end = (char *)h;
  luaN_flush(g);
}


void luaN_recomputelive (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  luaN_flush(g);
  g->totalbytes = (l_mem)(c->bytes.explicit + c->bytes.aged + c->bytes.waiting) +
                  c->bytes.old - g->GCdebt;
}


void luaN_recounted (lua_State *L, GCObject *o, l_mem change) {
  luaN_Gc *c = &G(L)->heap.gc;
  if (luaN_isold(o)) {
    c->bytes.old += change;
    if (change > 0) c->bytes.tenured += (size_t)change;
    if (c->mark.major && luaN_hasepoch(o, c->mark.epoch)) c->mark.reached += change;
  }
}


void luaN_shorten (global_State *g, l_mem n) {
  luaE_setdebt(g, g->GCdebt + n);
  g->heap.gc.pace.nursery -= n;
}


void luaN_hurry (global_State *g) {
  if (!gcrunning(g)) return;
  luaN_flush(g);
  luaN_resume(g);
  if (g->GCdebt <= 0) luaN_shorten(g, 1 - g->GCdebt);
}


void luaN_defer (global_State *g, l_mem gap) {
  luaN_flush(g);
  if (g->GCdebt < -gap) {
    g->heap.gc.pace.deferred = (size_t)(-gap - g->GCdebt);
    luaE_setdebt(g, -gap);
  }
}


int luaN_resume (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  l_mem d = (l_mem)c->pace.deferred;
  if (d == 0) return 0;
  c->pace.deferred = 0;
  luaE_setdebt(g, g->GCdebt - d);
  return g->GCdebt <= 0;
}


/* {== limits of a state ================================================= */

int luaN_compare (lua_State *L, uint64_t n) {
  global_State *g = G(L);
  const luaN_Limits *l = g->heap.limits;
  if (n > luaN_leftallocated(g)) g->heap.refusal = l->whyallocated;
  else {
    /* a collection lowers the bytes in use, but not the bytes allocated so far */
    if (n > luaN_leftinuse(g) && luaN_maycollect(g)) luaN_emergency(L);
    if (n <= luaN_leftinuse(g)) return 0;
    g->heap.refusal = l->whyinuse;
  }
  g->heap.starved = 1;
  return 1;
}


LUA_API void luaN_setlimits (lua_State *L, const luaN_Limits *limits) {
  global_State *g = G(L);
  luaN_mayenter(L, "luaN_setlimits");
  g->heap.limits = limits;
  g->heap.refusal = NULL;
  luaN_flush(g);
}


LUA_API const luaN_Limits *luaN_getlimits (lua_State *L) {
  return G(L)->heap.limits;
}

/* }===================================================================== */
