/* SPDX-License-Identifier: MIT */
/*
** The collector's interface to the core (lgc.h): when to collect, and how much. Replaces upstream's
** lgc.c, with the other files of this folder.
**
** A minor collection is due when the nursery is used up. If a major collection is in progress, a
** slice of it follows in the same pause; if none is in progress and one is due (pace.c), it starts.
** After the pause, a batch of finalizers is called. If objects are left in the queue of objects to
** finalize, the next safepoints call further batches.
**
** A program may stop the collector and request steps (collectgarbage "step"). A step of n KiB does
** the work that is due after n KiB of allocation. In the generational mode, this is a minor
** collection. In the incremental mode, it is a part of a cycle (a major collection), as in
** upstream.
*/

#include "lapi.h"
#include "ldo.h"
#include "lgc.h"

#include "finalize.h"
#include "major.h"
#include "minor.h"
#include "outside.h"
#include "pace.h"
#include "pause.h"
#include "refine.h"
#include "remset.h"
#include "sampling.h"
#include "interned.h"
#include "stress.h"
#include "thread.h"
#include "tuning.h"

/*
** If the remembered set has large tables, a minor collection that is due is delayed. Meanwhile,
** luaN_refinetables visits a part of these tables after every LUAN_GAP bytes of allocation. The
** delay ends when few slots of these tables are left to visit (remset.many), or when the nursery
** has grown to REFINED bytes plus 1 / REFINEDPART of the bytes of old objects.
**
** A longer delay (larger REFINED, smaller REFINEDPART) shortens the pauses and lets the nursery
** grow further.
*/
#define REFINED	((size_t)8 * 1024 * 1024)
#define REFINEDPART	16

/* Every SHRINK_MINORS-th minor collection frees the unused stack memory of the running and the main
   thread (luaN_shrinkown). A larger value keeps the memory longer, a smaller one moves stacks more
   often. In the incremental mode, each major collection frees this memory instead. */
#define SHRINK_MINORS		64


void luaC_fix (lua_State *L, GCObject *o) {
  global_State *g = G(L);
  if (!luaN_push(g, &g->heap.gc.lists.fixed, o))
    luaM_error(L);  /* ends the creation of the state, the only time when luaC_fix is called */
}


/* Calls a batch of finalizers. If more finalizers are queued, lowers the allocation limit
   (luaN_defer), so that a safepoint soon calls the next batch. */
static void finalize (lua_State *L) {
  if (luaN_callfinalizers(L, LUAN_BATCH)) luaN_defer(G(L), LUAN_GAP);
}


/*
** Runs a step of the collector: a minor collection, a slice of the major collection that takes as
** long as the marking of about 'work' bytes, and a batch of finalizers. If no major collection
** runs, starts one if it is due or 'start' is 1. If the remembered set is incomplete
** (remset.overflow), runs a full collection instead.
*/
static void step (lua_State *L, size_t work, int start) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  luaN_beginpause(g);
  luaN_rememberdirty(L);
  if (c->pace.fullcycles && luaN_majordue(g))
    /* calls luaN_majordue before the minor collection frees memory, because it might return 0 after
       that */
    start = 1;
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
  else step(L, luaN_pay(&g->heap.gc, luaN_markbudget(g, (size_t)luaN_used(g))), 0);
}


int luaN_step (lua_State *L, int kilobytes, int stopped) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  unsigned cycles = c->pace.cycles;
  l_mem bytes = (l_mem)kilobytes * 1024, debt = bytes;
  int start = 1;
  if (kilobytes < 0) return 0;  /* the argument was negative, or became so when converted to int */
  luaN_flush(g);
  luaN_resume(g);
  if (kilobytes != 0) {
    if (c->pace.byhand < MAX_LMEM / 2) c->pace.byhand += bytes;
    start = luaN_cycledue(g);
    if (!stopped) debt += g->GCdebt;
    if (debt <= 0 || (stopped && !start)) {
      if (!stopped) luaN_shorten(g, bytes);
      finalize(L);  /* every step calls finalizers, even if it does not collect */
      return 0;
    }
  }
  if (isdecGCmodegen(g)) {
    step(L, luaN_markbudget(g, (size_t)debt + c->pace.nursery), 0);
    return 0;
  }
  step(L, ((size_t)debt + luaN_stepsize(g)) * luaN_stepmul(g), start);
  if (c->pace.cycles == cycles || g->gcstate != GCSpause) return 0;
  luaN_callfinalizers(L, LUAN_ALL);  /* as in upstream, where a cycle includes the
                                        calls of its finalizers */
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
    luaN_defer(g, 0);  /* call the finalizers at the next safepoint, not now: memory is short */
  g->gcemergency = 0;
}


/* Runs an emergency collection if a collection is long overdue (luaN_isoverdue). C functions that
   store into tables in a loop need this: they reach no safepoint, and the vectors that growing
   tables replace become garbage. The cost of the collection is in proportion to allocation: since a
   collection became due, more bytes were allocated than the old objects have. */
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


/*
** Runs an emergency collection for a caller to which lua_Alloc has refused memory, and returns 1.
** Returns 0 if no emergency collection may run, or if the limit of allocated bytes is used up.
**
** Until the next major collection ends, the heap reserves no more memory than it has now
** (luaN_askmore), so that the freed memory is left to the caller.
*/
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
  /* a safepoint here, not in the next allocation: usually the userdata has its metatable now,
     from which a sampler reads the userdata's type */
  luaC_checkGC(L);
  lua_unlock(L);
}
