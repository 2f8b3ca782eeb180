/* SPDX-License-Identifier: MIT */
/*
** The function profiler.reader.repair.
**
** repair(path, out [, inplace]) -> the fields of RepairResult: {whole, samples, timesamples, kept,
** cut, size, live, message}; on failure nil, reason, kind of failure:
**
**   - "read", "write": a file could not be read or written
**   - "same": 'path' and 'out' are the same file, but 'inplace' is not set
**   - "live": 'inplace' is set, but the file is still being written
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
