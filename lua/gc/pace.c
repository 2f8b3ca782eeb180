/* SPDX-License-Identifier: MIT */
/*
** Accounts, and what they decide: how large the next nursery is, when a major
** collection begins. The statistics that users see are kept here too.
**
** A nursery is twice what is old, or a 64th of all that the state has allocated,
** within bounds: a state that does little stays small; one that is large, or has
** been busy, has a nursery that fits into the cache of a core (from 256 KiB to
** 1 MiB makes no difference that can be told from noise; with 64 KiB, programs
** of small heaps spend a tenth of their time on the holes between survivors).
**
** The debug build reads LUAN_STRESS from the environment when a state is made:
**   nursery=N   bytes of every nursery (1: a collection at every safe point)
**   major       a major collection always runs, a slice at every minor one
**   verify=N    the heap is verified after every N-th collection only
**   emergency=N a full collection, as in an emergency, before every N-th
**               allocation and every N-th place that asks whether one is overdue;
**               beside k times 64 KiB of old objects before one in N * (k + 1)
*/
#define LUA_CORE

#include "lprefix.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lua.h"

#include "lgc.h"
#include "lobject.h"
#include "lstate.h"

#include "collector.h"
#include "seam.h"

/* Bytes of the nursery: of a small state, and at most. */
#define NURSERY_MIN	((size_t)64 * 1024)
#define NURSERY_MAX	((size_t)512 * 1024)

/* Part of a state's allocation that its nursery may be. */
#define BUSY		64u

/* Live bytes below which a heap may grow by as much before a collection. */
#define SLACK		((size_t)512 * 1024)

/* Part of the growth that is granted whatever the heap takes up. */
#define EARLY		3u

/* Percent of the multiplier: the rest is for what is allocated meanwhile. */
#define SHARE		60u

/* Bytes of old objects that may be looked at for one allocation (LUAN_STRESS). */
#define CHEAP		((l_mem)64 * 1024)

/* Largest step that the incremental mode may be set to (log2 of bytes). */
#define LARGESTSTEP	30


/* {== accounts ========================================================= */

void luaN_emptyhands (global_State *g) {
  luaN_Heap *h = &g->heap;
  uint64_t distance;
  luaN_settle(g);
  distance = h->point - (uint64_t)(uintptr_t)h->free;
  h->free = h->mark = h->end = (char *)h;
  h->point = (uint64_t)(uintptr_t)h->free + distance;
  h->medium.free = h->medium.end = (char *)h;
  luaN_settle(g);
}


void luaN_recount (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  luaN_settle(g);
  g->totalbytes = (l_mem)c->explicit + c->old - g->GCdebt;
}


size_t luaN_stepsize (global_State *g) {
  return (size_t)1 << (g->gcstepsize < LARGESTSTEP ? g->gcstepsize : LARGESTSTEP);
}


void luaN_newnursery (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t n, total = gettotalbytes(g);
  if (!gcrunning(g)) n = NURSERY_MAX;
  else if (c->fixednursery != 0) n = c->fixednursery;
  else if (c->fullcycles && g->gcstate == GCSpause)
    n = (c->threshold > total) ? c->threshold - total : 1;
  else if (c->fullcycles)
    n = luaN_stepsize(g);
  else {
    uint64_t busy = g->heap.allocated / BUSY;
    n = 2 * (size_t)c->old;
    if (n < busy) n = (busy < NURSERY_MAX) ? (size_t)busy : NURSERY_MAX;
    n = (n < NURSERY_MIN) ? NURSERY_MIN : (n > NURSERY_MAX) ? NURSERY_MAX : n;
  }
  c->nursery = n;
  luaE_setdebt(g, -(l_mem)n);
}


/* Bytes that the heap takes up: what lua_Alloc gave, less the empty blocks. */
static size_t footprint (const luaN_Heap *h) {
  return h->held - h->nempty * (size_t)LUAN_BLOCK;
}


int luaN_majordue (global_State *g) {
  const luaN_Gc *c = &g->heap.gc;
  size_t total = gettotalbytes(g);
  size_t taken = footprint(&g->heap);
  return total >= c->threshold || taken >= c->wide ||
         (total >= c->early && taken >= c->threshold);
}


/*
** The generational multiplier bounds what the heap takes up, not only the bytes
** in use: the lines that survivors share with the dead count, once the bytes in
** use have grown enough for a collection to be worth its while. Whatever is in
** use, it is worth one when the heap takes up that much more than it did: an old
** vector that is freed by hand leaves the lines that it shared with its
** neighbours.
*/
void luaN_setthreshold (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  size_t live = gettotalbytes(g), unit = live / 100, t;
  unsigned percent = c->fullcycles ? (unsigned)getgcparam(g->gcpause)
                                   : 100u + getgcparam(g->genmajormul) * SHARE / 100;
  t = (percent != 0 && unit > MAX_LMEM / percent) ? MAX_LMEM : unit * percent;
  if (!c->fullcycles && t < live + SLACK) t = live + SLACK;
  c->early = c->fullcycles ? t : live + (t - live) / EARLY;
  if (c->stressmajor) t = c->early = 0;
  c->threshold = t;
  c->wide = t + footprint(&g->heap);
}

/* }===================================================================== */


/* {== statistics ======================================================= */

static uint64_t now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}


void luaN_beginpause (global_State *g) {
  g->heap.gc.began = now();
}


void luaN_endpause (lua_State *L) {
  luaN_Heap *h = &G(L)->heap;
  luaN_Gc *c = &h->gc;
  c->pause = now() - c->began;
  c->pauses += c->pause;
  if (c->pause > c->longest) c->longest = c->pause;
  if (h->sampler == NULL) return;
  luaN_asking(h, 1);
  h->sampler->collected(h->sampler->ud, L);
  luaN_asking(h, 0);
}


static luaN_Phase phase (const global_State *g) {
  switch (g->gcstate) {
    case GCSpause: return LUAN_NOMAJOR;
    case GCSpropagate: case GCSatomic: return LUAN_MARKING;
    default: return LUAN_SWEEPING;
  }
}


LUA_API void luaN_memory (lua_State *L, luaN_Memory *m) {
  global_State *g = G(L);
  const luaN_Gc *c = &g->heap.gc;
  m->inuse = (uint64_t)gettotalbytes(g);
  m->held = g->heap.held + LUA_EXTRASPACE + sizeof(lua_State) +
            sizeof(global_State);
  m->allocated = luaN_allocated(L);
  m->tenured = c->alltenured;
  m->nursery = c->nursery;
  m->minors = g->heap.minors;
  m->majors = g->heap.majors;
  m->pause = c->pause;
  m->longest = c->longest;
  m->pauses = c->pauses;
  m->began = c->began;
  m->phase = phase(g);
}


LUA_API uint64_t luaN_setnursery (lua_State *L, uint64_t n) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  uint64_t before = c->fixednursery;
  if (n != LUAN_ASK) {
    c->fixednursery = (n > MAX_LMEM / 2) ? MAX_LMEM / 2 : (size_t)n;
    luaN_newnursery(g);
  }
  return before;
}

/* }===================================================================== */


#if defined(LUAN_DEBUG)
void luaN_readstress (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  const char *s = getenv("LUAN_STRESS"), *p;
  if (s == NULL) return;
  if ((p = strstr(s, "nursery=")) != NULL)
    c->fixednursery = strtoul(p + 8, NULL, 10);
  if ((p = strstr(s, "verify=")) != NULL)
    c->stressverify = (unsigned)strtoul(p + 7, NULL, 10);
  if ((p = strstr(s, "emergency=")) != NULL) {
    c->stressemergency = (unsigned)strtoul(p + 10, NULL, 10);
    luaN_settle(g);
  }
  if (strstr(s, "major") != NULL) {
    c->stressmajor = 1;
    c->threshold = 0;
  }
}


/* Safe points stay where they would be: there finalizers are called. */
void luaN_stress (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  if (c->stressemergency == 0 || !completestate(g) || g->gcstopem) return;
  if (c->untilemergency == 0) {
    l_mem debt;
    luaN_settle(g);
    debt = g->GCdebt;
    luaC_fullgc(L, 1);
    luaE_setdebt(g, debt);
    c->untilemergency = c->stressemergency * (1 + (unsigned)(c->old / CHEAP));
  }
  c->untilemergency--;
}
#endif
