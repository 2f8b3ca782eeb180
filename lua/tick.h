/* SPDX-License-Identifier: MIT */
/*
** Time samples, the core's part. A signal can arrive between any two machine instructions, when a
** frame is incomplete and the pc of the running function is in a register. So the handler walks
** no Lua stack: luaN_interrupt (seam.h) records a tick, and the sampler is called at the next
** safepoint, a place where the running stack can be walked and no frame of that instant is gone
** yet.
**
** Safepoints for ticks are
**   - the next VM instruction, if a Lua function was running: the state's dispatch table, by
**     which the bytecode loop finds the code of each instruction, is diverted until that one. The
**     loop has the same code whether its table is diverted or not, and other states have tables of
**     their own;
**   - the places where a function is entered, or left by a return, an error or a yield: the core
**     tests for hooks there anyway, and a bit of hookmask requests the safepoint;
**   - the end of a collection. A state that is entered on another OS thread than before requests
**     a safepoint, too, where the sampler moves its timer to that thread.
**
** Invariants:
**   TK1  'wanted' is set from a tick, or from the entry on another OS thread, to the next
**        safepoint. While it is set, the thread that ran at the tick or entry has LUAN_TICK in its
**        hookmask, unless a hook was being set at that instant: then the safepoint comes later.
**   TK2  Code outside the core never sees LUAN_TICK, and no other thread has it.
**   TK3  'diverted' implies 'wanted'. The dispatch table of a state is diverted while 'diverted'
**        is set. Only the OS thread that runs the state writes to the table. So samples of another
**        thread, or a fork during them, cost this thread nothing.
**   TK4  At a safepoint, savedpc of the running Lua function is after the instruction that ran at
**        the tick, if that can be determined: from the registers at the tick, if they lead to the
**        next instruction. Otherwise savedpc is after the next instruction (always in a build with
**        AddressSanitizer).
**   TK5  luaN_innermost describes the innermost luaD_rawrunprotected of the OS thread, except for
**        a signal at its start or end. A signal diverts a state only inside that state's own
**        bytecode loop: a state that has called another state has no next instruction while the
**        loop of the other one runs.
**   TK6  A signal on an OS thread changes no state that another OS thread was the last to enter.
*/
#ifndef luaN_tick_h
#define luaN_tick_h

#include "lstate.h"

#include "seam.h"

#define LUAN_TICK	0x80	/* bit of hookmask: the thread has a tick to complete */

/* Completes the ticks of thread L, which wants a safepoint: restores the dispatch table and calls
   the sampler. */
LUAI_FUNC void luaN_point (lua_State *L);

/* Runs a safepoint if one is wanted; returns the hooks that the program has set. */
static inline int luaN_hooks (lua_State *L) {
  if (l_unlikely(L->hookmask & LUAN_TICK)) luaN_point(L);
  return L->hookmask & ~LUAN_TICK;
}

/* Runs the safepoint to which a diverted dispatch table leads. Instruction pc[-1] of ci is next. */
LUAI_FUNC void luaN_atinstruction (lua_State *L, CallInfo *ci,
                                   const Instruction *pc);

/* Attribute of the table with the code address of each opcode, by which tick.c finds it. */
#define LUAN_DISPATCH	__attribute__((section("luadispatch"), used))

/* Attribute of the label to which a diverted table leads: the compiler lays out the loop as if the
   label did not exist. Clang warns that labels have no such attribute. */
#if defined(__clang__)
#define LUAN_COLD
#else
#define LUAN_COLD	__attribute__((cold))
#endif

/* The dispatch table of a state. Its address is constant, and the loop reads it once. */
#define luaN_dispatch(L)	(G(L)->heap.tick.dispatch)

/*
** How the loop keeps the address of the table: in a register that calls preserve, with a value
** that the compiler cannot trace from one jump to the next. Otherwise the compiler would keep the
** address on the stack, and every instruction would load it from there.
*/
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

/* Makes 'label' the present label of the state's account (luaN_setlabels), which must exist: adds
   the bytes allocated since the last change of the label to the sum of the previous one. */
LUAI_FUNC void luaN_relabelled (lua_State *L, unsigned label) __attribute__((noinline));

/* Makes the bytes that are allocated from here on count for the label of thread L. */
static inline void luaN_countfor (lua_State *L) {
  const luaN_Labels *labels = G(L)->heap.labels;
  if (l_unlikely(labels != NULL) && labels->label != L->label) luaN_relabelled(L, L->label);
}

/* Makes 'th' the running thread of the state; returns the previous one (NULL: the main thread). */
static inline lua_State *luaN_run (lua_State *L, lua_State *th) {
  luaN_Tick *t = &G(L)->heap.tick;
  lua_State *before = t->running;
  t->running = th;
  luaN_countfor(th != NULL ? th : G(L)->mainthread);
  return before;
}

LUAI_DDEC(__thread luaN_Protected luaN_innermost
              __attribute__((tls_model("initial-exec")));)

/* Starts a protected call in the rare cases that luaN_protect does not handle: inside a protected
   call of another state, or if the state's previous protected call was on another OS thread or
   there was none. */
LUAI_FUNC void luaN_entered (lua_State *L, const luaN_Protected *outer);

/* Starts a protected call of L. '*outer' belongs to the caller and must exist until the call
   ends. */
static inline void luaN_protect (lua_State *L, luaN_Protected *outer) {
  const lua_State *th = G(L)->mainthread;
  *outer = luaN_innermost;
  if (l_unlikely(G(L)->heap.tick.where != &luaN_innermost)) luaN_entered(L, outer);
  else if (outer->L == th) luaN_innermost.outer = outer;
  else if (l_likely(outer->L == NULL)) luaN_innermost.L = th;  /* the other members are 0 */
  else luaN_entered(L, outer);
}

/* Ends a protected call. */
#define luaN_unprotect(outer)  ((void)(luaN_innermost = *(outer)))

/* Records that a collection starts, or that a minor one continues as a major one. */
#define luaN_collecting(g,how)  ((g)->heap.tick.collecting = (how))

/* Records that the collection has ended, and completes a tick that arrived during it. */
LUAI_FUNC void luaN_collected (lua_State *L);

#endif
