/* SPDX-License-Identifier: MIT */
/*
** Threads: their stacks, CallInfos and open upvalues (T1 to T3 of gc.h).
**
** A stack has no write barrier. What may have changed since a collection saw
** it is what lies above the function of the outermost frame that has run since:
** CallInfos that were not there then lack CIST_CLEAN.
*/
#define LUA_CORE

#include "lprefix.h"

#include "lua.h"

#include "ldo.h"
#include "lfunc.h"
#include "lgc.h"
#include "lobject.h"
#include "lstate.h"

#include "collector.h"


/* Marks the frames from the running one outwards, to the first clean one. */
static StkId markframes (global_State *g, lua_State *th, int all) {
  CallInfo *ci = th->ci;
  for (;;) {
    int clean = ci->callstatus & CIST_CLEAN;
    ci->callstatus |= CIST_CLEAN;
    if (ci == &th->base_ci) return th->stack.p;
    luaN_marklines(g, ci, sizeof(*ci));
    if (clean && !all) return ci->func.p;
    ci = ci->previous;
  }
}


/*
** Marks the CallInfos that wait for the next calls. Returns up to where frames
** have used the stack since a collection saw it.
*/
static StkId markspares (global_State *g, lua_State *th, int all) {
  StkId end = th->stack_last.p + EXTRA_STACK;
  StkId used = th->stack.p + th->high;
  CallInfo *ci;
  if (used < th->top.p) used = th->top.p;
  if (used < th->ci->top.p) used = th->ci->top.p;
  for (ci = th->ci->next; ci != NULL; ci = ci->next) {
    if (luaN_isspare(ci)) {
      if (!all) break;
    }
    else {
      ci->callstatus = CIST_SPARE;
      /* 'top' is of no use when the stack has moved; 'high' is then */
      if (used < ci->top.p && ci->top.p <= end) used = ci->top.p;
    }
    luaN_marklines(g, ci, sizeof(*ci));
  }
  th->high = 0;
  used += EXTRA_STACK + LUA_MINSTACK;  /* error handling; a hook's own values */
  return (used < end) ? used : end;
}


size_t luaN_scanthread (global_State *g, lua_State *th, int all) {
  StkId o, from, used;
  UpVal *uv;
  if (th->stack.p == NULL) return sizeof(*th);  /* not built yet */
  luaN_marklines(g, th->stack.p,
                 ((size_t)stacksize(th) + EXTRA_STACK) * sizeof(StackValue));
  from = markframes(g, th, all);
  for (o = from; o < th->top.p; o++)
    luaN_markvalue(g, s2v(o));
  for (uv = th->openupval; uv != NULL && uplevel(uv) >= from;
       uv = uv->u.open.next)
    luaN_mark(g, obj2gco(uv));
  used = markspares(g, th, all);
  for (o = th->top.p; o < used; o++)
    setnilvalue(s2v(o));
  if (th != g->mainthread && !(th->marked & LUAN_TOUCHED))
    th->marked |= LUAN_ASLEEP;
  return sizeof(*th) + (size_t)(used - from) * sizeof(StackValue);
}


void luaN_endthread (lua_State *L, lua_State *th) {
  global_State *g = G(L);
  size_t n = ((size_t)stacksize(th) + EXTRA_STACK) * sizeof(StackValue);
  UpVal *uv;
  while ((uv = th->openupval) != NULL) {
    th->openupval = uv->u.open.next;
    if (!luaN_white(g, obj2gco(uv))) {  /* a closure keeps it */
      TValue *slot = &uv->u.value;
      setobj(L, slot, uv->v.p);
      uv->v.p = slot;
    }
  }
  luai_userstatefree(L, th);
  if (th->stack.p != NULL && n > LUAN_LARGE)
    luaN_ask(g, th->stack.p, n, 0);
}
