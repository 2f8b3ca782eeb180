/* SPDX-License-Identifier: MIT */
/*
** Restores the frame of the finished main chunk. A script ends before its state is closed. So a
** report that is made when the state is closed would find the objects in the script's local
** variables dead. In the restored frame these variables are roots.
**
** The values of an ended frame stay in the stack above 'top' until other values overwrite them, or
** until a collection sets them to nil (T3 of gc.h). Until then their objects are not freed. Later
** calls may have used the frame's CallInfo, and the stack may have been moved. So the code first
** checks that the CallInfo and the stack still belong to the chunk's call.
*/

#include "lprefix.h"

#include <stdint.h>

#include "ldebug.h"
#include "ldo.h"
#include "lgc.h"
#include "tick.h"


/* Returns the index in L's stack of the slot at address o; SIZE_MAX if o is not in the stack,
   because the stack was moved. */
static size_t lastchunk_slotof (const lua_State *L, StkId o) {
  uintptr_t at = (uintptr_t)o - (uintptr_t)L->stack.p;
  if (at % sizeof(StackValue) != 0 || at / sizeof(StackValue) >= (size_t)stacksize(L))
    return SIZE_MAX;
  return at / sizeof(StackValue);
}


/* Returns the address after the last register of a call of the Lua function in slot func. */
static StkId endof (StkId func) {
  return func + 1 + clLvalue(s2v(func))->p->maxstacksize;
}


/* Returns the address of the stack slot with index 'at' if it contains the function of a main chunk
   whose call has ended and used the CallInfo ci; else NULL. The slot must be at or above 'top',
   because the call has ended. ci->top must be the end of the function's registers, or LUA_MINSTACK
   slots above that end: luaD_hook raises ci->top to there while a hook runs, and the hook may have
   ended the chunk with an error, for example on Ctrl-C. */
static StkId chunkat (const lua_State *L, const CallInfo *ci, size_t at) {
  StkId func = L->stack.p + at;
  const Proto *p;
  if (at >= (size_t)stacksize(L) || func < L->top.p || !ttisLclosure(s2v(func)))
    return NULL;
  p = clLvalue(s2v(func))->p;
  if (p->linedefined != 0 || !p->is_vararg ||
      (ci->top.p != endof(func) && ci->top.p != endof(func) + LUA_MINSTACK) ||
      ci->top.p > L->stack_last.p || ci->u.l.savedpc <= p->code ||
      ci->u.l.savedpc > p->code + p->sizecode)
    return NULL;
  return func;
}


/*
** If ci was the CallInfo (record of a call) of a main chunk's call, returns a slot of the chunk's
** function; else NULL. A main chunk is a vararg function: its call copies the function to a slot
** above the arguments, and the local variables are in the slots after this copy. Returns the slot
** of the copy. How the chunk has ended is not known, so chunkof tries two slots:
** - ci->func: the slot of the copy, if the chunk ended with an error
** - the slot nextraargs + 1 above ci->func: the slot of the copy, if the chunk returned, because
**   the return resets ci->func to the original slot
*/
static StkId chunkof (const lua_State *L, const CallInfo *ci) {
  size_t at = lastchunk_slotof(L, ci->func.p);
  StkId func = (at != SIZE_MAX) ? chunkat(L, ci, at) : NULL;
  if (func != NULL || at == SIZE_MAX || ci->u.l.nextraargs < 0) return func;
  return chunkat(L, ci, at + (size_t)ci->u.l.nextraargs + 1);
}


/* Returns the number of local variables of chunk p that are in scope at its last instruction. They
   are in the slots after the function. */
static int variables (const CallInfo *ci, const Proto *p) {
  int i, n = 0, pc = pcRel(ci->u.l.savedpc, p);
  for (i = 0; i < p->sizelocvars && p->locvars[i].startpc <= pc; i++)
    n += (pc < p->locvars[i].endpc);
  return n;
}


static int lastchunk_nothing (lua_State *L) {
  UNUSED(L);
  return 0;
}


/* Calls f with ci, the frame of the ended main chunk, as the running frame, so that the chunk's
   local variables are roots during the call. caller: frame of the C function that called the chunk;
   NULL: none. The caller's frame has ended, too, and precedes ci in the list of frames, so it is
   also restored. */
static void within (lua_State *L, CallInfo *caller, CallInfo *ci,
                    void (*f) (void *ud, lua_State *L), void *ud) {
  ptrdiff_t result = 0;
  ci->callstatus = 0;  /* a Lua frame that the next collection must scan (no CIST_CLEAN) */
  if (caller != NULL) {  /* saves the caller's result, which is in the slot of its function */
    caller->callstatus = CIST_C;
    setobjs2s(L, L->top.p, caller->func.p);
    result = savestack(L, L->top.p);
    L->top.p++;
    setfvalue(s2v(caller->func.p), lastchunk_nothing);
  }
  ci->top.p = L->top.p + LUA_MINSTACK;
  L->ci = ci;
  f(ud, L);
  if (caller != NULL) setobjs2s(L, caller->func.p, restorestack(L, result));
}


/*
** Calls f with the frame of the last finished main chunk as the running frame, so that its local
** variables are roots. If the frame cannot be restored, calls f without it. L must be the main
** thread, with no frame running.
*/
static void afterchunk (lua_State *L, void (*f) (void *ud, lua_State *L), void *ud) {
  CallInfo *ci = L->base_ci.next, *caller = NULL;
  ptrdiff_t top = savestack(L, L->top.p);
  StkId func = (ci != NULL) ? chunkof(L, ci) : NULL;
  if (ci != NULL && func == NULL && ci->next != NULL) {  /* perhaps a C function called the chunk */
    caller = ci;
    ci = ci->next;
    func = chunkof(L, ci);
    if (lastchunk_slotof(L, caller->func.p) == SIZE_MAX || caller->func.p >= func ||
        caller->func.p <= L->stack.p)
      func = NULL;
  }
  if (func != NULL && L->stack_last.p - endof(func) > LUA_MINSTACK) {
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
  /* The limits must not be used after this: the code that has set them (luaN_setlimits) owns the
     struct, and may free it while lua_close runs, before the state's last allocation. */
  luaN_setlimits(L, NULL);
  if (h->sampler == NULL) return;
  if (luaN_where(&h->tick) != &luaN_innermost) luaN_takeover(&h->tick);
  if (L->ci == &L->base_ci) afterchunk(L, h->sampler->closing, h->sampler->ud);
  else h->sampler->closing(h->sampler->ud, L);
}
