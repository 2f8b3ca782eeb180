/* SPDX-License-Identifier: MIT */
/*
** The collector's interface to the core (lgc.h): when to collect, and how much. This file and the
** others here replace upstream's lgc.c.
**
** A minor collection is due when the nursery's bytes are used up. After it, a running major
** collection continues by a slice. If none runs and one is due (pace.c), a major collection starts.
** Last, a batch of finalizers is called; finalizers that are left run at safepoints before the next
** minor collection. A program in the incremental mode has the same collections, but only major ones
** find its objects with finalizers dead.
**
** A host that decides itself when to collect stops the collector and requests steps (collectgarbage
** "step"). A step of n KiB represents n KiB of allocation. In the generational mode it is a minor
** collection. In the incremental mode it pays for a part of a cycle (a major collection), as in
** upstream: each byte pays for as many bytes of marking as the step multiplier, by default 100.
** After a cycle, the next one starts when upstream's pause is over, for which steps count like
** allocation.
*/
#define LUA_CORE

#include "lprefix.h"

#include "lapi.h"
#include "ldo.h"
#include "lgc.h"
#include "lmem.h"

#include "debug.h"
#include "finalize.h"
#include "limit.h"
#include "major.h"
#include "minor.h"
#include "outside.h"
#include "pace.h"
#include "pause.h"
#include "refine.h"
#include "remset.h"
#include "seam.h"
#include "sampling.h"
#include "interned.h"
#include "stress.h"
#include "thread.h"
#include "tuning.h"
#include "vec.h"

/* When a minor collection is due and large tables are in the remembered set, the collection is
   delayed by LUAN_GAP bytes of allocation, and luaN_refinetables visits a part of these tables.
   That is repeated as often as necessary while the nursery is smaller than REFINED bytes plus one
   REFINEDPART-th of the bytes of old objects. With larger values, the collection is shorter and the
   nursery larger. */
#define REFINED	((size_t)8 * 1024 * 1024)
#define REFINEDPART	16

/* Number of minor collections from one call of luaN_shrinkown, which frees unused stack memory of
   the running and the main thread, to the next, except in the incremental mode. */
#define SHRINK_MINORS		64


void luaC_fix (lua_State *L, GCObject *o) {
  global_State *g = G(L);
  if (!luaN_push(g, &g->heap.gc.lists.fixed, o))
    luaM_error(L);  /* luaC_fix is called only while a state is created */
}


/* Calls finalizers for about a millisecond. If some are left, makes the next safepoint come
   early (luaN_defer), where the calls continue. */
static void finalize (lua_State *L) {
  if (luaN_callfinalizers(L, LUAN_BATCH)) luaN_defer(G(L), LUAN_GAP);
}


/*
** Runs a step of the collector:
**   - a minor collection
**   - 'work' bytes of marking cost of the running major collection; if none runs, one starts if
**     it is due or 'start' is 1
**   - a batch of finalizers
**
** If memory for the remembered set was short (remset.overflow), a full collection replaces the
** minor and the major one.
*/
static void step (lua_State *L, size_t work, int start) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  luaN_beginpause(g);
  luaN_rememberdirty(L);
  if (c->pace.fullcycles && luaN_majordue(g))
    start = 1;  /* the minor collection may free enough to delay the major one */
  if (c->remset.overflow) {
    luaN_collecting(g, LUAN_MAJOR);
    luaN_full(L);
  }
  else {
    luaN_collecting(g, LUAN_MINOR);
    if (g->gcstate == GCSpause) c->bytes.textsbefore = c->bytes.texts;
    luaN_minor(L, g->gcstate == GCSpause && !start);
    luaN_collecting(g, LUAN_MAJOR);
    start = (g->gcstate == GCSpause && (start || luaN_majordue(g)));
    luaN_aged(L, start);
    if (start || g->gcstate != GCSpause) luaN_beginslice(g);
    if (start) luaN_beginmajor(L);
    if (c->strings.shrinking) luaN_shrinkstrings(L);
    luaN_majorstep(L, work);
  }
  if (g->gcstate == GCSpause) c->pace.owed = c->pace.stackgrowth = 0;
  luaN_newnursery(g);
  luaN_trimheap(g, 0);
  luaN_endpause(L);
  luaN_mustverify(L, 0);
  luaN_collected(L);
  if (!c->pace.fullcycles && g->heap.minors % SHRINK_MINORS == 0)
    luaN_shrinkown(L, 0);  /* may allocate */
  luaN_setquota(g);
  finalize(L);
}


void luaC_step (lua_State *L) {
  global_State *g = G(L);
  luaN_flush(g);
  if (!gcrunning(g)) luaN_newnursery(g);
  else if (luaN_resume(g)) finalize(L);
  else if (g->heap.gc.pace.nursery < REFINED + (size_t)(g->heap.gc.bytes.old / REFINEDPART) &&
           luaN_refinetables(L))
    luaN_shorten(g, -LUAN_GAP);
  else step(L, luaN_pay(&g->heap.gc, luaN_markbudget(g, luaN_unpaid(g))), 0);
}


int luaN_step (lua_State *L, int kilobytes, int stopped) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  unsigned cycles = c->pace.cycles;
  l_mem bytes = (l_mem)kilobytes * 1024, debt = bytes;
  int start = 1;
  if (kilobytes < 0) return 0;  /* also negative if the program's number was too large for an int */
  luaN_flush(g);
  luaN_resume(g);
  if (kilobytes != 0) {
    if (c->pace.byhand < MAX_LMEM / 2) c->pace.byhand += bytes;
    start = luaN_cycledue(g);
    if (!stopped) debt += g->GCdebt;
    if (debt <= 0 || (stopped && !start)) {
      if (!stopped) luaN_shorten(g, bytes);
      finalize(L);  /* a step that does not collect calls finalizers, too */
      return 0;
    }
  }
  if (isdecGCmodegen(g)) {
    step(L, luaN_markbudget(g, (size_t)debt + c->pace.nursery), 0);
    return 0;
  }
  step(L, ((size_t)debt + luaN_stepsize(g)) * luaN_stepmul(g), start);
  if (c->pace.cycles == cycles || g->gcstate != GCSpause) return 0;
  luaN_callfinalizers(L, LUAN_ALL);  /* the finalizers belong to the cycle that has ended */
  return 1;
}


void luaC_fullgc (lua_State *L, int isemergency) {
  global_State *g = G(L);
  lua_assert(!g->gcemergency);
  luaN_beginpause(g);
  g->gcemergency = cast_byte(isemergency);
  luaN_collecting(g, LUAN_MAJOR);
  luaN_full(L);
  luaN_newnursery(g);
  luaN_trimheap(g, 1);
  luaN_endpause(L);
  luaN_mustverify(L, 1);
  luaN_collected(L);
  if (!isemergency) luaN_callfinalizers(L, LUAN_ALL);
  else if (g->heap.gc.finalize.next < g->heap.gc.finalize.tobefinalized.n)
    luaN_defer(g, 0);  /* call them at the next safepoint; another emergency may be close */
  g->gcemergency = 0;
}


/* Runs an emergency collection if one is long overdue (luaN_isoverdue). The reason: a C function
   that stores into tables may run for a long time without a safepoint, and only a collection
   frees the young vectors that its tables have outgrown. The bytes allocated since a collection
   was due (GCdebt) must exceed the bytes of old objects, so that the collection costs no more
   than the allocation did. */
void luaN_overdue (lua_State *L) {
  global_State *g = G(L);
  luaN_stress(L);
  if (luaN_isoverdue(g) && gcrunning(g))
    luaC_fullgc(L, 1);
}


void luaC_changemode (lua_State *L, int newmode) {
  global_State *g = G(L);
  g->gckind = cast_byte(newmode);
  if (g->heap.gc.pace.tuning.mode == 0) g->heap.gc.pace.fullcycles = (newmode == KGC_INC);
  luaN_setpace(g);
}


/* Runs an emergency collection and returns 1. Returns 0 and does nothing if no collection may
   run, or if the limit of allocated bytes is used up. To be called when lua_Alloc has refused
   memory to the caller. Until the next major collection ends, the heap does not raise its
   reserved bytes (luaN_askmore), so that the caller's next request may succeed. */
LUA_API int luaN_refused (lua_State *L) {
  const luaN_Limits *l = G(L)->heap.limits;
  if (G(L)->gcstopem || (l != NULL && luaN_leftallocated(G(L)) == 0)) return 0;
  G(L)->heap.blocks.refused = 1;
  luaN_emergency(L);
  G(L)->heap.blocks.ceiling = G(L)->heap.blocks.held + 1;
  return 1;
}


LUA_API void luaN_collect (lua_State *L) {
  global_State *g = G(L);
  if ((g->gcstp & (GCSTPGC | GCSTPCLS)) || g->gcstopem) return;
  luaN_beginpause(g);
  luaN_flush(g);
  luaN_rememberdirty(L);
  luaN_collecting(g, LUAN_MINOR);
  if (g->heap.gc.remset.overflow) luaN_full(L);
  else luaN_minor(L, 0);
  luaN_newnursery(g);
  luaN_endpause(L);
  luaN_collected(L);
}


LUA_API void luaN_outside (lua_State *L, int idx, size_t n) {
  lua_lock(L);
  api_check(L, lua_type(L, idx) == LUA_TUSERDATA, "full userdata expected");
  lua_pushvalue(L, idx);
  luaN_standfor(L, uvalue(s2v(L->top.p - 1)), n);
  L->top.p--;
  luaC_checkGC(L);  /* a safepoint: by now the userdata usually has its metatable */
  lua_unlock(L);
}
