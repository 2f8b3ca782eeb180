/* SPDX-License-Identifier: MIT */
/* Restores or clears tombstoned weak values when the program reads their slots (hidden.h). */

#include "lgc.h"

#include "hidden.h"
#include "weak.h"


/* Restores or clears the tombstoned value of slot v (hidden.h). If the value was restored and is
   not marked, appends the slot to the list of unmarked weak values again, because the object may
   still be found dead. */
int luaN_show (lua_State *L, Table *t, TValue *v) {
  global_State *g = G(L);
  if (!luaN_showslot(g, v)) return 0;
  if (!g->heap.gc.weak.decided && luaN_white(g, gcvalue(v)) &&
      !luaN_listdoubt(g, LUAN_DOUBTVALUES, t, v, 1))
    luaN_lookonce(g, t);
  return 1;
}


int luaN_showentry (lua_State *L, Table *t, Node *n) {
  if (!luaN_isfilled(L, t, gval(n))) return 0;
  if (!keyiscollectable(n) || !isdead(G(L), gckey(n))) return 1;
  setempty(gval(n));
  setdeadkey(n);
  return 0;
}


void luaN_shownext (lua_State *L, Table *t, const TValue *key) {
  unsigned asize = luaN_asize(t), i = 0, end = luaN_slots(t);
  if (!ttisnil(key)) {
    /* If luaH_get finds no slot, 'key' is not in t any more (it may be the dead key of a node).
       Then prepares all slots of t. */
    if (!luaN_slotof(t, asize, luaH_get(t, key), &i)) {
      luaN_lookonce(G(L), t);
      return;
    }
    i++;
  }
  for (; i < end && (t->flags & LUAN_SCANNED); i++) {
    if ((i < asize) ? luaN_isfilled(L, t, &t->array[i])
                    : luaN_showentry(L, t, gnode(t, i - asize))) return;
  }
}


static int has (lua_State *L, Table *t, lua_Unsigned i) {
  return luaN_isfilled(L, t, luaH_getint(t, l_castU2S(i)));
}


lua_Unsigned luaN_border (lua_State *L, Table *t) {
  const lua_Unsigned most = l_castS2U(LUA_MAXINTEGER);
  lua_Unsigned i = 0, j = 1;  /* t[i] has a value, or i is 0 */
  while (has(L, t, j)) {
    i = j;
    if (j == most) return j;
    j = (j <= most / 2) ? 2 * j : most;
  }
  while (j - i > 1) {
    lua_Unsigned m = i + (j - i) / 2;
    if (has(L, t, m)) i = m;
    else j = m;
  }
  return i;
}
