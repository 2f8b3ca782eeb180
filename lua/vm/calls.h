/* SPDX-License-Identifier: MIT */
/*
** Calls from Lua functions, for OP_CALL of lvm.c. The frequent cases are inline: calls for which a
** CallInfo is free and the stack has capacity; ends of C functions of which the caller wants at
** most one result; yields, without a longjmp. luaD_precall and luaD_poscall handle all other cases.
*/
#pragma once

#include "lapi.h"
#include "seam.h"

/* Ends the call of a C function with frame ci, and moves its n results from the top of the stack to
   the slots where the caller expects them (like luaD_poscall of ldo.c). */
static inline void luaN_poscall (lua_State *L, CallInfo *ci, int n) {
  int wanted = ci->nresults;
  if (l_unlikely(L->hookmask) || (unsigned)wanted > 1u)
    luaD_poscall(L, ci, n);
  else {
    StkId to = ci->func.p;
    L->ci = ci->previous;
    if (wanted == 0) L->top.p = to;
    else {
      if (n == 0) setnilvalue(s2v(to));
      else setobjs2s(L, to, L->top.p - n);
      L->top.p = to + 1;
    }
  }
}


/*
** If no C function is active between lua_resume and coroutine.yield, yields without a longjmp and
** returns 1; the bytecode loop must then return. Otherwise returns 0, and the caller must call
** coroutine.yield. next: frame of the call of coroutine.yield.
*/
static __attribute__((noinline)) int luaN_yields (lua_State *L, CallInfo *next) {
  if (L->nCcalls != L->outermost) return 0;
  next->u.c.k = NULL;
  next->u2.nyield = cast_int(L->top.p - (next->func.p + 1));
  L->status = LUA_YIELD;
  return 1;
}


/* Starts the call of the function in slot 'func', for nresults results (or LUA_MULTRET), like
   luaD_precall of ldo.c. ci: the caller's frame. For a Lua function, returns its frame. For a C
   function, completes the call and returns NULL; if L->ci is not ci afterwards, the thread has
   yielded and the bytecode loop must return. */
static inline __attribute__((always_inline)) CallInfo *luaN_precall (
    lua_State *L, CallInfo *ci, StkId func, int nresults) {
  CallInfo *next = ci->next;
  ptrdiff_t room = L->stack_last.p - L->top.p;
  if (l_unlikely(next == NULL)) return luaD_precall(L, func, nresults);
  if (ttisLclosure(s2v(func))) {
    const Proto *p = clLvalue(s2v(func))->p;
    int size = p->maxstacksize;
    if (l_likely(room > size)) {
      StkId given = func + 1 + p->numparams;  /* end of the fixed parameters */
      next->func.p = func;
      next->top.p = func + 1 + size;
      next->nresults = cast(short, nresults);
      next->callstatus = 0;
      next->u.l.savedpc = p->code;
      L->ci = next;
      while (L->top.p < given) {
        setnilvalue(s2v(L->top.p));
        L->top.p++;
      }
      lua_assert(next->top.p <= L->stack_last.p);
      return next;
    }
  }
  else if ((ttislcf(s2v(func)) || ttisCclosure(s2v(func))) && l_likely(room > LUA_MINSTACK) &&
           l_likely(!L->hookmask)) {
    lua_CFunction f = ttislcf(s2v(func)) ? fvalue(s2v(func)) : clCvalue(s2v(func))->f;
    int n;
    next->func.p = func;
    next->top.p = L->top.p + LUA_MINSTACK;
    next->nresults = cast(short, nresults);
    next->callstatus = CIST_C;
    L->ci = next;
    if (f == luaN_yield && luaN_yields(L, next)) return NULL;
    lua_unlock(L);
    n = (*f)(L);
    lua_lock(L);
    api_checknelems(L, n);
    luaN_poscall(L, next, n);
    return NULL;
  }
  return luaD_precall(L, func, nresults);
}
