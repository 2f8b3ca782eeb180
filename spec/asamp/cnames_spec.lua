-- SPDX-License-Identifier: MIT
-- Names of C functions of modules without symbols: a sample must have the name under which Lua code calls
-- the function.

local process = require "spec.support.process"
local samples = require "spec.support.samples"
local shell = require "spec.support.shell"

-- A C module that is stripped of its symbols. Its functions are registered from local arrays.
local SOURCE = [[
  #include <lua.h>
  #include <lauxlib.h>
  static int make (lua_State *L) { lua_newuserdatauv(L, 5000, 0); return 1; }
  static int other (lua_State *L) { lua_newuserdatauv(L, 5200, 0); return 1; }
  static int lost (lua_State *L) { lua_newuserdatauv(L, 5400, 0); return 1; }
  static int method (lua_State *L) { lua_newuserdatauv(L, 5600, 0); return 1; }
  static int closed (lua_State *L) { lua_newuserdatauv(L, 5800, 0); return 1; }
  static int meta (lua_State *L) { lua_newuserdatauv(L, 6000, 0); return 1; }
  static int object (lua_State *L) {
    lua_newuserdatauv(L, 1, 0);
    luaL_setmetatable(L, "bare object");
    return 1;
  }
  int luaopen_bare (lua_State *L) {
    luaL_Reg methods[] = {{"method", method}, {NULL, NULL}};
    luaL_Reg functions[] = {{"make", make}, {"object", object}, {NULL, NULL}};
    luaL_newmetatable(L, "bare object");
    lua_pushcfunction(L, meta);
    lua_setfield(L, -2, "__len");
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    luaL_newlib(L, functions);
    lua_pushinteger(L, 1);
    lua_pushcclosure(L, closed, 1);
    lua_setfield(L, -2, "closed");
    lua_pushcfunction(L, other);
    lua_setglobal(L, "bareglobal");
    lua_pushcfunction(L, lost);
    lua_rawseti(L, -2, 1);
    return 1;
  }
]]

local SCRIPT = [[
  local path, native = ...
  local core = require "profiler.core"
  local bare = require "bare"
  setmetatable(bare, {__index = error, __pairs = error, __len = error})
  local longer, object = {make = bare.make}, bare.object()
  package.loaded["a longer name"] = longer
  assert(core.open{out = path, period = 64, native = native == "native"})
  core.on(64, false)
  for _ = 1, 10 do
    bare.make() bareglobal() bare[1]() object:method() bare.closed()
    local _ = #object
  end
  core.close()
]]

-- Profiles the script with this module. Returns the name of the innermost native frame by the size of the
-- userdata that it allocates.
local function names(native)
  local folder = shell.folder()
  shell.write(folder .. "/bare.c", SOURCE)
  shell.output("cc -O1 -g0 -shared -fPIC -Ibuild/include/lua5.4 -o %s/bare.so %s/bare.c", folder, folder)
  shell.output("strip --strip-all %s/bare.so", folder)
  local path = folder .. "/profile"
  local status, _, err = process.run{code = SCRIPT, path, native, env = {
    LUA_CPATH = folder .. "/?.so;" .. package.cpath}}
  assert.same({0, ""}, {status, err})
  local found = {}
  for _, s in ipairs(samples.read(path)) do
    local n = s.kind == "userdata" and s.size - 32
    if n and n >= 5000 then
      local f = s.stack[1]
      assert.is_true(f.native)
      assert.is_true(found[n] == nil or found[n] == f.name, f.name)
      found[n] = f.name
    end
  end
  shell.remove(folder)
  return found
end

describe("a C function without a symbol", function()
  for _, native in ipairs{"native", "without"} do
    it("has the name of its field in a module or metatable: " .. native, function()
      local found = names(native)
      -- no table field refers to the function at line 5400, so that it has only an address
      assert.truthy(found[5400]:find "^bare%.so%+0x%x+$", found[5400])
      found[5400] = nil
      assert.same({[5000] = "bare.make", [5200] = "bareglobal", [5600] = "bare object.method",
                   [5800] = "bare.closed", [6000] = "bare object.__len"}, found)
    end)
  end
end)
