/* SPDX-License-Identifier: MIT */
/* Measures the pauses of the collector (pause.h). */

#include <time.h>

#include "lgc.h"

#include "pace.h"
#include "pause.h"
#include "sampling.h"


/* Returns t in nanoseconds; 0 if t is negative, because the clock was set back. */
static uint64_t nanoseconds (const struct timespec *t) {
  return (t->tv_sec < 0) ? 0 : (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}


uint64_t luaN_now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return nanoseconds(&t);
}


void luaN_beginpause (global_State *g) {
  g->heap.gc.pause.began = luaN_now();
  if (g->heap.sampler != NULL)
    g->heap.gc.pause.processor = luaN_processor(g->heap.gc.pause.began);
  g->heap.gc.pause.slicebegan = 0;
  /* From here on, explicit frees of blocks that were allocated before this pause do not delay the
     next minor collection (payback in nursery.c). */
  g->heap.spare = 0;
  memset(g->heap.gc.pause.looked, 0, sizeof(g->heap.gc.pause.looked));
}


void luaN_beginslice (global_State *g) {
  if (g->heap.sampler != NULL) g->heap.gc.pause.slicebegan = luaN_processor(luaN_now());
}


/* Returns the nanoseconds from 'then' to 'now'; 0 if the clock was set back. */
static uint64_t between (uint64_t then, uint64_t now) {
  return (now > then) ? now - then : 0;
}


/* Returns the CPU time of all slices of major collections that ran with a sampler, including the
   present one, in nanoseconds. */
static uint64_t slices (const luaN_Gc *c) {
  if (c->pause.slicebegan == 0) return c->pause.slices;
  return c->pause.slices + between(c->pause.slicebegan, luaN_processor(luaN_now()));
}


static uint64_t work (const luaN_Gc *c) {
  const uint64_t *n = c->pause.looked;
  lua_assert(sizeof(c->pause.looked) == LUAN_NLOOKED * sizeof(*n));
  return n[LUAN_LSTACKS] + n[LUAN_LWEAK] + n[LUAN_LLISTED];
}


void luaN_endslice (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  c->pause.last = between(c->pause.began, luaN_now());
  c->pause.sum += c->pause.last;
  if (c->pause.last > c->pause.longest) c->pause.longest = c->pause.last;
  if (work(c) > c->pause.mostwork) c->pause.mostwork = work(c);
  c->pause.slices = slices(c);
  c->pause.slicebegan = 0;
}


void luaN_endpause (lua_State *L) {
  luaN_Heap *h = &G(L)->heap;
  luaN_endslice(G(L));
  if (h->sampler != NULL) luaN_callsampler(h, h->sampler->collected(h->sampler->ud, L));
}


static luaN_Phase phase (const global_State *g) {
  switch (g->gcstate) {
    case GCSpause: return LUAN_NOMAJOR;
    case GCSpropagate: case GCSselect: case GCSatomic: return LUAN_MARKING;
    default: return LUAN_SWEEPING;
  }
}


LUA_API void luaN_memory (lua_State *L, luaN_Memory *m) {
  global_State *g = G(L);
  const luaN_Gc *c = &g->heap.gc;
  m->inuse = (uint64_t)gettotalbytes(g);
  m->held = g->heap.blocks.held + LUA_EXTRASPACE + sizeof(lua_State) +
            sizeof(global_State);
  m->allocated = luaN_allocated(L) - g->heap.allocatedoutside;
  m->buffers = g->heap.buffers;
  m->tenured = c->bytes.alltenured;
  m->nursery = c->pace.nursery;
  m->minors = g->heap.minors;
  m->majors = g->heap.majors;
  m->charged = luaN_charged(g, &m->planned);
  m->outside = c->bytes.outside;
  m->pause = c->pause.last;
  m->longest = c->pause.longest;
  m->pauses = c->pause.sum;
  m->began = c->pause.began;
  m->processor = c->pause.processor;
  m->slices = slices(c);
  memcpy(m->looked, c->pause.looked, sizeof(m->looked));
  m->work = work(c);
  m->mostwork = c->pause.mostwork;
  m->phase = phase(g);
}
