/* SPDX-License-Identifier: MIT */
/* Inline functions and macros that every file of the core needs. lstate.h includes this header
   last. */
#pragma once

#include <string.h>

#include "attach.h"
#include "naming.h"
#include "alloc/nursery.h"
#include "tick.h"

/* Bit of a thread's 'marked': the thread's stack has not changed since a collection last scanned it
   (T1). */
#define LUAN_CLEAN	0x08

/* Value of nextdirty in the last thread of the list remset.dirty. It is not NULL, because a thread
   with nextdirty NULL is not in the list. */
#define LUAN_LASTDIRTY	((lua_State *)(uintptr_t)1)

/*
** Makes the next collection scan the stack of L, which has not changed since the last scan: clears
** LUAN_CLEAN and adds L to the list remset.dirty.
**
** Inlined into every function of the API, so it must be cheap:
** - It calls no function, because a call would make each caller save registers.
** - 'marked' is volatile, so that the compiler changes the byte in memory. Otherwise the compiler
**   would load the byte into a register before the test of LUAN_CLEAN, in every function that
**   inlines this.
*/
static inline void luaN_dirtied (lua_State *L) {
  volatile lu_byte *marked = &L->marked;
  *marked &= cast_byte(~LUAN_CLEAN);
  if (L->nextdirty == NULL) {
    L->nextdirty = G(L)->heap.gc.remset.dirty;
    G(L)->heap.gc.remset.dirty = L;
  }
}

/* Records that the stack of L may change from now on (luaN_dirtied), unless that is recorded
   already. Each API function that may change a stack calls lua_lock first (T1 of gc.h). The
   bytecode loop need not call it: the stack of the running thread always counts as changed. */
#undef lua_lock
#define lua_lock(L) \
  (luaN_mayenter(L, __func__), \
   l_unlikely((L)->marked & LUAN_CLEAN) ? luaN_dirtied(L) : (void)0)
#undef luai_threadyield
#define luai_threadyield(L)	((void)0)

/*
** Macros that upstream's core calls.
** - luai_userstateopen: called when a new state L is initialized. Passes L to the profiler's module
**   if the environment variable ASAMP is set (attach.h).
** - luai_userstatethread: called when L has created thread L1, which gets the label of L.
** - luai_userstateresume: called when lua_resume has set L->nCcalls. Keeps the value in
**   'outermost', by which luaN_yields (calls.h) recognizes the outermost bytecode loop of a
**   coroutine.
*/
#undef luai_userstateopen
#define luai_userstateopen(L)	((L)->label = 0, luaN_complete(L))
#undef luai_userstatethread
#define luai_userstatethread(L,L1)	((L1)->label = (L)->label)
#undef luai_userstateresume
#define luai_userstateresume(L,n)	((void)((L)->outermost = (L)->nCcalls))

/* Sets the n stack slots from p on to nil. A nil is all zero bytes. */
#define luaN_erase(p,n) \
  (lua_assert(LUA_VNIL == 0), \
   memset(p, 0, cast_sizet(n) * sizeof(StackValue)))

/*
** Puts a function into a section of its own of the object file, so that a walk of the C stack
** recognizes the function's frames by their code addresses (luaN_code of seam.h). Aligns the
** function to a cache line: other alignments change the speed of the bytecode loop by up to 4%.
*/
#define LUAN_SECTION(s)	__attribute__((section(s), aligned(64)))
LUAI_FUNC void luaV_execute (lua_State *L, CallInfo *ci) LUAN_SECTION("luavm");
LUAI_FUNC int luaN_runcoroutine (lua_State *L, int nargs)
    LUAN_SECTION("luaresume") __attribute__((noinline));
LUAI_FUNC int luaD_rawrunprotected (lua_State *L,
                                    void (*f) (lua_State *L, void *ud),
                                    void *ud)
    LUAN_SECTION("luaprotect") __attribute__((noinline));
