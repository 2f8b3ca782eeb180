/* SPDX-License-Identifier: MIT */
/*
** repair(path, out [, inplace]) of profiler.reader, for Lua.
**
** Returns a table {whole, samples, timesamples, kept, cut, mended, size,
** message} (repair.h), or nil, a line and what failed: "read", "write", or
** "same" when both names are those of one file and 'inplace' is not true.
*/
#include "repair.h"

#include <lua.h>
#include <lauxlib.h>

static void set (lua_State *L, const char *key, uint64_t n) {
  lua_pushinteger(L, (lua_Integer)n);
  lua_setfield(L, -2, key);
}

int repair_lua (lua_State *L);

int repair_lua (lua_State *L) {
  static const char *const failures[] = {NULL, "read", "write", "same"};
  const char *path = luaL_checkstring(L, 1);
  const char *out = luaL_checkstring(L, 2);
  char err[1024] = "one file";
  RepairResult r;
  int failed = repair_file(path, out, lua_toboolean(L, 3), &r, err,
                           sizeof(err));
  if (failed) {
    lua_pushnil(L);
    lua_pushstring(L, err);
    lua_pushstring(L, failures[failed]);
    return 3;
  }
  lua_createtable(L, 0, 8);
  lua_pushboolean(L, r.whole);
  lua_setfield(L, -2, "whole");
  set(L, "samples", r.samples);
  set(L, "timesamples", r.timesamples);
  set(L, "kept", r.kept);
  set(L, "cut", r.cut);
  set(L, "mended", r.mended);
  set(L, "size", r.size);
  lua_pushstring(L, r.message);
  lua_setfield(L, -2, "message");
  return 1;
}
