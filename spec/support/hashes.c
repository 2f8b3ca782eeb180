/* SPDX-License-Identifier: MIT */
/*
** A Lua module with the core's hash functions.
**
** hashes.of(s, seed) -> the hash of the string s (of any length) in a state with this seed (an
** integer of 32 bits)
** hashes.spread(u, n) -> the main position of the address u in a hash part of 2^n nodes
*/
#include <lua.h>
#include <lauxlib.h>

#include "../../lua/vm/text.h"


static int of (lua_State *L) {
  size_t l;
  const char *s = luaL_checklstring(L, 1, &l);
  lua_pushinteger(L, luaN_hash(s, l, (unsigned int)luaL_checkinteger(L, 2)));
  return 1;
}


static int spread (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)luaN_spread((uint64_t)luaL_checkinteger(L, 1),
                                              (int)luaL_checkinteger(L, 2)));
  return 1;
}


int luaopen_hashes (lua_State *L) {
  lua_createtable(L, 0, 2);
  lua_pushcfunction(L, spread);
  lua_setfield(L, -2, "spread");
  lua_pushcfunction(L, of);
  lua_setfield(L, -2, "of");
  return 1;
}
