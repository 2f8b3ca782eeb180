/* SPDX-License-Identifier: MIT */
/*
** compressor: a Lua module with the compression of profiles (asamp/file/compressor.h), for specs.
**
**   open(how) -> compressor; how: "small" or "fast", its two algorithms
**   p:put(data, then) -> the output; then: "more", "flush" or "end"
**   p:ending() -> the bytes that end the gzip member, directly after a flush of "fast"
**   p:restart(): drops pending input and output of "fast", and starts another member
**   unpack(bytes) -> the text, the number of complete members, and 1 if no bytes follow them;
**                    uses zlib
*/
#include "compressor.h"

#include <lauxlib.h>
#include <lua.h>

#define NAME	"compressor"

static int l_open (lua_State *L) {
  static const char *const hows[] = {"small", "fast", NULL};
  int how = luaL_checkoption(L, 1, NULL, hows);
  Compressor *p = lua_newuserdatauv(L, sizeof(*p), 0);
  if (!compressor_open(p, how))
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
  Compressor *p = luaL_checkudata(L, 1, NAME);
  size_t n;
  const char *data = luaL_checklstring(L, 2, &n);
  int then = luaL_checkoption(L, 3, NULL, thens);
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  compressor_put(p, (const unsigned char *)data, n, then, keep, &out);
  luaL_pushresult(&out);
  return 1;
}

static int l_ending (lua_State *L) {
  unsigned char ending[COMPRESSOR_ENDING];
  compressor_ending(luaL_checkudata(L, 1, NAME), ending);
  lua_pushlstring(L, (const char *)ending, sizeof(ending));
  return 1;
}

static int l_restart (lua_State *L) {
  compressor_restart(luaL_checkudata(L, 1, NAME));
  return 0;
}

static int l_unpack (lua_State *L) {
  size_t n;
  unsigned char piece[65536];
  lua_Integer members = 0;
  z_stream z = {0};
  luaL_Buffer out;
  int result = Z_OK;
  z.next_in = (unsigned char *)luaL_checklstring(L, 1, &n);
  z.avail_in = (uInt)n;
  luaL_buffinit(L, &out);
  inflateInit2(&z, 15 + 16);
  while (result == Z_OK) {
    z.next_out = piece;
    z.avail_out = sizeof(piece);
    result = inflate(&z, Z_NO_FLUSH);
    luaL_addlstring(&out, (const char *)piece, sizeof(piece) - z.avail_out);
    if (result == Z_STREAM_END) {
      members++;
      if (z.avail_in > 0)
        result = inflateReset(&z);
    }
  }
  inflateEnd(&z);
  luaL_pushresult(&out);
  lua_pushinteger(L, members);
  lua_pushinteger(L, result == Z_STREAM_END);
  return 3;
}

static int l_close (lua_State *L) {
  compressor_close(luaL_checkudata(L, 1, NAME));
  return 0;
}

int luaopen_compressor (lua_State *L) {
  static const luaL_Reg methods[] = {{"put", l_put}, {"ending", l_ending}, {"restart", l_restart},
                                     {"__gc", l_close}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"open", l_open}, {"unpack", l_unpack}, {NULL, NULL}};
  luaL_newmetatable(L, NAME);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  luaL_newlib(L, functions);
  return 1;
}
