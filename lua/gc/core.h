/* SPDX-License-Identifier: MIT */
/* Inline functions and macros of the fork that every file of the core needs. lstate.h includes this
   header last. */
#ifndef luaN_core_h
#define luaN_core_h

#include <string.h>

#include "attach.h"
#include "naming.h"
#include "alloc/nursery.h"
#include "tick.h"

/* Bit of a thread's 'marked': the thread's stack has not changed since a collection last scanned it
   (T1). */
#define LUAN_CLEAN	0x08

/* The value of nextdirty in the last thread of remset.dirty, the list of threads whose stacks have
   changed since they were scanned. Not NULL, because nextdirty of a thread is NULL if and only if
   the thread is not in the list. */
#define LUAN_LASTDIRTY	((lua_State *)(uintptr_t)1)

/*
** Records that the stack of L may change from now on, so that the next collection scans it (makes
** the clean thread L dirty): clears LUAN_CLEAN and links L into remset.dirty, unless L is there
** already.
**
** This function is inlined into every function of the API, so its cost there must be small:
**   - It calls no function. A call, even one that is never executed, would make each of them save
**     registers.
**   - 'marked' is volatile. Otherwise the compiler would load the byte into a register even if L is
**     dirty already, which is the common case.
*/
static inline void luaN_dirtied (lua_State *L) {
  volatile lu_byte *marked = &L->marked;
  *marked &= cast_byte(~LUAN_CLEAN);
  if (L->nextdirty == NULL) {
    L->nextdirty = G(L)->heap.gc.remset.dirty;
    G(L)->heap.gc.remset.dirty = L;
  }
}

/* If L is clean, that is, its stack has not changed since a collection scanned it, makes L dirty
   (luaN_dirtied). Every function of the API calls lua_lock before it may change its thread's stack
   (T1 of gc.h). The bytecode loop does not, because it runs only in threads that are dirty
   already. */
#undef lua_lock
#define lua_lock(L) \
  (luaN_mayenter(L, __func__), \
   l_unlikely((L)->marked & LUAN_CLEAN) ? luaN_dirtied(L) : (void)0)
#undef luai_threadyield
#define luai_threadyield(L)	((void)0)

/*
** Hooks that upstream calls:
**   - luai_userstateopen, when a state is complete: sets the label of the main thread to 0.
**   - luai_userstatethread, when L has created thread L1: gives L1 the label of L.
**   - luai_userstateresume, when lua_resume has counted its own C call in L->nCcalls: stores
**     nCcalls in 'outermost', from which luaN_yields (calls.h) recognizes the outermost bytecode
**     loop of a coroutine.
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
** Puts three functions into sections of their own, so that a walk of the C stack recognizes their
** frames by address (luaN_code of seam.h). Aligns them to a cache line, because the speed of the
** bytecode loop varies by up to 4% with its alignment.
*/
#define LUAN_SECTION(s)	__attribute__((section(s), aligned(64)))
LUAI_FUNC void luaV_execute (lua_State *L, CallInfo *ci) LUAN_SECTION("luavm");
LUAI_FUNC int luaN_runcoroutine (lua_State *L, int nargs)
    LUAN_SECTION("luaresume") __attribute__((noinline));
LUAI_FUNC int luaD_rawrunprotected (lua_State *L,
                                    void (*f) (lua_State *L, void *ud),
                                    void *ud)
    LUAN_SECTION("luaprotect") __attribute__((noinline));

#endif
