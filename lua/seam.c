/* SPDX-License-Identifier: MIT */
/*
** The seam's view of the running stack and of the core's code (seam.h). What
** the seam says of memory stands in gc/nursery.c.
*/
#define LUA_CORE

#include "lprefix.h"

#include "lua.h"

#include "ldebug.h"
#include "lobject.h"
#include "lstate.h"
#include "lvm.h"

#include "seam.h"

#define HALF	(LUAN_DEPTH / 2)


static void fill (lua_State *L, CallInfo *ci, luaN_Frame *f) {
  TValue *func = s2v(ci->func.p);
  f->L = L;
  f->ci = ci;
  f->last = (ci->previous == &L->base_ci);
  f->cut = 0;
  f->resumable = 0;
  if (isLua(ci)) {
    Proto *p = ci_func(ci)->p;
    f->function = p;
    f->id = &p->id;
    f->pc = pcRel(ci->u.l.savedpc, p);
    f->fresh = (ci->callstatus & CIST_FRESH) != 0;
  }
  else {
    /* a call hook or a __call may stand here with no C function yet */
    f->function = ttislcf(func) ? (const void *)(uintptr_t)fvalue(func)
                : ttisCclosure(func) ? (const void *)(uintptr_t)clCvalue(func)->f
                : NULL;
    f->id = NULL;
    f->pc = 0;
    f->fresh = 0;
    f->resumable = (ci->u.c.k != NULL);
  }
}


/* The innermost frame of the outer half, or 'ci' when that comes first. */
static CallInfo *outerhalf (lua_State *L, const CallInfo *ci) {
  CallInfo *outer = L->base_ci.next;
  unsigned i;
  for (i = 1; i < HALF && outer != ci; i++)
    outer = outer->next;
  return outer;
}


LUA_API size_t luaN_frames (lua_State *L, luaN_Frame *frames, size_t max) {
  size_t n = 0;
  int threads;
  for (threads = 0; L != NULL && threads <= LUAI_MAXCCALLS;
       L = L->resumer, threads++) {
    CallInfo *ci;
    unsigned depth = 0;
    if (L->ci == NULL) continue;  /* thread not built yet */
    for (ci = L->ci; ci != &L->base_ci; ci = ci->previous) {
      if (depth++ == HALF) {
        CallInfo *outer = outerhalf(L, ci);
        if (outer != ci && n <= max) frames[n - 1].cut = 1;
        ci = outer;
      }
      if (n < max) fill(L, ci, &frames[n]);
      n++;
    }
  }
  return n;
}


LUA_API int luaN_line (const void *proto, int pc) {
  int line = luaG_getfuncline((const Proto *)proto, pc);
  return (line > 0) ? line : 0;
}


/*
** The sections that the build gives to the core's code (Makefile), and
** nursery.h to the bytecode loop and to lua_resume. The linker defines the
** names of their bounds.
*/
#define BOUND	__attribute__((visibility("hidden")))
extern const char __start_luacore[] BOUND, __stop_luacore[] BOUND;
extern const char __start_luavm[] BOUND, __stop_luavm[] BOUND;
extern const char __start_luaresume[] BOUND, __stop_luaresume[] BOUND;

LUA_API void luaN_code (luaN_Code *c) {
  c->core.from = __start_luacore; c->core.to = __stop_luacore;
  c->execute.from = __start_luavm; c->execute.to = __stop_luavm;
  c->resume.from = __start_luaresume; c->resume.to = __stop_luaresume;
}
