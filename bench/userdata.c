/* SPDX-License-Identifier: MIT */
/*
** A Lua module for bench/ablate. luaopen_userdata returns a function that creates a userdata of a
** given size in bytes. The userdata has a finalizer that does nothing.
*/
#include "lauxlib.h"
#include "lua.h"

static int userdata_gc (lua_State *L) {
  (void)L;
  return 0;
}


static int userdata_new (lua_State *L) {
  lua_newuserdatauv(L, (size_t)luaL_checkinteger(L, 1), 0);
  luaL_setmetatable(L, "userdata");
  return 1;
}


int luaopen_userdata (lua_State *L) {
  luaL_newmetatable(L, "userdata");
  lua_pushcfunction(L, userdata_gc);
  lua_setfield(L, -2, "__gc");
  lua_pushcfunction(L, userdata_new);
  return 1;
}
