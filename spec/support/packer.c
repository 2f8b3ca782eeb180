/* SPDX-License-Identifier: MIT */
/*
** packer: the compression of profiles (asamp/packer.h) for specs.
**
**   open(how) -> packer; how: "small", "fast", "live"
**   p:put(data, then) -> what came out; then: "more", "flush", "end"
*/
#include "../../asamp/packer.h"

#include <lauxlib.h>
#include <lua.h>

#define NAME	"packer"

static int l_open (lua_State *L) {
  static const char *const hows[] = {"small", "fast", "live", NULL};
  int how = luaL_checkoption(L, 1, NULL, hows);
  Packer *p = lua_newuserdatauv(L, sizeof(*p), 0);
  if (!packer_open(p, how))
    return luaL_error(L, "not enough memory");
  luaL_setmetatable(L, NAME);
  return 1;
}

static int keep (void *ud, const unsigned char *data, size_t n) {
  luaL_addlstring(ud, (const char *)data, n);
  return 1;
}

static int l_put (lua_State *L) {
  static const char *const thens[] = {"more", "flush", "end", NULL};
  Packer *p = luaL_checkudata(L, 1, NAME);
  size_t n;
  const char *data = luaL_checklstring(L, 2, &n);
  int then = luaL_checkoption(L, 3, NULL, thens);
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  packer_put(p, (const unsigned char *)data, n, then, keep, &out);
  luaL_pushresult(&out);
  return 1;
}

static int l_close (lua_State *L) {
  packer_close(luaL_checkudata(L, 1, NAME));
  return 0;
}

int luaopen_packer (lua_State *L) {
  static const luaL_Reg methods[] = {{"put", l_put}, {"__gc", l_close}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"open", l_open}, {NULL, NULL}};
  luaL_newmetatable(L, NAME);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  luaL_newlib(L, functions);
  return 1;
}
