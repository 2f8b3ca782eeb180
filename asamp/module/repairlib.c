/* SPDX-License-Identifier: MIT */
/*
** The function profiler.reader.repair.
**
** repair(path, out [, inplace]) -> {whole, samples, timesamples, kept, cut, size, live,
** message} (RepairResult); on failure nil, reason, kind of failure: "read", "write", "same"
** ('path' and 'out' are one file, without 'inplace') or "live" (in place, while the file is being
** written).
*/
#include "luafields.h"
#include "repair.h"

int repair_lua (lua_State *L);

int repair_lua (lua_State *L) {
  static const char *const failures[] = {NULL, "read", "write", "same", "live"};
  const char *path = luaL_checkstring(L, 1);
  const char *out = luaL_checkstring(L, 2);
  char err[1024] = "";
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
  setboolean(L, "whole", r.whole);
  setinteger(L, "samples", r.samples);
  setinteger(L, "timesamples", r.timesamples);
  setinteger(L, "kept", r.kept);
  setinteger(L, "cut", r.cut);
  setinteger(L, "size", r.size);
  setboolean(L, "live", r.live);
  setstring(L, "message", r.message);
  return 1;
}
