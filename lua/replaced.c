/* SPDX-License-Identifier: MIT */
/* Finds the operands of a concatenation that the program replaces by the result (luaN_replaced of
   seam.h). For example, in s = s .. x the bytes of the previous s are copied only to append x. */

#include "lprefix.h"

#include <stddef.h>

#include "lua.h"

#include "ldebug.h"
#include "lgc.h"
#include "lobject.h"
#include "lopcodes.h"
#include "lstate.h"

#include "seam.h"

/* number of instructions before a given one in which 'setter' searches for the instruction that
   sets a register */
#define MAX_BACK	64
/* Depth of nested fields up to which loadsame compares two loads; 4 suffices for o.a.b.c.d.s. In a
   deeper field, a string that the program replaces by its concatenation is not recognized. */
#define MAX_LOADS	4


_Static_assert(offsetof(TString, contents) + 1 == LUAN_STRINGHEAD, "seam.h");


/* Returns the index of the last instruction before 'pc' that sets register r as its operand A.
   Searches MAX_BACK instructions; returns -1 if none of them sets r. */
static int setter (const Proto *p, int pc, int r) {
  int first = (pc > MAX_BACK) ? pc - MAX_BACK : 0;
  while (--pc >= first)
    if (testAMode(GET_OPCODE(p->code[pc])) && GETARG_A(p->code[pc]) == r) return pc;
  return -1;
}


/* Returns the index of the instruction that loads register r, an operand of the concatenation at
   'pc'; -1 if not found. If the operand is (x or ""), returns the load of x, not that of "". */
static int loader (const Proto *p, int pc, int r) {
  int at = setter(p, pc, r);
  int isdefault = at >= 2 && GET_OPCODE(p->code[at]) == OP_LOADK &&
                  GET_OPCODE(p->code[at - 1]) == OP_JMP && GETARG_sJ(p->code[at - 1]) == 1;
  return isdefault ? setter(p, at - 1, r) : at;
}


static int issame (const Proto *p, int a, int pca, int b, int pcb, int deep);


/* Returns 1 if the instructions at 'pca' and 'pcb' load the same value, assuming that no call
   between them changes it. For fields, also compares how the tables are loaded, up to 'deep'
   levels: o.a.s = o.a.s .. x loads o.a twice. */
static int loadsame (const Proto *p, int pca, int pcb, int deep) {
  Instruction a = p->code[pca], b = p->code[pcb];
  if (GET_OPCODE(a) != GET_OPCODE(b) || deep == 0) return 0;
  switch (GET_OPCODE(a)) {
    case OP_GETUPVAL: return GETARG_B(a) == GETARG_B(b);
    case OP_MOVE: return issame(p, GETARG_B(a), pca, GETARG_B(b), pcb, deep - 1);
    case OP_LOADI: case OP_LOADK: return GETARG_Bx(a) == GETARG_Bx(b);
    case OP_GETTABUP: return GETARG_B(a) == GETARG_B(b) && GETARG_C(a) == GETARG_C(b);
    case OP_GETFIELD: case OP_GETI:
      return GETARG_C(a) == GETARG_C(b) &&
             issame(p, GETARG_B(a), pca, GETARG_B(b), pcb, deep - 1);
    case OP_GETTABLE:
      return issame(p, GETARG_B(a), pca, GETARG_B(b), pcb, deep - 1) &&
             issame(p, GETARG_C(a), pca, GETARG_C(b), pcb, deep - 1);
    default: return 0;
  }
}


/* Returns 1 if register a before instruction pca has the same value as register b before
   instruction pcb, assuming that no call between them changes a variable or field. deep: levels of
   fields to compare (loadsame). */
static int issame (const Proto *p, int a, int pca, int b, int pcb, int deep) {
  int seta = setter(p, pca, a), setb = setter(p, pcb, b);
  if (a == b && seta == setb) return 1;
  return seta >= 0 && setb >= 0 && loadsame(p, seta, setb, deep);
}


/* Returns 1 if the instruction with index 'to' stores register a in the variable or field from
   which the instruction with index 'from' has loaded. */
static int isback (const Proto *p, int to, int from, int a) {
  Instruction t = p->code[to], f = p->code[from];
  switch (GET_OPCODE(t)) {
    case OP_MOVE:
      return GETARG_B(t) == a && (GET_OPCODE(f) == OP_MOVE || GET_OPCODE(f) == OP_TESTSET) &&
             GETARG_A(t) == GETARG_B(f);
    case OP_SETUPVAL:
      return GETARG_A(t) == a && GET_OPCODE(f) == OP_GETUPVAL && GETARG_B(t) == GETARG_B(f);
    case OP_SETTABUP:
      return !GETARG_k(t) && GETARG_C(t) == a && GET_OPCODE(f) == OP_GETTABUP &&
             GETARG_A(t) == GETARG_B(f) && GETARG_B(t) == GETARG_C(f);
    case OP_SETI: case OP_SETFIELD:
      return !GETARG_k(t) && GETARG_C(t) == a &&
             GET_OPCODE(f) == (GET_OPCODE(t) == OP_SETI ? OP_GETI : OP_GETFIELD) &&
             GETARG_B(t) == GETARG_C(f) &&
             issame(p, GETARG_A(t), to, GETARG_B(f), from, MAX_LOADS);
    case OP_SETTABLE:
      return !GETARG_k(t) && GETARG_C(t) == a && GET_OPCODE(f) == OP_GETTABLE &&
             issame(p, GETARG_A(t), to, GETARG_B(f), from, MAX_LOADS) &&
             issame(p, GETARG_B(t), to, GETARG_C(f), from, MAX_LOADS);
    default: return 0;
  }
}


LUA_API size_t luaN_replaced (lua_State *L) {
  const CallInfo *ci;
  const Proto *p;
  size_t all = 0;
  int pc, a, n, k;
  L = luaN_running(L);
  ci = L->ci;
  if (!isLua(ci)) return 0;
  p = clLvalue(s2v(ci->func.p))->p;
  pc = pcRel(ci->u.l.savedpc, p);
  if (GET_OPCODE(p->code[pc]) != OP_CONCAT) return 0;
  a = GETARG_A(p->code[pc]);
  n = GETARG_B(p->code[pc]);
  for (k = 0; k < n; k++) {
    const TValue *o = s2v(ci->func.p + 1 + a + k);
    int from = loader(p, pc, a + k);
    if (from >= 0 && ttisstring(o) && isback(p, pc + 1, from, a))
      all += tsslen(tsvalue(o));
  }
  return all;
}
