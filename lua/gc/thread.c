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


/* Marks the CallInfos that wait for the next calls. */
static void markspares (global_State *g, lua_State *th, int all) {
  CallInfo *ci;
  for (ci = th->ci->next; ci != NULL; ci = ci->next) {
    if (!luaN_isspare(ci)) ci->callstatus = CIST_SPARE;
    else if (!all) break;
    luaN_marklines(g, ci, sizeof(*ci));
  }
}


size_t luaN_scanthread (global_State *g, lua_State *th, int all) {
  StkId o, from, end;
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
  markspares(g, th, all);
  end = th->stack_last.p + EXTRA_STACK;
  luaN_erase(th->top.p, end - th->top.p);  /* T3 */
  if (th != g->mainthread && !(th->marked & LUAN_TOUCHED))
    th->marked |= LUAN_ASLEEP;
  return sizeof(*th) + (size_t)(th->top.p - from) * sizeof(StackValue);
}


void luaN_shrinkthread (lua_State *th) {
  luaD_shrinkstack(th);
  luaE_shrinkCI(th);
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
