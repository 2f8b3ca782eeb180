/* SPDX-License-Identifier: MIT */
/* Samples of copied bytes (copies.h). */
#define LUA_CORE

#include "lprefix.h"

#include "lua.h"

#include "lgc.h"
#include "lstate.h"

#include "copies.h"
#include "debug.h"
#include "seam.h"


void luaN_reportcopy (lua_State *L, size_t n) {
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
