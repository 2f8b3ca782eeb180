/* SPDX-License-Identifier: MIT */
/*
** Time samples, the core's part. A profiler's timer sends signals; each is to result in a sample of
** the running Lua stack. At a signal, a frame may be incomplete and the pc in a register. So the
** handler only records the instant, a tick (luaN_interrupt), and the sampler is called at the next
** safepoint, where the stack can be walked.
**
** Safepoints are
** - the next VM instruction, if a Lua function was running: all entries of the state's dispatch
**   table, by which the bytecode loop finds the code of each instruction, are diverted to code that
**   runs the safepoint and restores the table. So ticks cost the loop nothing
** - where a function is entered, or left by a return, an error or a yield: a bit of hookmask
**   requests them, because the core tests for hooks there
** - the end of a collection
**
** A protected call of a state on another OS thread than the state's previous one also requests a
** safepoint, where the sampler moves its timer to that OS thread. luaN_request requests one in the
** child of a fork, where the sampler starts a new timer.
**
** Invariants:
**   TK1  'wanted' of luaN_Tick (state.h) is set from a tick, a protected call on another OS thread
**        or luaN_request to the next safepoint. While 'wanted' is set, the Lua thread (coroutine)
**        that was running at the tick or call has LUAN_TICK in its hookmask. (Exception: if the
**        tick came while a hook was being set, safepoints where a function is entered or left may
**        be missed.)
**   TK2  Code outside the core never sees LUAN_TICK. A thread has the bit only if it ran at a tick,
**        or made a protected call on another OS thread: a new thread does not inherit the bit.
**   TK3  The dispatch table of a state is diverted while 'diverted' of luaN_Tick is set. If
**        'diverted' is set, so is 'wanted', except inside luaN_point. Only the OS thread that runs
**        the state writes to the table, also if the process forks during a sample of another
**        thread.
**   TK4  If the sampler is called before a diverted instruction, and the frame of that instruction
**        was running at the tick, the frame's savedpc is set to the address after the instruction
**        that ran at the tick. There are two sources for that instruction: the previous savedpc,
**        and the machine registers at the tick (not with AddressSanitizer). A candidate is accepted
**        only if the diverted instruction can run directly after it. If none is accepted, savedpc
**        is set to the address after the diverted instruction.
**   TK5  luaN_innermost describes the innermost running call of luaD_rawrunprotected (a protected
**        call) on the OS thread. (A signal that arrives while such a call starts or ends may find
**        the data of the call outside or inside it.) A signal diverts the dispatch table of a state
**        only if the innermost protected call belongs to this state, or if there is none. Reason:
**        if the state has called another state, the bytecode loop of the other one runs, and uses
**        another table.
**   TK6  A signal on an OS thread changes no state whose last protected call or lua_close was on
**        another OS thread. While luaN_interrupt changes a state, 'where' of its luaN_Tick is a
**        special value. The first such call on another OS thread waits until 'where' has another
**        value, for about a second at most. (Without this limit, a child that was forked during a
**        tick of another OS thread would wait forever.) The core does not notice an unprotected
**        call (lua_call of a host) on another OS thread; if it runs during a tick, the call and the
**        signal handler may change the dispatch table and hookmask at once.
*/
#ifndef luaN_tick_h
#define luaN_tick_h

#include "lstate.h"

#include "seam.h"

/* Bit of a thread's hookmask: the thread must run a safepoint for a time sample (TK1). */
#define LUAN_TICK	0x80

/* Runs a safepoint for time samples in thread L: clears the request, restores the dispatch table,
   and calls the sampler's 'point', if there is a sampler. */
LUAI_FUNC void luaN_point (lua_State *L);

/* Runs a safepoint if one is requested in thread L. Returns the mask of the hooks that the program
   has set. */
static inline int luaN_hooks (lua_State *L) {
  if (l_unlikely(L->hookmask & LUAN_TICK)) luaN_point(L);
  return L->hookmask & ~LUAN_TICK;
}

/* To be called before instruction pc[-1] of frame ci runs, if a tick has diverted the dispatch
   table. Runs the safepoint that the tick has requested. */
LUAI_FUNC void luaN_atinstruction (lua_State *L, CallInfo *ci,
                                   const Instruction *pc);

/* Puts the table with the code address of each opcode into a section of its own, where tick.c finds
   it. */
#define LUAN_DISPATCH	__attribute__((section("luadispatch"), used))

/* Attribute of the label in the bytecode loop to which all entries of the dispatch table lead after
   a tick. Marks the label's code as rarely run; otherwise this code would change the layout of the
   loop. (Clang has no such attribute of labels.) */
#if defined(__clang__)
#define LUAN_COLD
#else
#define LUAN_COLD	__attribute__((cold))
#endif

/* The state's dispatch table. Its address never changes, so the bytecode loop computes the address
   once. */
#define luaN_dispatch(L)	(G(L)->heap.tick.dispatch)

/* On x86-64, keeps the address of the dispatch table in a register. Because of the empty asm
   statement, the compiler assumes that 'table' may change; otherwise it would load 'table' from the
   stack for each VM instruction. */
#if defined(__x86_64__) && defined(__GNUC__)
#define LUAN_KEPT	__asm__("r14")
#define luaN_jump(table,x) \
  { __asm__ ("" : "+r"(table)); goto *(table)[x]; }
#else
#define LUAN_KEPT
#define luaN_jump(table,x)	goto *(table)[x];
#endif

/* Initializes the tick data of a new state. */
LUAI_FUNC void luaN_opentick (luaN_Tick *t);

/* Changes the label for which allocated bytes are counted: adds the bytes since the last change to
   the sum of the previous label. The state must have an account of labels (luaN_setlabels of
   seam.h). */
LUAI_FUNC void luaN_relabelled (lua_State *L, unsigned label) __attribute__((noinline));

/* If the state has an account of labels (luaN_setlabels of seam.h), counts the bytes allocated from
   now on for the label of thread L. */
static inline void luaN_countfor (lua_State *L) {
  const luaN_Labels *labels = G(L)->heap.labels;
  if (l_unlikely(labels != NULL) && labels->label != L->label) luaN_relabelled(L, L->label);
}

/* Makes 'th' the running thread and returns the previous one. In both values, NULL means the main
   thread. */
static inline lua_State *luaN_run (lua_State *L, lua_State *th) {
  luaN_Tick *t = &G(L)->heap.tick;
  lua_State *before = t->running;
  t->running = th;
  luaN_countfor(th != NULL ? th : G(L)->mainthread);
  return before;
}

/* Reads 'where' of a luaN_Tick: the address of the luaN_innermost of the OS thread that runs the
   state, or a special value (tick.c). Signal handlers on other OS threads may read it at any time,
   so the access is atomic. */
#define luaN_where(t)	__atomic_load_n(&(t)->where, __ATOMIC_RELAXED)

LUAI_DDEC(__thread luaN_Protected luaN_innermost
              __attribute__((tls_model("initial-exec")));)

/* Records that this OS thread runs the state. First waits while luaN_interrupt changes the state on
   another OS thread (TK6). */
LUAI_FUNC void luaN_takeover (luaN_Tick *t);

/*
** Handles the rare cases of luaN_protect:
** - a protected call inside that of another state
** - the first protected call of a state
** - the first protected call of a state on another OS thread than before. In this case a safepoint
**   is requested, where the sampler moves its timer to that thread.
*/
LUAI_FUNC void luaN_entered (lua_State *L, const luaN_Protected *outer);

/* Records in luaN_innermost that a protected call of L starts. Copies the previous luaN_innermost
   to *outer, which must exist until the call ends. */
static inline void luaN_protect (lua_State *L, luaN_Protected *outer) {
  const lua_State *th = G(L)->mainthread;
  *outer = luaN_innermost;
  if (l_unlikely(luaN_where(&G(L)->heap.tick) != &luaN_innermost)) luaN_entered(L, outer);
  else if (outer->L == th) luaN_innermost.outer = outer;
  else if (l_likely(outer->L == NULL)) luaN_innermost.L = th;  /* outer, mixed are 0 */
  else luaN_entered(L, outer);
}

/* Calls the sampler's function 'returned', unless it is NULL. There must be a sampler. */
LUAI_FUNC void luaN_returned (lua_State *L);

/* Records that a protected call of L has ended. outer: the copy that luaN_protect made when the
   call started. Also calls the sampler's 'returned', unless the call was made directly inside
   another protected call of the same state. */
static inline void luaN_unprotect (lua_State *L, const luaN_Protected *outer) {
  if (l_unlikely(outer->L != G(L)->mainthread) && G(L)->heap.sampler != NULL) luaN_returned(L);
  luaN_innermost = *outer;
}

/* Records that a collection of kind 'how' (LUAN_MINOR, LUAN_MAJOR) starts or continues. */
#define luaN_collecting(g,how)  ((g)->heap.tick.collecting = (how))

/* Records that the collection has ended, and runs a requested safepoint (TK1). */
LUAI_FUNC void luaN_collected (lua_State *L);

#endif
