/* SPDX-License-Identifier: MIT */
/*
** A host program. A coroutine yields values from a deep recursion, and a collection marks it.
** Long after that, the host moves the values to another thread and drops them. Then it requests
** the lines of a function while there is no memory for them. It prints "whole" and "gone", or the
** expectation that failed.
*/
#include <stdio.h>
#include <stdlib.h>

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

#include "seam.h"

enum { DEEP = 3000, YIELDED = 40 };  /* slots */

static int refusing;

static void *allocate (void *ud, void *block, size_t old, size_t size) {
  (void)ud;
  if (size == 0) {
    free(block);
    return NULL;
  }
  return (refusing && (block == NULL || size > old)) ? NULL : realloc(block, size);
}

static const char *const BODY =
  "T = setmetatable({}, {__newindex = function() collectgarbage() end})\n"
  "local function make(n) if n > 0 then return {n, 0, 0, 0, 0, 0, 0, 0, 0, 0}, make(n - 1) end end\n"
  "coroutine.yield(make(40))\n"
  "T.field = 1\n"
  "return 7";

static int move (lua_State *L) {
  lua_State *co = lua_newthread(L);
  int i, n;
  const char *broken;
  lua_gc(L, LUA_GCINC, 0, 0, 0);
  luaL_checkstack(co, DEEP + 100, NULL);
  for (i = 0; i < DEEP; i++) lua_pushinteger(co, i);
  if (luaL_loadstring(co, BODY) != LUA_OK || lua_resume(co, L, 0, &n) != LUA_YIELD)
    return luaL_error(L, "%s", lua_tostring(co, -1));
  luaN_collect(L);
  luaN_collect(L);  /* this collection marks the coroutine */
  luaL_checkstack(L, YIELDED, NULL);
  lua_xmove(co, L, YIELDED);
  lua_pop(L, YIELDED);
  for (i = 0; i < 3; i++) while (!lua_gc(L, LUA_GCSTEP, 0)) {}
  if (luaL_dostring(L, "S = {} for i = 1, 100000 do S[i] = ('x'):rep(60) .. i end"))
    return lua_error(L);
  if (lua_resume(co, L, 0, &n) != LUA_OK) return luaL_error(L, "%s", lua_tostring(co, -1));
  broken = luaN_check(L);
  puts(broken == NULL && lua_tointeger(co, -1) == 7 ? "whole" : broken ? broken : "another result");
  return 0;
}

static int lines (lua_State *L) {
  lua_Debug ar;
  lua_settop(L, 1);
  refusing = 1;
  lua_getinfo(L, ">L", &ar);
  return 0;
}

static const char *const LONG =
  "local s = 'return function() ' for i = 1, 3000 do s = s .. 'X = ' .. i .. '\\n' end\n"
  "weak = setmetatable({load(s .. ' end')()}, {__mode = 'v'})\n"
  "return weak[1]";

int main (void) {
  lua_State *L = lua_newstate(allocate, NULL);
  int status, i;
  if (L == NULL) return 2;
  luaL_openlibs(L);
  lua_pushcfunction(L, move);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) puts(lua_tostring(L, -1));
  lua_settop(L, 0);
  lua_pushcfunction(L, lines);
  if (luaL_dostring(L, LONG)) puts(lua_tostring(L, -1));
  lua_settop(L, 2);
  status = lua_pcall(L, 1, 0, 0);
  refusing = 0;
  if (status != LUA_ERRMEM) puts("the lines had memory");
  lua_settop(L, 0);
  for (i = 0; i < 2; i++) lua_gc(L, LUA_GCCOLLECT);
  if (luaL_dostring(L, "print(weak[1] and 'still there' or 'gone')")) puts(lua_tostring(L, -1));
  lua_close(L);
  return 0;
}
