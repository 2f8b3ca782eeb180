/* SPDX-License-Identifier: MIT */
/* Ticks and safepoints of time samples (tick.h). */

#include "lprefix.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#include "lua.h"

#include "ldebug.h"
#include "lobject.h"
#include "lopcodes.h"
#include "lstate.h"

#include "seam.h"
#include "tick.h"


/* {== the dispatch table =============================================== */

/* attribute of a name that the linker defines and the library does not export */
#define BOUND	__attribute__((visibility("hidden")))

/* The code address of each opcode, in a section of its own (ljumptab.h). The last element is the
   address of the code that runs a safepoint; all entries of a diverted table have this address. */
extern const void *const __start_luadispatch[NUM_OPCODES + 1] BOUND;
#define opcodes	__start_luadispatch

typedef char isall[(NUM_OPCODES == LUAN_OPCODES) ? 1 : -1];


void luaN_opentick (luaN_Tick *t) {
  memcpy(t->dispatch, opcodes, sizeof(t->dispatch));
}


/* Diverts the dispatch table: makes all its entries lead to code that runs a safepoint. Runs in a
   signal handler, which may interrupt the bytecode loop anywhere. */
static void divert (luaN_Tick *t) {
  const void *volatile *table = t->dispatch;
  int i;
  t->diverted = 1;
  for (i = 0; i < NUM_OPCODES; i++) table[i] = opcodes[NUM_OPCODES];
}


/* Restores the dispatch table after a safepoint. If a signal diverts the table meanwhile, restores
   it again: the safepoint that is running takes the sample of that tick, too. */
static void restore (luaN_Tick *t) {
  const void *volatile *table = t->dispatch;
  int i;
  if (!t->diverted) return;
  do {
    t->diverted = 0;
    for (i = 0; i < NUM_OPCODES; i++) table[i] = opcodes[i];
  } while (t->diverted);
}

/* }===================================================================== */


/* {== the instruction that ran ========================================= */

/* largest number of machine registers that are stored at a tick */
#define REGISTERS	32u

/*
** The machine's registers at the last tick (timer signal) of this OS thread that requested a
** safepoint before the next instruction. They are not stored in each state, because a process may
** have ten thousand states. If a second state has a tick before the first one reaches its
** safepoint, the registers of the first are lost, and its sample may have the next instruction
** instead of the one that ran at the tick (TK4).
*/
static __thread struct Held {
  /* the luaN_Tick of the state that ran at the tick */
  const luaN_Tick *owner;
  /* number of values in r[] */
  unsigned n;
  /* values of general registers, in any order */
  uintptr_t r[REGISTERS];
} held __attribute__((tls_model("initial-exec")));


/* Returns 1 if i is the second part of the instruction before it, as OP_MMBIN after OP_ADD. */
static int ispart (Instruction i) {
  OpCode op = GET_OPCODE(i);
  return op == OP_MMBIN || op == OP_MMBINI || op == OP_MMBINK ||
         op == OP_EXTRAARG;
}


/* Returns 1 if code[n] can run directly after code[x]. A test and the jump after it count as one
   instruction. */
static int leadsto (const Instruction *code, int x, int n) {
  Instruction i = code[x];
  switch (GET_OPCODE(i)) {
    case OP_JMP:
      return n == x + 1 + GETARG_sJ(i);
    case OP_FORPREP:
      return n == x + 1 || n == x + 2 + GETARG_Bx(i);
    case OP_TFORPREP:
      return n == x + 1 + GETARG_Bx(i);
    case OP_TFORCALL:
      return n == x + 1 || n == x + 2 || leadsto(code, x + 1, n);
    case OP_FORLOOP: case OP_TFORLOOP:
      return n == x + 1 || n == x + 1 - (int)GETARG_Bx(i);
    case OP_RETURN: case OP_RETURN0: case OP_RETURN1:
      return 0;
    case OP_LFALSESKIP:
      return n == x + 2;
    default:
      if (testTMode(GET_OPCODE(i)))
        return n == x + 2 || leadsto(code, x + 1, n);
      return n == x + 1 || (n == x + 2 && ispart(code[x + 1]));
  }
}


/* istarget finds jumps to an instruction from up to this number of instructions away, and overlooks
   jumps from farther away. A higher value makes samples slower. */
#define MAX_JUMP_DISTANCE	4096

/* Returns 1 if an instruction within MAX_JUMP_DISTANCE jumps to instruction n. Ignores a loop
   instruction (OP_FORLOOP, for example) at n - 1: without a jump it continues with n, and its jump
   leads elsewhere. */
static int istarget (const Proto *p, int n) {
  int x = (n > MAX_JUMP_DISTANCE) ? n - MAX_JUMP_DISTANCE : 0;
  int to = (p->sizecode - n > MAX_JUMP_DISTANCE) ? n + MAX_JUMP_DISTANCE : p->sizecode;
  for (; x < to; x++) {
    OpCode op = GET_OPCODE(p->code[x]);
    if ((op == OP_JMP || op == OP_FORLOOP || op == OP_FORPREP ||
         op == OP_TFORLOOP || op == OP_TFORPREP) &&
        !(x == n - 1 && op != OP_JMP) && leadsto(p->code, x, n))
      return 1;
  }
  return 0;
}


/* Returns the index of the instruction that ends at address 'pc', if it is an instruction of p
   after which instruction n can run directly; else -1. */
static int candidate (const Proto *p, uintptr_t pc, int n) {
  uintptr_t code = (uintptr_t)p->code;
  size_t x = (pc - code) / sizeof(Instruction);
  if (pc <= code || x > (size_t)p->sizecode || pc % sizeof(Instruction) != 0)
    return -1;
  return leadsto(p->code, (int)x - 1, n) ? (int)x - 1 : -1;
}


/* Returns the index of the instruction of frame ci that ran at the tick. If that instruction is not
   known (TK4), returns n, the index of the next instruction. */
static int ran (const luaN_Tick *t, const CallInfo *ci, int n) {
  const Proto *p = ci_func(ci)->p;
  int saved = candidate(p, (uintptr_t)ci->u.l.savedpc, n);
  int x, found = -1;
  unsigned i;
  if (t->deep && saved >= 0) return saved;
  for (i = 0; held.owner == t && i < held.n; i++) {
    x = candidate(p, held.r[i], n);
    /* x: index of the instruction that ends at the address in this register, if n can run after it;
       else -1. Ignores x = n - 1 if another instruction jumps to n, because that instruction may
       have run instead. */
    if (x < 0 || (x == n - 1 && istarget(p, n))) continue;
    /* A register may have the address of an instruction or of the next one. If registers have the
       addresses of x and x + 1 (these give the candidates x - 1 and x), the loop has fetched x and
       advanced the pc: x ran, not x - 1. */
    if (found < 0 || x == found + 1) found = x;
  }
  return (found >= 0) ? found : n;
}

/* }===================================================================== */


__thread luaN_Protected luaN_innermost;


/* {== ticks and safepoints ============================================= */

LUA_API uint64_t luaN_diversions (lua_State *L) {
  return G(L)->heap.tick.diversions;
}


/* The addresses of these variables are values of luaN_Tick.where. nowhere: no OS thread runs the
   state (luaN_request). ticking: luaN_interrupt is changing the state (TK6). */
static const char nowhere, ticking;

/* Atomic. If t->where is *from, sets it to 'to' and returns 1; else sets *from to t->where and
   returns 0. */
#define exchange(t,from,to) \
  __atomic_compare_exchange_n(&(t)->where, from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)


/* Does the work of luaN_interrupt: fills *m, and requests a safepoint. To be called while t->where
   is &ticking. */
static void take (lua_State *L, const luaN_Registers *r, luaN_Moment *m) {
  luaN_Tick *t = &G(L)->heap.tick;
  lua_State *th = (t->running != NULL) ? t->running : G(L)->mainthread;
  CallInfo *ci = th->ci;
  luaN_Code code;
  int inloop, isown;
  luaN_code(&code);
  m->L = th;
  m->ci = (ci == &th->base_ci) ? NULL : ci;
  m->label = th->label;
  m->collecting = t->collecting;
  t->wanted = 1;
  th->hookmask |= LUAN_TICK;
  inloop = (code.execute.from <= r->ip && r->ip < code.execute.to);
  isown = (luaN_innermost.L == NULL || luaN_innermost.L == G(L)->mainthread);
  /* Diverts the dispatch table if a Lua function runs, that is, if ci is its frame or the signal
     has interrupted the bytecode loop. In the loop, ci is a C frame while the call of a C function
     is starting or ending. */
  if (!m->collecting && isown && (isLua(ci) || inloop)) {
    t->ci = ci;
    held.owner = t;
#if !defined(__SANITIZE_ADDRESS__)  /* with ASan, the loop has no pc in a register */
    held.n = (r->n < REGISTERS) ? r->n : REGISTERS;
#endif
    memcpy(held.r, r->r, held.n * sizeof(*r->r));
    t->deep = !inloop;
    divert(t);
  }
}


LUA_API int luaN_interrupt (lua_State *L, const luaN_Registers *r,
                            luaN_Moment *m) {
  luaN_Tick *t = &G(L)->heap.tick;
  const void *mine = &luaN_innermost, *claim = &ticking;
  if (!exchange(t, &mine, &ticking)) return 0;
  take(L, r, m);
  exchange(t, &claim, &luaN_innermost);
  return 1;
}


/* Largest number of naps of 100 microseconds in which luaN_takeover waits for luaN_interrupt
   (TK6). */
#define NAPS	5000

void luaN_takeover (luaN_Tick *t) {
  const struct timespec nap = {0, 100000};
  const void *from;
  int n = 0;
  do {
    while ((from = luaN_where(t)) == &ticking && n++ < NAPS) nanosleep(&nap, NULL);
  } while (!exchange(t, &from, &luaN_innermost));
}


/* Returns 1 if a protected call of the state with main thread th is running on this OS thread. */
static int isrunning (const lua_State *th) {
  const luaN_Protected *p = &luaN_innermost;
  while (p != NULL && p->L != NULL && p->L != th) p = p->outer;
  return p != NULL && p->L == th;
}


LUA_API void luaN_request (lua_State *L) {
  luaN_Tick *t = &G(L)->heap.tick;
  lua_State *th = (t->running != NULL) ? t->running : G(L)->mainthread;
  if (luaN_where(t) != &luaN_innermost || !isrunning(G(L)->mainthread))
    __atomic_store_n(&t->where, &nowhere, __ATOMIC_RELAXED);
  t->wanted = 1;
  th->hookmask |= LUAN_TICK;
}


void luaN_entered (lua_State *L, const luaN_Protected *outer) {
  luaN_Heap *h = &G(L)->heap;
  const lua_State *th = G(L)->mainthread;
  luaN_innermost.mixed = outer->L != NULL && (outer->mixed || outer->L != th);
  luaN_innermost.outer = (outer->L != NULL) ? outer : NULL;
  luaN_innermost.L = th;
  if (luaN_where(&h->tick) == &luaN_innermost) return;
  luaN_takeover(&h->tick);
  if (h->sampler == NULL) return;
  h->tick.wanted = 1;
  L->hookmask |= LUAN_TICK;
}


void luaN_returned (lua_State *L) {
  luaN_Heap *h = &G(L)->heap;
  if (h->sampler->returned == NULL) return;
  luaN_asking(h, 1);
  h->sampler->returned(h->sampler->ud, L);
  luaN_asking(h, 0);
}


void luaN_point (lua_State *L) {
  luaN_Heap *h = &G(L)->heap;
  luaN_Tick *t = &h->tick;
  L->hookmask &= ~LUAN_TICK;
  t->wanted = 0;
  if (luaN_where(t) == &nowhere) __atomic_store_n(&t->where, &luaN_innermost, __ATOMIC_RELAXED);
  restore(t);
  if (h->sampler == NULL) return;
  luaN_asking(h, 1);
  h->sampler->point(h->sampler->ud, L);
  luaN_asking(h, 0);
}


void luaN_atinstruction (lua_State *L, CallInfo *ci, const Instruction *pc) {
  luaN_Tick *t = &G(L)->heap.tick;
  t->diversions++;
  lua_assert(t->diverted);
  if (t->ci == ci) {
    int n = cast_int(pc - ci_func(ci)->p->code) - 1;
    ci->u.l.savedpc = ci_func(ci)->p->code + ran(t, ci, n) + 1;
  }  /* otherwise ci was entered, or returned to, after the tick: savedpc is right */
  luaN_point(L);
  ci->u.l.savedpc = pc;
}


void luaN_collected (lua_State *L) {
  luaN_Tick *t = &G(L)->heap.tick;
  t->collecting = 0;
  if (l_unlikely(t->wanted)) luaN_point(L);
}

/* }===================================================================== */
