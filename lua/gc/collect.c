/* SPDX-License-Identifier: MIT */
/*
** What the core asks of its collector (lgc.h): when to collect, and how much.
** Takes the place of upstream's lgc.c, together with the other files here.
**
** A minor collection is due when the nursery's bytes are used up. After it, a
** major collection that runs goes on for a slice, or one begins when the pacer
** (pace.c) finds it due. Finalizers come last, in batches: the rest of them has
** its turn at safe points on the way to the next minor collection. A program that
** has asked for the incremental mode has the same collections, but its objects
** with finalizers are found dead by major ones only.
**
** Hosts that pace by hand stop the collector and ask for a step now and then. A
** step of n KiB stands for as many bytes of allocation and pays for as much of a
** cycle (a major collection) as upstream's: the step multiplier is percent there,
** of 16 bytes, so that a byte pays for a hundred. Between two cycles is upstream's
** pause, for which steps count as allocation does.
*/
#define LUA_CORE

#include "lprefix.h"

#include "lapi.h"
#include "ldo.h"
#include "lgc.h"
#include "lmem.h"

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
#include "vec.h"
#include "verify.h"

/* Bytes to allocate between two slices of luaN_refinetables. The minor collection waits for
   these slices, until the nursery has grown to so many bytes and that part of what is old. */
#define REFINEGAP	((l_mem)16 * 1024)
#define REFINED	((size_t)8 * 1024 * 1024)
#define REFINEDPART	16

/* Minor collections after which a stack that stayed short gives its block back. */
#define SHRINK_MINORS		64


void luaC_fix (lua_State *L, GCObject *o) {
  global_State *g = G(L);
  if (!luaN_push(g, &g->heap.gc.lists.fixed, o))
    luaM_error(L);  /* only while a state is being made */
}


/* A batch of finalizers; those that are left come before the next collection. */
static void finalize (lua_State *L) {
  if (luaN_callfinalizers(L, LUAN_BATCH)) luaN_defer(G(L));
}


/* A minor collection, and 'work' bytes of a major one, which may begin. */
static void step (lua_State *L, size_t work, int begin) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  luaN_beginpause(g);
  luaN_rememberdirty(L);
  if (c->pace.fullcycles && luaN_majordue(g))
    begin = 1;  /* the minor collection must not put it off */
  if (c->remset.overflow) {
    luaN_collecting(g, LUAN_MAJOR);
    luaN_full(L);
  }
  else {
    luaN_collecting(g, LUAN_MINOR);
    if (g->gcstate == GCSpause) c->bytes.textsbefore = c->bytes.texts;
    luaN_minor(L, g->gcstate == GCSpause && !begin);
    luaN_collecting(g, LUAN_MAJOR);
    begin = (g->gcstate == GCSpause && (begin || luaN_majordue(g)));
    luaN_aged(L, begin);
    if (begin || g->gcstate != GCSpause) luaN_beginslice(g);
    if (begin) luaN_beginmajor(L);
    if (c->strings.shrinking) luaN_shrinkstrings(L);
    luaN_majorstep(L, work);
  }
  if (g->gcstate == GCSpause) c->pace.owed = c->pace.bystacks = 0;
  luaN_newnursery(g);
  luaN_trimheap(g, 0);
  luaN_endpause(L);
  luaN_mustverify(L, 0);
  luaN_collected(L);
  if (!c->pace.fullcycles && g->heap.minors % SHRINK_MINORS == 0) {  /* it allocates */
    luaN_shrinkown(L, 0);
    if (L != g->mainthread) luaN_shrinkown(g->mainthread, 0);
  }
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
    luaN_shorten(g, -REFINEGAP);
  else step(L, luaN_pay(&g->heap.gc, luaN_markbudget(g, luaN_unpaid(g))), 0);
}


int luaN_step (lua_State *L, int kilobytes, int stopped) {
  global_State *g = G(L);
  luaN_Gc *c = &g->heap.gc;
  unsigned cycles = c->pace.cycles;
  l_mem bytes = (l_mem)kilobytes * 1024, debt = bytes;
  int begin = 1;
  if (kilobytes < 0) return 0;  /* what an int makes of very many, too */
  luaN_flush(g);
  luaN_resume(g);
  if (kilobytes != 0) {
    if (c->pace.byhand < MAX_LMEM / 2) c->pace.byhand += bytes;
    begin = luaN_cycledue(g);
    if (!stopped) debt += g->GCdebt;
    if (debt <= 0 || (stopped && !begin)) {
      if (!stopped) luaN_shorten(g, bytes);
      finalize(L);  /* a step has the next batch, too */
      return 0;
    }
  }
  if (isdecGCmodegen(g)) {
    step(L, luaN_markbudget(g, (size_t)debt + c->pace.nursery), 0);
    return 0;
  }
  step(L, luaN_budgetbyhand(g, (size_t)debt + luaN_stepsize(g)), begin);
  if (c->pace.cycles == cycles || g->gcstate != GCSpause) return 0;
  luaN_callfinalizers(L, LUAN_ALL);  /* they belong to the cycle */
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
  g->gcemergency = 0;
}


/*
** A C function may store for ever without a safe point. The vectors that its tables have
** outgrown, which malloc would have had back at once, are garbage here. They may come to as
** much as is old, so that a full collection costs no more than they did. No allocation
** collects by itself: in the midst of a resize a table would lose its weak values.
*/
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


/* The heap takes no more memory until its next major collection, so that the next direct request
   succeeds, too. */
LUA_API int luaN_refused (lua_State *L) {
  if (G(L)->gcstopem) return 0;
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
  luaC_checkGC(L);  /* here, where the userdata has its metatable as a rule */
  lua_unlock(L);
}
