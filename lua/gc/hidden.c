/* SPDX-License-Identifier: MIT */
/*
** Hidden values of weak tables, where the program comes to them (hidden.h).
*/
#define LUA_CORE

#include "lprefix.h"

#include "lgc.h"

#include "hidden.h"
#include "weak.h"


/* What may still be found dead is listed again, and all of t looked at where there is no memory
   for that. */
int luaN_show (lua_State *L, Table *t, TValue *v) {
  global_State *g = G(L);
  if (!luaN_showslot(g, v)) return 0;
  if (!g->heap.gc.weak.decided && luaN_white(g, gcvalue(v)) &&
      !luaN_listdoubt(g, LUAN_DOUBTVALUES, t, v, 1))
    luaN_lookonce(g, t);
  return 1;
}


int luaN_showentry (lua_State *L, Table *t, Node *n) {
  return luaN_isfilled(L, t, gval(n)) && !(keyiscollectable(n) && isdead(G(L), gckey(n)));
}
