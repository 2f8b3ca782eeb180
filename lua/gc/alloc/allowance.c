/* SPDX-License-Identifier: MIT */
/* Limits on allocation and on the bytes in use (allowance.h). */
#define LUA_CORE

#include "lprefix.h"

#include "lgc.h"
#include "lmem.h"
#include "lstring.h"

#include "allowance.h"
#include "debug.h"
#include "host.h"
#include "limit.h"
#include "seam.h"


int luaN_compare (lua_State *L, uint64_t n) {
  global_State *g = G(L);
  const luaN_Limits *l = g->heap.limits;
  if (n > luaN_leftallocated(g)) g->heap.refusal = l->whyallocated;
  else {
    if (n > luaN_leftinuse(g) && luaN_maycollect(g)) luaN_emergency(L);
    if (n <= luaN_leftinuse(g)) return 0;
    g->heap.refusal = l->whyinuse;
  }
  g->heap.starved = 1;
  return 1;
}


LUA_API void luaN_setlimits (lua_State *L, const luaN_Limits *limits) {
  global_State *g = G(L);
  luaN_mayenter(L, "luaN_setlimits");
  g->heap.limits = limits;
  g->heap.refusal = NULL;
  luaN_flush(g);
}


LUA_API const luaN_Limits *luaN_getlimits (lua_State *L) {
  return G(L)->heap.limits;
}
