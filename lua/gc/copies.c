/* SPDX-License-Identifier: MIT */
/*
** Copies (copies.h), and what a concatenation copies once more.
*/
#define LUA_CORE

#include "lprefix.h"

#include "lua.h"

#include "ldebug.h"
#include "lgc.h"
#include "lobject.h"
#include "lopcodes.h"
#include "lstate.h"

#include "copies.h"
#include "debug.h"
#include "seam.h"

/* Instructions before a concatenation among which those that load its operands are. */
#define BEFORE	64


void luaN_toldcopy (lua_State *L, size_t n) {
  luaN_Heap *h = &G(L)->heap;
  const luaN_Sampler *s = h->sampler;
  uint64_t over = n - h->copyleft;
  h->copyleft = LUAN_NOCOPIES;
  if (s == NULL || s->copied == NULL) return;
  luaN_asking(h, 1);
  h->copyleft = s->copied(s->ud, L, n, over);
  luaN_asking(h, 0);
  lua_assert(h->copyleft >= 1);
}


LUA_API void luaN_grown (lua_State *L, size_t n) {
  luaN_countcopy(L, n);
}


LUA_API void luaN_setcopies (lua_State *L, uint64_t distance) {
  G(L)->heap.copyleft = (distance < 1) ? 1 : distance;
}


/* {== what is appended to =============================================== */

/*
** Does 'to', which stores register a, store where 'from' has loaded from? The
** registers of both are the same code's, a statement apart.
*/
static int issame (Instruction to, Instruction from, int a) {
  switch (GET_OPCODE(to)) {
    case OP_MOVE:
      return GETARG_B(to) == a && GET_OPCODE(from) == OP_MOVE &&
             GETARG_A(to) == GETARG_B(from);
    case OP_SETUPVAL:
      return GETARG_A(to) == a && GET_OPCODE(from) == OP_GETUPVAL &&
             GETARG_B(to) == GETARG_B(from);
    case OP_SETTABUP: case OP_SETTABLE: case OP_SETI: case OP_SETFIELD: {
      static const OpCode loads[] = {OP_GETTABUP, OP_GETTABLE, OP_GETI, OP_GETFIELD};
      return !GETARG_k(to) && GETARG_C(to) == a &&
             GET_OPCODE(from) == loads[GET_OPCODE(to) - OP_SETTABUP] &&
             GETARG_A(to) == GETARG_B(from) && GETARG_B(to) == GETARG_C(from);
    }
    default: return 0;
  }
}


LUA_API size_t luaN_replaced (lua_State *L) {
  const CallInfo *ci;
  const Proto *p;
  size_t all = 0;
  int pc, a, n, k, first;
  L = luaN_running(L);
  ci = L->ci;
  if (!isLua(ci)) return 0;
  p = clLvalue(s2v(ci->func.p))->p;
  pc = pcRel(ci->u.l.savedpc, p);
  if (GET_OPCODE(p->code[pc]) != OP_CONCAT) return 0;
  a = GETARG_A(p->code[pc]);
  n = GETARG_B(p->code[pc]);
  first = (pc > BEFORE) ? pc - BEFORE : 0;
  for (k = 0; k < n; k++) {
    const TValue *o = s2v(ci->func.p + 1 + a + k);
    int at = pc - 1;
    while (at > first && !(testAMode(GET_OPCODE(p->code[at])) &&
                           GETARG_A(p->code[at]) == a + k))
      at--;
    if (at >= first && ttisstring(o) && issame(p->code[pc + 1], p->code[at], a))
      all += tsslen(tsvalue(o));
  }
  return all;
}

/* }===================================================================== */
