-- SPDX-License-Identifier: MIT
--
-- The C API is binary compatible: code that was compiled with the headers of upstream's Lua and linked to
-- its library must run with the fork's library unchanged, without a message of the loader.

local shell = require "spec.support.shell"

local MODULE = [[
#include <string.h>
#include <lua.h>
#include <lauxlib.h>

typedef struct Point { long double x; double y[3]; } Point;

static int new (lua_State *L) {
  Point *p = lua_newuserdatauv(L, sizeof(Point), 2);
  p->x = luaL_checknumber(L, 1);
  p->y[0] = luaL_optnumber(L, 2, 0);
  luaL_setmetatable(L, "Point");
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 2);
  return 1;
}

static int x (lua_State *L) {
  Point *p = luaL_checkudata(L, 1, "Point");
  lua_pushnumber(L, (lua_Number)p->x + p->y[0]);
  lua_getiuservalue(L, 1, 2);
  return 2;
}

static int repeated (lua_State *L) {
  luaL_Buffer b;
  lua_Integer i, n = luaL_checkinteger(L, 2);
  luaL_buffinit(L, &b);
  for (i = 0; i < n; i++) {
    lua_pushvalue(L, 1);
    luaL_addvalue(&b);
  }
  luaL_pushresult(&b);
  return 1;
}

static int finish (lua_State *L, int status, lua_KContext k) {
  lua_pushinteger(L, (lua_Integer)k);
  lua_pushboolean(L, status == LUA_YIELD);
  return 2;
}

static int waits (lua_State *L) {
  return lua_yieldk(L, lua_gettop(L), 42, finish);
}

static int thread (lua_State *L) {
  int n;
  lua_State *t = lua_newthread(L);
  memset(lua_getextraspace(t), 7, LUA_EXTRASPACE);
  lua_pushvalue(L, 1);
  lua_xmove(L, t, 1);
  lua_pushinteger(L, lua_resume(t, L, 0, &n));
  lua_xmove(t, L, n);
  lua_pushinteger(L, ((char *)lua_getextraspace(t))[LUA_EXTRASPACE - 1]);
  return 2 + n;
}

static int deny (lua_State *L) {
  return luaL_error(L, "denied %d", lua_gc(L, LUA_GCCOUNT) > 0);
}

static const luaL_Reg functions[] = {
  {"new", new}, {"x", x}, {"repeated", repeated}, {"waits", waits},
  {"thread", thread}, {"deny", deny}, {NULL, NULL}
};

int luaopen_plainmodule (lua_State *L) {
  luaL_checkversion(L);
  luaL_newmetatable(L, "Point");
  luaL_newlib(L, functions);
  lua_pushliteral(L, LUA_RELEASE);
  lua_setfield(L, -2, "release");
  return 1;
}
]]

local SCRIPT = [[
local m = require "plainmodule"
for i = 1, 20000 do
  local p = m.new(i, 0.5)
  local x, first = m.x(p)
  assert(x == i + 0.5 and first == i)
end
assert(m.repeated("abc", 5000) == ("abc"):rep(5000))
local co = coroutine.wrap(m.waits)
assert(co(1, 2) == 1)
local k, yielded = co()
assert(k == 42 and yielded)
local status, a, b, extra = m.thread(function()
  local t = {}
  for i = 1, 1000 do t[i] = {} end
  return #t, "b"
end)
assert(status == 0 and a == 1000 and b == "b" and extra == 7)
local ok, message = pcall(m.deny)
assert(not ok and message == "denied 1", message)
collectgarbage()
print(m.release)
]]

local PROGRAM = [[
#include <stdio.h>
#include <stdlib.h>
#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

static size_t bytes;

static void *counting (void *ud, void *p, size_t osize, size_t nsize) {
  (void)ud;
  bytes += nsize - (p == NULL ? 0 : osize);
  if (nsize == 0) {
    free(p);
    return NULL;
  }
  return realloc(p, nsize);
}

int main (void) {
  lua_State *L = luaL_newstate(), *M = lua_newstate(counting, NULL);
  int i, status;
  luaL_openlibs(L);
  luaL_openlibs(M);
  for (i = 0; i < 100; i++) {
    status = luaL_dostring(i % 2 ? L : M,
        "local t = {} for i = 1, 1000 do t[i] = {tostring(i)} end "
        "collectgarbage() return #t, ('x'):rep(10000), t[1000][1]");
    if (status != LUA_OK) {
      fprintf(stderr, "%s\n", lua_tostring(i % 2 ? L : M, -1));
      return 1;
    }
    lua_settop(i % 2 ? L : M, 3);
  }
  printf("%s %s %g\n", lua_tostring(L, 1), lua_tostring(M, 3), lua_version(L));
  lua_close(L);
  lua_close(M);
  printf("%lu\n", (unsigned long)bytes);
  return 0;
}
]]

describe("code built for pristine Lua #plain", function()
  local folder, root, flags
  local major, minor, release = shell.read("lua/upstream"):match("\nversion=(%d+)%.(%d+)%.(%d+)")

  lazy_setup(function()
    folder = shell.folder()
    root = shell.output("pwd"):gsub("\n", "")
    flags = shell.output("PKG_CONFIG_PATH=build/plain/lib/pkgconfig pkg-config --cflags --libs lua5.4")
      :gsub("\n", " ")
    assert.is_truthy(flags:find(root .. "/build/plain/include/lua5.4", 1, true), flags)
  end)

  lazy_teardown(function() shell.remove(folder) end)

  it("a module, runs in the fork's interpreter", function()
    shell.write(folder .. "/plainmodule.c", MODULE)
    shell.write(folder .. "/script.lua", SCRIPT)
    shell.output("cc -O1 -Wall -shared -fPIC -o %s/plainmodule.so %s/plainmodule.c %s",
                 folder, folder, flags:gsub("%-l%S+", ""))
    for _, bin in ipairs {"build/plain/bin/lua", "build/bin/lua"} do
      local status, out, err = shell.run(("LUA_CPATH='%s/?.so' %s %s/script.lua"):format(folder, bin, folder))
      assert.same({0, ("Lua %s.%s.%s\n"):format(major, minor, release), ""},
                  {status, out, err}, bin)
    end
  end)

  it("a program, runs on the fork's library, and the loader has nothing to say", function()
    shell.write(folder .. "/program.c", PROGRAM)
    shell.output("cc -O1 -Wall -o %s/program %s/program.c %s", folder, folder, flags)
    assert.is_truthy(shell.output("readelf -d " .. folder .. "/program"):find("liblua5.4.so.0", 1, true))
    for _, lib in ipairs {"build/plain/lib", "build/lib"} do
      local set = ("LD_LIBRARY_PATH=%s/%s "):format(root, lib)
      local loaded = shell.output(set .. "ldd " .. folder .. "/program")
      assert.is_truthy(loaded:find(("%s/%s/liblua5.4.so.0"):format(root, lib), 1, true), loaded)
      local status, out, err = shell.run(set .. "LD_BIND_NOW=1 " .. folder .. "/program")
      assert.same({0, ("1000 1000 %d\n0\n"):format(major * 100 + minor), ""},
                  {status, out, err}, lib)
    end
  end)

  it("has the same types and macros in the fork's headers, and two headers more", function()
    local plain, fork = "build/plain/include/lua5.4/", "build/include/lua5.4/"
    local names = shell.lines(shell.output("ls " .. plain))
    for _, name in ipairs(names) do
      assert.equal(shell.read(plain .. name), shell.read(fork .. name), name)
    end
    table.move({"seam.h", "asamp.h"}, 1, 2, #names + 1, names)
    table.sort(names)
    assert.same(names, shell.lines(shell.output("LC_ALL=C ls " .. fork)))
  end)
end)
