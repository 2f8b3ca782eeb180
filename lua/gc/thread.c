/* SPDX-License-Identifier: MIT */
/*
** Threads: their stacks, CallInfos and open upvalues (T1 to T4 of gc.h).
**
** A stack has no write barrier. What may have changed since a collection saw
** it is what lies above the function of the outermost frame that has run since:
** CallInfos that were not there then lack CIST_CLEAN.
**
** A stack may end before its block does (T4): one that a deep recursion has left
** is made short where it lies, so that what is erased above its top is in
** proportion to what is used of it, and the next recursion finds it long again.
*/
#define LUA_CORE

#include "lprefix.h"

#include <stdint.h>

#include "lua.h"

#include "ldebug.h"
#include "ldo.h"
#include "lfunc.h"
#include "lgc.h"
#include "lobject.h"
#include "lstate.h"

#include "collector.h"

/* A stack of so many slots is erased sooner than looked at. */
#define LEAST	256


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


int luaN_limitstack (lua_State *L, int size) {
  int old = stacksize(L);
  if (size == old || size > L->stackroom) return 0;
  if (size < old) {
    luaN_erase(L->stack.p + size + EXTRA_STACK, old - size);
    L->marked |= LUAN_LONG;
  }
  L->stack_last.p = L->stack.p + size;
  return 1;
}


/* Makes a stack short of which little is used; errors have their own (ldo.c). */
static void shorten (lua_State *th) {
  int size = stacksize(th);
  StkId end = th->top.p;
  const CallInfo *ci;
  if (size <= LEAST || size > LUAI_MAXSTACK || end - th->stack.p > size / 4)
    return;
  for (ci = th->ci; ci != NULL; ci = ci->previous)
    if (ci->top.p > end) end = ci->top.p;
  size = cast_int(end - th->stack.p) * 2;
  if (size <= stacksize(th) / 2)
    luaN_limitstack(th, size < BASIC_STACK_SIZE ? BASIC_STACK_SIZE : size);
}


size_t luaN_scanthread (global_State *g, lua_State *th, int all) {
  StkId o, from, end;
  UpVal *uv;
  if (th->stack.p == NULL) return sizeof(*th);  /* not built yet */
  luaN_marklines(g, th->stack.p, luaN_stackbytes(th));
  from = markframes(g, th, all);
  for (o = from; o < th->top.p; o++)
    luaN_markvalue(g, s2v(o));
  g->heap.gc.work += (size_t)(th->top.p - from);
  for (uv = th->openupval; uv != NULL && uplevel(uv) >= from;
       uv = uv->u.open.next)
    luaN_mark(g, obj2gco(uv));
  markspares(g, th, all);
  if (!g->gcemergency) shorten(th);
  end = th->stack_last.p + EXTRA_STACK;
  luaN_erase(th->top.p, end - th->top.p);  /* T3 */
  if (th != g->mainthread && (th->marked & LUAN_UNLOGGED))
    th->marked |= LUAN_ASLEEP;
  return sizeof(*th) + (size_t)(th->top.p - from) * sizeof(StackValue);
}


void luaN_beginthread (global_State *g, lua_State *th) {
  luaN_Gc *c = &g->heap.gc;
  c->thread = th;
  c->ci = th->ci;
  c->spares = 1;
}


/*
** Minor collections have seen the stack and see what changes between two slices: here
** are the lines of all CallInfos to be marked, first those behind the running one, and
** what lies in all slots, from the top downwards. CallInfos stay where they are, used
** or not, but for luaN_shrinkthread.
*/
void luaN_threadslice (global_State *g, int n) {
  luaN_Gc *c = &g->heap.gc;
  lua_State *th = c->thread;
  int i;
  c->work += (size_t)n;
  if (c->spares) {
    for (; c->ci != NULL && n > 0; n--, c->ci = c->ci->next)
      if (c->ci != &th->base_ci) luaN_marklines(g, c->ci, sizeof(CallInfo));
    if (c->ci != NULL) return;
    c->spares = 0;
    c->ci = th->ci;
  }
  else if (c->ci != NULL) {
    for (; c->ci != NULL && n > 0; n--, c->ci = c->ci->previous)
      if (c->ci != &th->base_ci) luaN_marklines(g, c->ci, sizeof(CallInfo));
    c->index = (unsigned)(th->top.p - th->stack.p);
  }
  else {
    UpVal *uv;
    i = cast_int(th->top.p - th->stack.p);
    if (i > (int)c->index) i = (int)c->index;  /* else it is seen already */
    for (; i > 0 && n > 0; n--) {
      i--;
      luaN_markvalue(g, s2v(th->stack.p + i));
    }
    c->index = (unsigned)i;
    if (i > 0) return;
    luaN_marklines(g, th->stack.p, luaN_stackbytes(th));
    for (uv = th->openupval; uv != NULL; uv = uv->u.open.next)
      luaN_mark(g, obj2gco(uv));
    c->thread = NULL;
  }
}


void luaN_eraserest (lua_State *L) {
  luaN_erase(L->top.p, L->stack_last.p + EXTRA_STACK - L->top.p);
  G(L)->heap.starved = 0;
}


size_t luaN_shrinkthread (lua_State *th, int all) {
  int keep = (th->marked & LUAN_LONG) && !all;
  size_t cost = 0;
  if (!keep) {
    int room = th->stackroom;
    unsigned n;
    if (stacksize(th) / 3 > th->top.p - th->stack.p)  /* else it looks at all frames */
      luaD_shrinkstack(th);                           /* and finds it used enough */
    if (stacksize(th) < th->stackroom)
      luaD_reallocstack(th, stacksize(th), 0);
    if (th->stackroom < room)
      cost = (size_t)(room + th->stackroom) * sizeof(StackValue) / 2;
    if (G(th)->heap.gc.thread == th) luaN_beginthread(G(th), th);  /* once more */
    do {  /* half of the CallInfos that are not in use; all: but one */
      n = th->nci;
      luaE_shrinkCI(th);
      cost += n * sizeof(CallInfo);
    } while (all && th->nci < n);
  }
  th->marked &= (lu_byte)~LUAN_LONG;
  return cost;
}


void luaN_endthread (lua_State *L, lua_State *th) {
  global_State *g = G(L);
  size_t n = luaN_stackbytes(th);
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


/* {== the chunk that has ended ========================================= */

/*
** A script ends before its state is closed, and all that its local variables held is
** garbage then, which is not what a person means who asks what was alive at the end, and
** who held it. What a frame leaves behind lies in the stack above 'top' until it is
** overwritten, or erased by the next collection that sees the stack (T3), which for the
** main thread is every one: so what lies there has not been freed. The frame's CallInfo
** is used for the next call; until then it says where the frame was. All of that is looked
** at with doubt, for another call, or a stack that has moved, may have left anything there.
*/

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


void luaN_afterchunk (lua_State *L, void (*f) (void *ud, lua_State *L), void *ud) {
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

/* }===================================================================== */
