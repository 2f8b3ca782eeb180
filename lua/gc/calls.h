/* SPDX-License-Identifier: MIT */
/*
** Calls of Lua functions from Lua functions: the frame is made inline when
** there is a CallInfo and room on the stack. Everything else (C functions,
** __call, a stack that must grow) is luaD_precall's. For lvm.c.
*/
#ifndef luaN_calls_h
#define luaN_calls_h

/* As luaD_precall; 'ci' is the running frame. */
static inline CallInfo *luaN_precall (lua_State *L, CallInfo *ci, StkId func,
                                      int nresults) {
  CallInfo *next = ci->next;
  if (ttisLclosure(s2v(func)) && l_likely(next != NULL)) {
    const Proto *p = clLvalue(s2v(func))->p;
    int size = p->maxstacksize;
    if (l_likely(L->stack_last.p - L->top.p > size)) {
      StkId given = func + 1 + p->numparams;  /* end of the parameters */
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
  return luaD_precall(L, func, nresults);
}

#endif
