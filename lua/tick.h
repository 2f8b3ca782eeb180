/* SPDX-License-Identifier: MIT */
/*
** Time samples, the core's part. A signal can arrive between any two machine
** instructions, when a frame is half built and the pc of the running one is in
** a register. So the handler walks no Lua stack: luaN_interrupt (seam.h) notes
** the moment, and the sampler is called at the next point: a place where the
** running stack can be walked and no frame of that moment is gone yet.
**
** Points are
**   - the next VM instruction, when a Lua function was running: the state's
**     dispatch table, by which the bytecode loop goes from one to the next, is
**     diverted until then. The loop has the same instructions, whether it is or
**     not, and other states have tables of their own;
**   - where a function is entered, left by a return or left by an error or a
**     yield: there the core asks for hooks anyway, and a bit of hookmask says
**     that a point is wanted;
**   - the end of a collection.
** A state that is entered on another OS thread than before wants a point, too: there the
** sampler takes its timer along.
**
** Invariants:
**   TK1  'wanted' is set from a moment, or from where the state came to another OS
**        thread, to the next point. While it is set, the bit LUAN_TICK is set in the
**        hookmask of the thread that ran then, unless a hook was set at that moment; the
**        point comes later then.
**   TK2  nobody outside of the core sees the bit, and no other thread has it.
**   TK3  'diverted' implies 'wanted'. The dispatch table of a state is diverted while
**        it is diverted, and by nobody else: only the OS thread that runs the state
**        writes to it. So another thread's samples, or a fork that catches them,
**        cost this one nothing.
**   TK4  at a point savedpc of the running Lua function is behind the
**        instruction that ran at the moment, if that can be told: what the
**        registers held at the moment tells it, when it leads to the
**        instruction that is next. Else it is that next instruction (in a build
**        with AddressSanitizer it always is).
**   TK5  luaN_innermost tells of the innermost luaD_rawrunprotected of the OS
**        thread, but for a signal that comes at its begin or its end. A state
**        is diverted by a signal inside its own bytecode loop only: inside of
**        another's, which it has called, it has no next instruction.
**   TK6  a signal on an OS thread touches no state that has been entered on
**        another one since.
*/
#ifndef luaN_tick_h
#define luaN_tick_h

#include "lstate.h"

#include "seam.h"

#define LUAN_TICK	0x80	/* of hookmask */

/* A point of a thread that wants one. */
LUAI_FUNC void luaN_point (lua_State *L);

/* A point; returns the hooks that the program has set. */
static inline int luaN_hooks (lua_State *L) {
  if (l_unlikely(L->hookmask & LUAN_TICK)) luaN_point(L);
  return L->hookmask & ~LUAN_TICK;
}

/* The dispatch table was diverted: instruction pc[-1] of ci is next. */
LUAI_FUNC void luaN_atinstruction (lua_State *L, CallInfo *ci,
                                   const Instruction *pc);

/* Of the table of what each opcode's code is: where tick.c finds it. */
#define LUAN_DISPATCH	__attribute__((section("luadispatch"), used))

/* Of the label where a diverted table leads: the loop is laid out as if it were not
   there. Clang warns that labels have no such attribute. */
#if defined(__clang__)
#define LUAN_COLD
#else
#define LUAN_COLD	__attribute__((cold))
#endif

/* The dispatch table of a state. It stays where it is: the loop reads this once. */
#define luaN_dispatch(L)	(G(L)->heap.tick.dispatch)

/*
** Where the loop keeps the address of the table, and how it goes by it: a register that
** calls preserve, and an address that the compiler believes to be another one behind each
** jump. Else it has one on the stack, and every instruction reads it from there.
*/
#if defined(__x86_64__) && defined(__GNUC__)
#define LUAN_KEPT	__asm__("r14")
#define luaN_jump(table,x) \
  { __asm__ ("" : "+r"(table)); goto *(table)[x]; }
#else
#define LUAN_KEPT
#define luaN_jump(table,x)	goto *(table)[x];
#endif

/* Of a state that begins. */
LUAI_FUNC void luaN_opentick (luaN_Tick *t);

/* 'th' runs from here on; returns who ran before (NULL: the main thread). */
static inline lua_State *luaN_run (lua_State *L, lua_State *th) {
  luaN_Tick *t = &G(L)->heap.tick;
  lua_State *before = t->running;
  t->running = th;
  return before;
}

LUAI_DDEC(__thread luaN_Protected luaN_innermost
              __attribute__((tls_model("initial-exec")));)

/* The same where it is inside of one of another state, or the state was on another OS thread
   meanwhile. */
LUAI_FUNC void luaN_entered (lua_State *L, const luaN_Protected *outer);

/* A protected call of L begins; '*outer' is the caller's, until it ends. */
static inline void luaN_protect (lua_State *L, luaN_Protected *outer) {
  const lua_State *th = G(L)->mainthread;
  *outer = luaN_innermost;
  if (l_unlikely(G(L)->heap.tick.where != &luaN_innermost)) luaN_entered(L, outer);
  else if (outer->L == th) luaN_innermost.outer = outer;
  else if (l_likely(outer->L == NULL)) luaN_innermost.L = th;  /* the rest of it is 0 */
  else luaN_entered(L, outer);
}

/* ... and it is over. */
#define luaN_unprotect(outer)  ((void)(luaN_innermost = *(outer)))

/* A collection begins; a minor one goes over into a major one. */
#define luaN_collecting(g,how)  ((g)->heap.tick.collecting = (how))

/* ... and it is over. */
LUAI_FUNC void luaN_collected (lua_State *L);

#endif
