/* SPDX-License-Identifier: MIT */
/*
** Pauses (pause.h).
*/
#define LUA_CORE

#include "lprefix.h"

#include <time.h>

#include "lgc.h"

#include "debug.h"
#include "pause.h"
#include "sampling.h"
#include "seam.h"


uint64_t luaN_now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}


void luaN_beginpause (global_State *g) {
  g->heap.gc.began = luaN_now();
  g->heap.gc.work = 0;
}


void luaN_endslice (global_State *g) {
  luaN_Gc *c = &g->heap.gc;
  c->pause = luaN_now() - c->began;
  c->pauses += c->pause;
  if (c->pause > c->longest) c->longest = c->pause;
  if (c->work > c->mostwork) c->mostwork = c->work;
}


void luaN_endpause (lua_State *L) {
  luaN_Heap *h = &G(L)->heap;
  luaN_endslice(G(L));
  if (h->sampler == NULL) return;
  luaN_asking(h, 1);
  h->sampler->collected(h->sampler->ud, L);
  luaN_asking(h, 0);
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
  m->allocated = luaN_allocated(L) - g->heap.announced;
  m->tenured = c->alltenured;
  m->nursery = c->nursery;
  m->minors = g->heap.minors;
  m->majors = g->heap.majors;
  m->outside = c->outside;
  m->pause = c->pause;
  m->longest = c->longest;
  m->pauses = c->pauses;
  m->began = c->began;
  m->work = c->work;
  m->mostwork = c->mostwork;
  m->phase = phase(g);
}
