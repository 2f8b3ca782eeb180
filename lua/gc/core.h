/* SPDX-License-Identifier: MIT */
/*
** What every file of the core sees of the fork, inline where it costs: lstate.h
** includes this last.
*/
#ifndef luaN_core_h
#define luaN_core_h

#include "attach.h"
#include "naming.h"
#include "nursery.h"
#include "tick.h"

#define LUAN_CLEAN	0x08	/* of marked; a thread only */

/* The end of the list of dirty threads: no address. */
#define LUAN_LASTDIRTY	((lua_State *)(uintptr_t)1)

/*
** A thread that is clean becomes dirty. It is remembered by the next collection. No function is
** called: around a call, even one that is never made, each function of the API would save what
** it has in registers, which is as much as the small ones do. Nor is 'marked' in a register
** for this, which would be an instruction more where there is nothing to do.
*/
static inline void luaN_dirtied (lua_State *L) {
  volatile lu_byte *marked = &L->marked;
  *marked &= cast_byte(~LUAN_CLEAN);
  if (L->nextdirty == NULL) {
    L->nextdirty = G(L)->heap.gc.remset.dirty;
    G(L)->heap.gc.remset.dirty = L;
  }
}

/*
** Whoever enters the core through the API may change its thread's stack (T1 of gc.h). The
** bytecode loop goes on in a thread that was dirty when it was last left.
*/
#undef lua_lock
#define lua_lock(L) \
  (luaN_mayenter(L, __func__), \
   l_unlikely((L)->marked & LUAN_CLEAN) ? luaN_dirtied(L) : (void)0)
#undef luai_threadyield
#define luai_threadyield(L)	((void)0)

/*
** What upstream calls when a state is complete, when L has made thread L1, and when
** lua_resume has counted the C call of L ('outermost': calls.h). A thread begins with the
** label of the thread that makes it, the main thread with 0.
*/
#undef luai_userstateopen
#define luai_userstateopen(L)	((L)->label = 0, luaN_complete(L))
#undef luai_userstatethread
#define luai_userstatethread(L,L1)	((L1)->label = (L)->label)
#undef luai_userstateresume
#define luai_userstateresume(L,n)	((void)((L)->outermost = (L)->nCcalls))

/* Makes n slots of a stack nil (a nil is 0, whatever stands beside it). */
#define luaN_erase(p,n) \
  (lua_assert(LUA_VNIL == 0), \
   memset(p, 0, cast_sizet(n) * sizeof(StackValue)))

/*
** Three functions stand in sections of their own, so that a walk of the C stack
** knows their frames by address (luaN_code of seam.h). The bytecode loop begins
** a cache line: where it lies by chance costs up to 4%.
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
