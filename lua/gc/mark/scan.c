/* SPDX-License-Identifier: MIT */
/*
** Scans stacks (rules T1 to T4 of gc.h). A stack has no write barrier, so a collection scans the
** part that may have changed since the last scan: from the function of the innermost frame with
** CIST_CLEAN up to the top. A scan sets this bit in all frames; frames that are entered later do
** not have it.
**
** When a deep recursion has returned, the stack is shortened in place: it keeps its block of
** memory, but uses only the first part of the block. So scans set fewer unused slots to nil, and
** the next recursion extends the stack without moving it.
*/

#include "lfunc.h"
#include "lgc.h"

#include "ageing.h"
#include "mark.h"
#include "scan.h"

/* A stack of at most MIN_SHORTENED slots is not shortened: shortening visits all frames, which
   costs more than a scan that sets all unused slots to nil. */
#define MIN_SHORTENED	256

/* Constants of forecall, which prefetches CallInfos while the frames of a stack are visited from
   the innermost one outwards.
   PREFETCH_DISTANCE  how many callers further out the prefetched CallInfo is
   PREFETCH_APART     bytes: there is no prefetch if a CallInfo and that of its caller are at least
                      this far apart */
#define PREFETCH_DISTANCE	8
#define PREFETCH_APART		1024u


/* Prefetches the CallInfo that is PREFETCH_DISTANCE callers further out than ci. Computes its
   address from the distance between ci and its caller: in a recursion, successive CallInfos usually
   have the same distance. Does nothing if the two are far apart, because prefetching an unmapped
   address is slow. */
static void forecall (const CallInfo *ci) {
  uintptr_t at = (uintptr_t)ci, before = (uintptr_t)ci->previous;
  if (before - at + PREFETCH_APART < 2 * PREFETCH_APART)
    __builtin_prefetch((const void *)(at + PREFETCH_DISTANCE * (before - at)));
}


/* Returns the stack slot at which the scan of th must start: the function of the innermost frame
   with CIST_CLEAN. If there is no such frame, or if 'all' is 1, returns the first slot of the
   stack. Sets CIST_CLEAN in all frames from the innermost one to the frame of the returned slot,
   and marks the heap lines (64 bytes each) that contain their CallInfos. */
static StkId markframes (global_State *g, lua_State *th, int all) {
  CallInfo *ci = th->ci;
  for (;;) {
    int clean = ci->callstatus & CIST_CLEAN;
    ci->callstatus |= CIST_CLEAN;
    if (ci == &th->base_ci) return th->stack.p;
    forecall(ci);
    luaN_marklines(g, ci, sizeof(*ci));
    if (clean && !all) return ci->func.p;
    ci = ci->previous;
  }
}


/* Marks the heap lines (64 bytes each) that contain the unused CallInfos of th, and sets the
   callstatus of these CallInfos to CIST_CACHED. If 'all' is 0, stops at the first one that has
   CIST_CACHED already, because an earlier scan has visited it and all after it. */
static void markcached (global_State *g, lua_State *th, int all) {
  CallInfo *ci;
  for (ci = th->ci->next; ci != NULL; ci = ci->next) {
    if (!luaN_iscached(ci)) ci->callstatus = CIST_CACHED;
    else if (!all) break;
    luaN_marklines(g, ci, sizeof(*ci));
  }
}


int luaN_limitstack (lua_State *L, int size) {
  int old = stacksize(L);
  if (size == old || size > L->stackroom) return 0;
  if (size > old) {
    luaN_erase(L->stack.p + old + EXTRA_STACK, size - old);
    L->stacktried = LUAI_MAXSTACK;
  }
  else L->marked |= LUAN_LONG;
  L->stack_last.p = L->stack.p + size;
  return 1;
}


/*
** Shortens the stack of th in place if at most a quarter of its slots are in use. A deep stack
** (more than 4 * LUAN_STRIDE slots) is also shortened if less than three quarters are in use and
** more than 4 * LUAN_STRIDE slots are unused.
**
** All frames must be visited, because the stack must remain long enough for each. If a frame
** prevents the shortening of a deep stack, the next attempt is made only when at least a quarter
** fewer slots are in use.
*/
static void shorten (lua_State *th) {
  int size = stacksize(th), used = cast_int(th->top.p - th->stack.p);
  int deep = (size > 4 * LUAN_STRIDE);
  StkId end = th->top.p;
  const CallInfo *ci;
  if (size <= MIN_SHORTENED || size > LUAI_MAXSTACK) return;
  if (used > size / 4 && !(deep && used < size - 4 * LUAN_STRIDE && used < size / 4 * 3))
    return;
  if (deep && used > th->stacktried - th->stacktried / 4) return;
  for (ci = th->ci; ci != NULL; ci = ci->previous) {
    forecall(ci);
    if (ci->top.p > end) end = ci->top.p;
  }
  used = cast_int(end - th->stack.p);
  used = (used < BASIC_STACK_SIZE / 2) ? BASIC_STACK_SIZE : luaN_longer(used);
  if (used <= size / 2 || (deep && used <= size - 2 * LUAN_STRIDE)) {
    luaN_limitstack(th, used);
    th->stacktried = LUAI_MAXSTACK;
  }
  else th->stacktried = cast_int(th->top.p - th->stack.p);
}


/* To be called if a scan of th from slot 'from' on has found objects that this collection leaves
   young. Finds the lowest slot that refers to such an object. Clears CIST_CLEAN of the frame with
   this slot and of all inner frames, so that the next collection scans their slots again (T2). */
static void seeagain (lua_State *th, StkId from) {
  CallInfo *ci;
  while (from < th->top.p && !(iscollectable(s2v(from)) && luaN_ismet(gcvalue(s2v(from))))) from++;
  if (from == th->top.p) return;
  for (ci = th->ci; ci != NULL; ci = ci->previous) {
    ci->callstatus &= (unsigned short)~CIST_CLEAN;
    if (ci->func.p <= from) break;
  }
}


size_t luaN_scanthread (global_State *g, lua_State *th, int all) {
  StkId o, from, end;
  UpVal *uv;
  if (th->stack.p == NULL) return sizeof(*th);  /* the stack is not allocated yet */
  luaN_marklines(g, th->stack.p, luaN_stackbytes(th));
  from = markframes(g, th, all);
  for (o = from; o < th->top.p; o++)
    luaN_markvalue(g, s2v(o));
  if (luaN_holds(&g->heap.gc.mark, obj2gco(th))) seeagain(th, from);
  g->heap.gc.pause.looked[LUAN_LSTACKS] += (size_t)(th->top.p - from);
  for (uv = th->openupval; uv != NULL && uplevel(uv) >= from;
       uv = uv->u.open.next)
    luaN_mark(g, obj2gco(uv));
  markcached(g, th, all);
  if (!g->gcemergency) shorten(th);
  end = th->stack_last.p + EXTRA_STACK;
  luaN_erase(th->top.p, end - th->top.p);  /* slots above the top must be nil (T3) */
  if (th != g->mainthread && (th->marked & LUAN_UNLOGGED))
    th->marked |= LUAN_CLEAN;
  return sizeof(*th) + (size_t)(th->top.p - from) * sizeof(StackValue);
}


void luaN_beginthread (global_State *g, lua_State *th) {
  luaN_Gc *c = &g->heap.gc;
  c->mark.thread = th;
  c->mark.ci = th->ci;
  c->mark.cached = 1;
}


/*
** Scans a part of the deep stack of mark.thread: up to n CallInfos or slots. The order of the parts
** is
** - lines (64 bytes of the heap) that contain unused CallInfos: marks them
** - lines that contain CallInfos in use: marks them
** - slots from the top down: marks their objects
** - open upvalues: marks them
**
** If the program changes frames between two slices, minor collections scan these frames.
*/
void luaN_threadslice (global_State *g, int n) {
  luaN_Gc *c = &g->heap.gc;
  lua_State *th = c->mark.thread;
  int i;
  c->pause.looked[LUAN_LSTACKS] += (size_t)n;
  if (c->mark.cached) {
    for (; c->mark.ci != NULL && n > 0; n--, c->mark.ci = c->mark.ci->next)
      if (c->mark.ci != &th->base_ci) luaN_marklines(g, c->mark.ci, sizeof(CallInfo));
    if (c->mark.ci != NULL) return;
    c->mark.cached = 0;
    c->mark.ci = th->ci;
  }
  else if (c->mark.ci != NULL) {
    for (; c->mark.ci != NULL && n > 0; n--, c->mark.ci = c->mark.ci->previous) {
      forecall(c->mark.ci);
      if (c->mark.ci != &th->base_ci) luaN_marklines(g, c->mark.ci, sizeof(CallInfo));
    }
    c->mark.index = (unsigned)(th->top.p - th->stack.p);
  }
  else {
    UpVal *uv;
    i = cast_int(th->top.p - th->stack.p);
    /* Earlier slices have scanned the slots from mark.index on. */
    if (i > (int)c->mark.index) i = (int)c->mark.index;
    for (; i > 0 && n > 0; n--) {
      i--;
      luaN_markvalue(g, s2v(th->stack.p + i));
    }
    c->mark.index = (unsigned)i;
    if (i > 0) return;
    luaN_marklines(g, th->stack.p, luaN_stackbytes(th));
    /* slots above the top must be nil (T3) */
    luaN_erase(th->top.p, th->stack_last.p + EXTRA_STACK - th->top.p);
    for (uv = th->openupval; uv != NULL; uv = uv->u.open.next)
      luaN_mark(g, obj2gco(uv));
    c->mark.thread = NULL;
  }
}
