/*
** SPDX-License-Identifier: MIT
** The userdata of bench/fuzz: a module whose only function returns a userdata of
** a given size in bytes with one user value.
*/
#include <string.h>

#include "lua.h"
#include "lauxlib.h"

static int newdata (lua_State *L) {
  size_t size = (size_t)luaL_checkinteger(L, 1);
  memset(lua_newuserdatauv(L, size, 1), 0, size);
  return 1;
}

int luaopen_fuzzdata (lua_State *L) {
  lua_pushcfunction(L, newdata);
  return 1;
}
