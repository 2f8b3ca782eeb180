/* SPDX-License-Identifier: MIT */
/*
** The chunk that has ended.
**
** A script ends before its state is closed, and all that its local variables held is
** garbage then, which is not what a person means who asks what was alive at the end, and
** who held it. What a frame leaves behind lies in the stack above 'top' until it is
** overwritten, or erased by the next collection that sees the stack (T3), which for the
** main thread is every one: so what lies there has not been freed. The frame's CallInfo
** is used for the next call; until then it says where the frame was. All of that is looked
** at with doubt, for another call, or a stack that has moved, may have left anything there.
*/
#define LUA_CORE

#include "lprefix.h"

#include <stdint.h>

#include "ldebug.h"
#include "ldo.h"
#include "lgc.h"


/* The slot that was at 'o' is still one of the stack: its index; else SIZE_MAX. */
static size_t slotof (const lua_State *L, StkId o) {
  uintptr_t at = (uintptr_t)o - (uintptr_t)L->stack.p;
  if (at % sizeof(StackValue) != 0 || at / sizeof(StackValue) >= (size_t)stacksize(L))
    return SIZE_MAX;
  return at / sizeof(StackValue);
}


/* Is the function of the main chunk whose CallInfo was 'ci' in the slot 'at'? */
static StkId chunkat (const lua_State *L, const CallInfo *ci, size_t at) {
  StkId func = L->stack.p + at;
  const Proto *p;
  if (at >= (size_t)stacksize(L) || func < L->top.p || !ttisLclosure(s2v(func)))
    return NULL;
  p = clLvalue(s2v(func))->p;
  if (p->linedefined != 0 || !p->is_vararg || ci->top.p != func + 1 + p->maxstacksize ||
      ci->top.p > L->stack_last.p || ci->u.l.savedpc <= p->code ||
      ci->u.l.savedpc > p->code + p->sizecode)
    return NULL;
  return func;
}


/* Where it is, NULL: nowhere. The arguments of a chunk are below its function; so is
   'func', when it has returned; of one that an error has ended it is where it was. */
static StkId chunkof (const lua_State *L, const CallInfo *ci) {
  size_t at = slotof(L, ci->func.p);
  StkId func = (at != SIZE_MAX) ? chunkat(L, ci, at) : NULL;
  if (func != NULL || at == SIZE_MAX || ci->u.l.nextraargs < 0) return func;
  return chunkat(L, ci, at + (size_t)ci->u.l.nextraargs + 1);
}


/* Variables at the chunk's last instruction: these lie right behind the function. */
static int variables (const CallInfo *ci, const Proto *p) {
  int i, n = 0, pc = pcRel(ci->u.l.savedpc, p);
  for (i = 0; i < p->sizelocvars && p->locvars[i].startpc <= pc; i++)
    n += (pc < p->locvars[i].endpc);
  return n;
}


static int nothing (lua_State *L) {
  UNUSED(L);
  return 0;
}


/* The frames are as they were: f is called. 'caller' may be NULL. */
static void within (lua_State *L, CallInfo *caller, CallInfo *ci,
                    void (*f) (void *ud, lua_State *L), void *ud) {
  ptrdiff_t result = 0;
  ci->callstatus = 0;  /* a Lua frame, which is not clean */
  if (caller != NULL) {  /* its result is where its function was */
    caller->callstatus = CIST_C;
    setobjs2s(L, L->top.p, caller->func.p);
    result = savestack(L, L->top.p);
    L->top.p++;
    setfvalue(s2v(caller->func.p), nothing);
  }
  ci->top.p = L->top.p + LUA_MINSTACK;
  L->ci = ci;
  f(ud, L);
  if (caller != NULL) setobjs2s(L, caller->func.p, restorestack(L, result));
}


/*
** Calls f with the frame of the last finished main chunk restored as the running frame, so that
** its local variables are roots. Calls f without it if that frame cannot be found. L must be the
** main thread, and nothing may be running.
*/
static void afterchunk (lua_State *L, void (*f) (void *ud, lua_State *L), void *ud) {
  CallInfo *ci = L->base_ci.next, *caller = NULL;
  ptrdiff_t top = savestack(L, L->top.p);
  StkId func = (ci != NULL) ? chunkof(L, ci) : NULL;
  if (ci != NULL && func == NULL && ci->next != NULL) {  /* a C function has run it */
    caller = ci;
    ci = ci->next;
    func = chunkof(L, ci);
    if (slotof(L, caller->func.p) == SIZE_MAX || caller->func.p >= func ||
        caller->func.p <= L->stack.p)
      func = NULL;
  }
  if (func != NULL && L->stack_last.p - ci->top.p > LUA_MINSTACK) {
    StkId was = ci->func.p;
    ptrdiff_t low = savestack(L, was);
    ci->func.p = func;
    L->top.p = func + 1 + variables(ci, clLvalue(s2v(func))->p);
    within(L, caller, ci, f, ud);
    ci->func.p = restorestack(L, low);
    L->ci = &L->base_ci;
    L->top.p = restorestack(L, top);
  }
  else f(ud, L);
}


void luaN_closing (lua_State *L) {
  luaN_Heap *h = &G(L)->heap;
  if (h->sampler == NULL) return;
  if (L->ci == &L->base_ci) afterchunk(L, h->sampler->closing, h->sampler->ud);
  else h->sampler->closing(h->sampler->ud, L);
}
