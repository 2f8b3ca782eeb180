/* SPDX-License-Identifier: MIT */
/*
** Names of functions, from their definitions (naming.h).
*/
#define LUA_CORE

#include "lprefix.h"

#include "ldebug.h"
#include "lfunc.h"
#include "lgc.h"
#include "lobject.h"
#include "lopcodes.h"
#include "lstate.h"

#include "naming.h"

#define MAX_STORE_DISTANCE	32	/* instructions from a closure to what stores it */
#define MAX_KEY_DISTANCE		8	/* ... from a key to the closure stored under it */


static TString *constant (const Proto *f, int i) {
  return (i < f->sizek && ttisstring(&f->k[i])) ? tsvalue(&f->k[i]) : NULL;
}


/* The variable in register 'r' at 'pc'; 'from': -1, or where it begins. */
static TString *variable (const Proto *f, int r, int pc, int from) {
  int i;
  for (i = 0; i < f->sizelocvars && f->locvars[i].startpc <= pc; i++) {
    const LocVar *v = &f->locvars[i];
    if (pc < v->endpc && r-- == 0)  /* those of loops are called "(for state)" */
      return ((from < 0 || v->startpc == from) && *getstr(v->varname) != '(')
             ? v->varname : NULL;
  }
  return NULL;
}


/* The string that register 'r' was given before 'pc', as a key that does not fit
   into an instruction. */
static TString *key (const Proto *f, int r, int pc) {
  int i;
  for (i = pc - 1; i >= 0 && i >= pc - MAX_KEY_DISTANCE; i--) {
    Instruction code = f->code[i];
    if (testAMode(GET_OPCODE(code)) && GETARG_A(code) == r)
      return (GET_OPCODE(code) == OP_LOADK) ? constant(f, GETARG_Bx(code)) : NULL;
  }
  return NULL;
}


/*
** Does the instruction put something into a register above 'r', or elsewhere, and
** leave 'r' as it is? They stand between closure and store where several
** variables are set at once.
*/
static int passes (Instruction i, int r) {
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


/* Where the closure goes that the instruction at 'at' makes; NULL: it has no name. */
static TString *nameof (const Proto *f, int at) {
  int r = GETARG_A(f->code[at]), pc;
  for (pc = at + 1; pc < f->sizecode && pc - at <= MAX_STORE_DISTANCE; pc++) {
    Instruction i = f->code[pc];
    TString *name = variable(f, r, pc, pc);  /* its register becomes one? */
    if (name != NULL) return name;
    if (passes(i, r)) continue;
    switch (GET_OPCODE(i)) {
      case OP_MOVE:
        return (GETARG_B(i) == r) ? variable(f, GETARG_A(i), pc, -1) : NULL;
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


void luaN_namefunctions (lua_State *L, Proto *f) {
  int i;
  if (f->sizep == 0) return;
  for (i = 0; i < f->sizecode; i++) {
    Instruction code = f->code[i];
    if (GET_OPCODE(code) == OP_CLOSURE && GETARG_Bx(code) < f->sizep) {
      Proto *p = f->p[GETARG_Bx(code)];
      TString *name = nameof(f, i);
      if (p != NULL && name != NULL) {
        p->name = name;
        luaC_objbarrier(L, p, name);
      }
    }
  }
  for (i = 0; i < f->sizep; i++)
    if (f->p[i] != NULL) luaN_namefunctions(L, f->p[i]);
}
