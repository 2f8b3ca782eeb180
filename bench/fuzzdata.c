/*
** SPDX-License-Identifier: MIT
** A Lua module for bench/fuzz. luaopen_fuzzdata returns a function that creates a userdata of a
** given size in bytes. The userdata has one user value, and its bytes are 0.
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
