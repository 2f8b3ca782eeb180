/* SPDX-License-Identifier: MIT */
/*
** The major collection, in slices between minor ones:
**
**   GCSpause       none runs
**   GCSpropagate   marking; ends with an atomic step right after a minor
**                  collection, when all changes have been seen: weak tables,
**                  finalizers
**   GCSswpallgc    dead strings leave the string table, bucket by bucket
**   GCSswpfinobj   lists of what lua_Alloc gave one by one
**   GCSswpend      lines lose the marks of the colour before, block by block
**
** A slice begins right after a minor collection: there is nothing young. Dead
** objects stay whole until their lines are swept, when nothing can reach them:
** a dead string that is made again meanwhile comes back to life (isdead).
*/
#define LUA_CORE

#include "lprefix.h"

#include "lua.h"

#include "ldo.h"
#include "lgc.h"
#include "lobject.h"
#include "lstate.h"
#include "lstring.h"

#include "collector.h"
#include "seam.h"

/* Cost of a bucket and of a block, in bytes looked at by a slice of marking. */
#define BUCKETCOST	48u
#define BLOCKCOST	384u

/* Bytes of a slice. */
#define SLICE		((size_t)128 * 1024)

/* Blocks kept for the next need, beside an eighth of all; chunks that are given
   back after a minor collection. */
#define RESERVE		32u
#define TRIMMED		2u

/* CallInfos that a thread may keep when it sleeps. */
#define FEWCALLS	16u


static void takecolour (luaN_Gc *c) {
  /* the one that no object has */
  lu_byte next = (lu_byte)(6 - c->colour - c->before);
  c->before = c->colour;
  c->colour = next;
  c->fixedseen = 0;
}


void luaN_beginmajor (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  lua_assert(g->gcstate == GCSpause);
  takecolour(c);
  c->reached = 0;
  c->marking = 1;
  g->gcstate = GCSpropagate;
  luaN_markroots(L);
}


/* Everything that is alive gets its colour; the rest is dead. The roots have it:
   a minor collection has just seen them. */
static void atomic (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  lu_byte stopem = g->gcstopem;
  g->gcstopem = 1;
  g->gcstate = GCSatomic;
  luaN_finishmarks(L);
  lua_assert(c->gray.n == 0 && c->major.n == 0 && c->table == NULL);
  luaN_reclaimed(g, c->old - c->reached);
  c->old = c->reached;
  c->marking = 0;
  c->sweeping = 1;
  luaN_atomic(L, 1);
  c->bucket = 0;
  g->gcstate = GCSswpallgc;
  g->gcstopem = stopem;
}


/* Stacks and the string table give back what they no longer need. */
static void shrink (lua_State *L, int all) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  size_t i;
  if (g->gcemergency) return;
  if (all || c->fullcycles) {  /* else after some minor ones (collect.c) */
    luaN_shrinkthread(L, all);
    if (L != g->mainthread) luaN_shrinkthread(g->mainthread, all);
  }
  for (i = 0; i < c->threads.v.n; i++) {
    lua_State *th = (lua_State *)c->threads.v.a[i];
    if (th != L && th->stack.p != NULL &&
        (th->stackroom > 2 * BASIC_STACK_SIZE || th->nci > FEWCALLS))
      luaN_shrinkthread(th, all);
  }
  luaN_shrinkstrings(L);
}


/* The last of it: what was resized or set aside while it ran. */
static void endmajor (lua_State *L, int all) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  c->sweeping = 0;
  g->gcstate = GCSpause;
  c->trimming = 1;
  luaN_shrinkvec(g, &c->gray);
  luaN_shrinkvec(g, &c->major);
  luaN_shrinkvec(g, &c->touched);
  luaN_shrinkvec(g, &c->weak);
  luaN_shrinkvec(g, &c->majorweak);
  luaN_shrinkvec(g, &c->open);
  luaN_shrinkfinalizers(g);
  shrink(L, all);
  luaN_recount(g);
  luaN_cycleended(g);
}


/* At most about 'bytes' of the phase that is due. Returns what it cost. */
static size_t slice (lua_State *L, size_t bytes) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  switch (g->gcstate) {
    case GCSpropagate:
      if (luaN_markslice(g, bytes)) atomic(L);
      return bytes;
    case GCSswpallgc:
      if (luaN_sweepstrings(g, (int)(bytes / BUCKETCOST) + 1))
        g->gcstate = GCSswpfinobj;
      return bytes;
    case GCSswpfinobj:
      luaN_sweeplists(L);
      c->chunk = g->heap.chunks;
      c->block = 0;
      g->gcstate = GCSswpend;
      return c->threads.v.n * BUCKETCOST;
    default: {
      unsigned n = (unsigned)(bytes / BLOCKCOST) + 1;
      lua_assert(g->gcstate == GCSswpend);
      if (luaN_sweeplines(g, luaN_bit(c->colour), n) < n) endmajor(L, 0);
      return bytes;
    }
  }
}


void luaN_trimheap (global_State *g, int all) {
  luaN_Gc *c = &g->heap.gc;
  unsigned n = all ? ~0u : TRIMMED;
  if (luaN_trim(g, all && g->gcemergency ? 0 : RESERVE + g->heap.nblocks / 8, n)
      < n)
    c->trimming = 0;
}


void luaN_majorstep (lua_State *L, size_t bytes) {
  global_State *g = G(L);
  while (bytes > 0 && g->gcstate != GCSpause) {
    size_t cost = slice(L, bytes < SLICE ? bytes : SLICE);
    bytes -= (cost < bytes) ? cost : bytes;
  }
}


void luaN_full (lua_State *L) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  lu_byte stopem = g->gcstopem;
  g->gcstopem = 1;
  luaN_emptyhands(g);
  luaN_forgetall(L);
  c->major.n = 0;  /* of one that was running */
  luaN_forgetweak(g);
  c->table = NULL;
  takecolour(c);
  c->reached = 0;
  c->tenured = 0;
  c->marking = 1;
  c->sweeping = 0;
  g->gcstate = GCSatomic;
  if (g->heap.inflight != NULL)
    luaN_marklines(g, g->heap.inflight, g->heap.inflightsize);
  luaN_markroots(L);
  luaN_finishmarks(L);
  c->old = c->reached;
  c->marking = 0;
  luaN_atomic(L, 1);
  luaN_sweeplists(L);
  c->youngstrings.n = 0;
  c->bucket = 0;
  luaN_sweepstrings(g, MAX_INT);
  luaN_recycle(g);
  c->chunk = g->heap.chunks;
  c->block = 0;
  luaN_sweeplines(g, luaN_bit(c->colour), ~0u);
  luaN_stayawake(L);
  endmajor(L, 1);
  luaN_trimheap(g, 1);
  c->alltenured += c->tenured;
  g->gcstopem = stopem;
}
