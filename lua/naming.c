/* SPDX-License-Identifier: MIT */
/* Names of functions, from their definitions (naming.h). */

#include "lprefix.h"

#include <limits.h>

#include "ldebug.h"
#include "lfunc.h"
#include "lgc.h"
#include "lobject.h"
#include "lopcodes.h"
#include "lstate.h"

#include "naming.h"

/* Largest number of instructions from the creation of a closure to the store that names it. A
   higher value names a few more functions, and makes loading slower. */
#define MAX_STORE_DISTANCE	32
/* Largest number of instructions from the load of a key to the creation of the closure that is
   stored under the key. A higher value names a few more functions. */
#define MAX_KEY_DISTANCE		8
/* Largest number of live local variables of a function; each has a register. */
#define MAX_LIVE	255


static TString *constant (const Proto *f, int i) {
  return (i < f->sizek && ttisstring(&f->k[i])) ? tsvalue(&f->k[i]) : NULL;
}


/* The local variables of f that are live at one instruction, in the order of their registers. */
typedef struct Scope {
  const Proto *f;
  /* index in f->locvars of the first variable that starts after the instruction to which 'advance'
     has moved the scope */
  int next;
  /* number of live variables */
  int n;
  const LocVar *live[MAX_LIVE];
} Scope;


/* Moves the scope forward to the instruction 'pc', and updates the list of live variables. */
static void advance (Scope *s, int pc) {
  for (;;) {
    const LocVar *v;
    while (s->n > 0 && s->live[s->n - 1]->endpc <= pc) s->n--;
    if (s->next == s->f->sizelocvars) return;
    v = &s->f->locvars[s->next];
    if (v->startpc > pc) return;
    if (v->endpc > pc && s->n < MAX_LIVE) s->live[s->n++] = v;
    s->next++;
  }
}


/* Returns the name of the local variable in register r at instruction 'pc', which must not be
   before the instruction to which 'advance' has moved the scope. If 'from' is not -1, accepts only
   a variable whose scope starts at instruction 'from'. Returns NULL if there is no such variable,
   or if it is internal to a 'for' loop. */
static TString *variable (const Scope *s, int r, int pc, int from) {
  const LocVar *v = NULL, *end = s->f->locvars + s->f->sizelocvars;
  int n = s->n;
  while (n > 0 && s->live[n - 1]->endpc <= pc) n--;
  if (r < n) v = s->live[r];
  else {
    for (v = s->f->locvars + s->next; v < end && v->startpc <= pc; v++)
      if (pc < v->endpc && n++ == r) break;
    if (v == end || v->startpc > pc) return NULL;
  }
  if ((from >= 0 && v->startpc != from) || v->varname == NULL) return NULL;
  /* internal variables have names like "(for state)" */
  return (*getstr(v->varname) != '(') ? v->varname : NULL;
}


/* Returns the key that is in register r before instruction pc: a string that OP_LOADK has loaded.
   (The code loads a key in this way if the key does not fit into the instruction that stores the
   closure.) Returns NULL if another instruction has set r last, or if the load is more than
   MAX_KEY_DISTANCE instructions before 'pc'. */
static TString *key (const Proto *f, int r, int pc) {
  int i;
  for (i = pc - 1; i >= 0 && i >= pc - MAX_KEY_DISTANCE; i--) {
    Instruction code = f->code[i];
    if (testAMode(GET_OPCODE(code)) && GETARG_A(code) == r)
      return (GET_OPCODE(code) == OP_LOADK) ? constant(f, GETARG_Bx(code)) : NULL;
  }
  return NULL;
}


/* Returns 1 if instruction i may be between the instruction that creates a closure in register r
   and the instruction that stores the closure: i loads another register without using r, or stores
   another value. The code of an assignment to several variables has such instructions. */
static int naming_passes (Instruction i, int r) {
  switch (GET_OPCODE(i)) {
    case OP_MOVE: case OP_LOADI: case OP_LOADF: case OP_LOADK: case OP_LOADFALSE:
    case OP_LOADTRUE: case OP_LOADNIL: case OP_GETUPVAL: case OP_GETTABUP:
    case OP_GETTABLE: case OP_GETI: case OP_GETFIELD: case OP_CLOSURE:
      return GETARG_A(i) != r && !(GET_OPCODE(i) == OP_MOVE && GETARG_B(i) == r);
    case OP_SETTABUP: case OP_SETTABLE: case OP_SETI: case OP_SETFIELD:
      return TESTARG_k(i) || GETARG_C(i) != r;
    case OP_SETUPVAL:
      return GETARG_A(i) != r;
    default:
      return 0;
  }
}


/* Instruction 'at' makes a closure. Returns the name of the variable or field in which one of the
   next instructions stores the closure, or NULL. */
static TString *naming_nameof (const Scope *s, int at) {
  const Proto *f = s->f;
  int r = GETARG_A(f->code[at]), pc;
  for (pc = at + 1; pc < f->sizecode && pc - at <= MAX_STORE_DISTANCE; pc++) {
    Instruction i = f->code[pc];
    /* a local function or variable: its scope starts at instruction pc, and its register is that of
       the closure */
    TString *name = variable(s, r, pc, pc);
    if (name != NULL) return name;
    if (naming_passes(i, r)) continue;
    switch (GET_OPCODE(i)) {
      case OP_MOVE:
        return (GETARG_B(i) == r) ? variable(s, GETARG_A(i), pc, -1) : NULL;
      case OP_SETUPVAL:
        return (GETARG_B(i) < f->sizeupvalues) ? f->upvalues[GETARG_B(i)].name : NULL;
      case OP_SETTABUP: case OP_SETFIELD:
        return constant(f, GETARG_B(i));
      case OP_SETTABLE:
        return key(f, GETARG_B(i), at);
      default:
        return NULL;
    }
  }
  return NULL;
}


/* Names the functions whose closures are created by the code of f itself. Not inlined into the
   recursive nameall, because a Scope is large. */
static __attribute__((noinline)) void namein (lua_State *L, Proto *f) {
  Scope s;
  int i;
  s.f = f;
  s.next = s.n = 0;
  for (i = 0; i < f->sizecode; i++) {
    Instruction code = f->code[i];
    if (GET_OPCODE(code) == OP_CLOSURE && GETARG_Bx(code) < f->sizep) {
      Proto *p = f->p[GETARG_Bx(code)];
      TString *name;
      advance(&s, i);
      name = naming_nameof(&s, i);
      if (p != NULL && name != NULL) {
        p->name = name;
        luaC_objbarrier(L, p, name);
      }
    }
  }
}


/* The function without a name that was numbered last (NM4 of naming.h). */
typedef struct Line {
  int line;  /* line in which the function starts */
  /* number of the function among those without a name that start in that line */
  unsigned short n;
} Line;


/* Names all functions inside f, recursively. Numbers those without a name by line, in the order of
   the source (NM4 of naming.h). */
static void nameall (lua_State *L, Proto *f, Line *last) {
  int i;
  if (f->sizep == 0) return;
  namein(L, f);
  for (i = 0; i < f->sizep; i++) {
    Proto *p = f->p[i];
    if (p == NULL) continue;
    if (p->name == NULL) {
      if (p->linedefined != last->line) last->n = 0;
      last->line = p->linedefined;
      if (last->n < USHRT_MAX) last->n++;
      p->nth = last->n;
    }
    nameall(L, p, last);
  }
}


void luaN_namefunctions (lua_State *L, Proto *f) {
  Line last = {0, 0};
  nameall(L, f, &last);
}
