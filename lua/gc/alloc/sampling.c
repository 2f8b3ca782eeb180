/* SPDX-License-Identifier: MIT */
/* Calls the sampler's functions for samples and events (sampling.h). Implements the functions of
   seam.h that set the sampler. */

#include "ldo.h"
#include "lgc.h"

#include "sampling.h"


luaN_Kind luaN_kindfor (int kind) {
  switch (kind) {
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


/* Calls the sampler for the block of n bytes at p. Returns the distance in bytes to the next
   sample; LUAN_INFINITY without a sampler.
   kind     kind of the block (kind.h)
   outside  1 if the block is not in the hole (run of free lines) in which the fast path allocates
   over     bytes of the block that come after the sample point */
static uint64_t sampling_take (lua_State *L, char *p, uint64_t n, int kind, int outside,
                               uint64_t over) {
  luaN_Heap *h = &G(L)->heap;
  luaN_Sample s;
  uint64_t d;
  if (h->sampler == NULL) return LUAN_INFINITY;
  s.block = p;
  s.size = n;
  s.kind = luaN_kindfor(kind);
  s.outside = outside;
  s.rounding = h->rounding;
  if (kind == LUA_VTHREAD) s.owner = p + LUA_EXTRASPACE;
  else if (kind < LUAN_VARRAY) s.owner = p;
  else if (kind == LUAN_VRESTACK) s.owner = L;
  else if (kind <= LUAN_VSTACK) s.owner = h->resizing;
  else if (kind == LUAN_VOUTSIDE) s.owner = p - offsetof(Udata, outside);
  else s.owner = NULL;
  luaN_callsampler(h, d = h->sampler->sample(h->sampler->ud, L, &s, over));
  lua_assert(d >= 1);
  return d;
}


/* Adds 'new' bytes, those of a new block or the growth of a block, to the exact counts
   (luaN_setcounts). A new block of kind LUAN_VSTACK is a CallInfo if it has the size of one;
   otherwise it is the first stack of a coroutine, which counts as LUAN_KTHREAD. */
static void tally (luaN_Counts *c, int kind, uint64_t new) {
  int isfirst = (kind == LUAN_VSTACK && new != luaN_round(sizeof(CallInfo)));
  luaN_Kind reported = isfirst ? LUAN_KTHREAD : luaN_kindfor(kind);
  c->bytes[reported] += new;
  c->blocks[reported]++;
}


void luaN_countblock (lua_State *L, char *p, uint64_t n, size_t old, int kind,
                      int outside, uint64_t d) {
  luaN_Heap *h = &G(L)->heap;
  uint64_t new = (n > old) ? n - old : 0;
  if (l_unlikely(h->counts != NULL) && new > 0) tally(h->counts, kind, new);
  if (new < d) d -= new;
  else if (kind == LUAN_VRESTACK) {
    h->waiting = p;
    h->waitingsize = n;
    h->waitingoutside = outside;
    h->waitingover = new - d;
    /* a placeholder: luaN_takewaiting sets the next sample point before the next allocation */
    d = 1;
  }
  else d = sampling_take(L, p, n, kind, outside, new - d);
  luaN_setpoint(h, d);
}


/* Counts n new external bytes of userdata u (memory of a library, outside the heap) as if they were
   a block with the address &u->outside. No real block starts at this address, so a sampler can
   watch the external bytes apart from the userdata. */
void luaN_countoutside (lua_State *L, Udata *u, uint64_t n) {
  global_State *g = G(L);
  g->heap.allocatedoutside += n;
  luaN_account(g);
  luaN_countblock(L, (char *)&u->outside, n, 0, LUAN_VOUTSIDE, 1, luaN_topoint(&g->heap));
  luaN_setlimit(g);
}


void luaN_reportfree (lua_State *L, const void *block) {
  luaN_Heap *h = &G(L)->heap;
  luaN_callsampler(h, h->sampler->freed(h->sampler->ud, L, block));
}


void luaN_reportresized (lua_State *L, const void *from, const void *to, uint64_t before,
                       uint64_t after) {
  luaN_Heap *h = &G(L)->heap;
  luaN_callsampler(h, h->sampler->resized(h->sampler->ud, L, from, to, before, after));
}


l_noret luaN_nomemory (lua_State *L) {
  luaN_Heap *h = &G(L)->heap;
  /* luaD_throw below skips the rest of the calling functions. One of them may have made a closure a
     root (luaN_pin), and does not reach its luaN_unpin. */
  h->pinned = NULL;
  if (h->sampler != NULL && h->refusal == NULL)
    luaN_callsampler(h, h->sampler->starved(h->sampler->ud, L));
  luaD_throw(L, LUA_ERRMEM);
}


void luaN_takewaiting (lua_State *L) {
  luaN_Heap *h = &G(L)->heap;
  char *p = (char *)h->waiting;
  if (p == NULL) return;
  h->waiting = NULL;
  luaN_setpoint(h, sampling_take(L, p, h->waitingsize, LUAN_VRESTACK, h->waitingoutside,
                      h->waitingover));
  luaN_flush(G(L));
}


void luaN_atomic (lua_State *L, int major) {
  luaN_Heap *h = &G(L)->heap;
  if (major) h->majors++;
  else h->minors++;
  if (h->sampler != NULL) luaN_callsampler(h, h->sampler->decide(h->sampler->ud, L, major));
}


void luaN_reportcopy (lua_State *L, size_t n) {
  luaN_Heap *h = &G(L)->heap;
  const luaN_Sampler *s = h->sampler;
  uint64_t over = n - h->copyleft;
  h->copyleft = LUAN_NOCOPIES;
  if (s == NULL || s->copied == NULL) return;
  luaN_callsampler(h, h->copyleft = s->copied(s->ud, L, n, over));
  lua_assert(h->copyleft >= 1);
}


/* {== settings of the sampler ========================================== */

LUA_API void luaN_setsampler (lua_State *L, const luaN_Sampler *s, uint64_t d) {
  global_State *g = G(L);
  luaN_Heap *h = &g->heap;
  h->sampler = s;
  h->watched = NULL;
  h->copyleft = LUAN_NOCOPIES;
  luaN_flush(g);
  luaN_setpoint(h, (s == NULL || d > LUAN_INFINITY) ? LUAN_INFINITY : (d < 1) ? 1 : d);
  luaN_setlimit(g);
}


LUA_API const luaN_Sampler *luaN_getsampler (lua_State *L) {
  return G(L)->heap.sampler;
}


LUA_API uint64_t luaN_distance (lua_State *L) {
  luaN_Heap *h = &G(L)->heap;
  return (h->sampler == NULL) ? UINT64_MAX : luaN_topoint(h);
}


LUA_API void luaN_setdistance (lua_State *L, uint64_t d) {
  global_State *g = G(L);
  if (g->heap.sampler != NULL) {
    luaN_setpoint(&g->heap, (d < 1) ? 1 : (d > LUAN_INFINITY) ? LUAN_INFINITY : d);
    luaN_setlimit(g);
  }
}


LUA_API uint64_t luaN_allocated (lua_State *L) {
  const luaN_Heap *h = &G(L)->heap;
  const size_t n = (size_t)(h->free - h->mark);
  return h->allocated + h->allocatedoutside + (n <= LUAN_BLOCK ? n : 0);  /* n: see N2 */
}


LUA_API void luaN_setcounts (lua_State *L, luaN_Counts *to) {
  global_State *g = G(L);
  luaN_mayenter(L, "luaN_setcounts");
  g->heap.counts = to;
  luaN_flush(g);
}


LUA_API void luaN_watch (lua_State *L, const uint64_t *bits, unsigned log2) {
  luaN_Heap *h = &G(L)->heap;
  h->watched = bits;
  h->watchlog = log2;
}

LUA_API void luaN_grown (lua_State *L, size_t n) {
  luaN_countcopy(L, n);
}


LUA_API void luaN_setcopies (lua_State *L, uint64_t distance) {
  G(L)->heap.copyleft = (distance < 1) ? 1 : distance;
}

/* }===================================================================== */
