-- SPDX-License-Identifier: MIT
-- Names of the functions of two libraries that are loaded at the same addresses, one after the other. A
-- former bug: the functions of the second library had the names of the first one's functions.

local process = require "spec.support.process"
local reader = require "profiler.reader"
local shell = require "spec.support.shell"
local vmprof = require "spec.support.vmprof"

-- A C module. Modules with names of the same length have the same layout.
local SOURCE = [[
  #include <lua.h>
  #include <lauxlib.h>
  #define JOIN(a, b)	a##b
  #define NAMED(name, suffix)	JOIN(name, suffix)
  static int NAMED(NAME, _make) (lua_State *L) { lua_newuserdatauv(L, 5000, 0); return 1; }
  static int NAMED(NAME, _spin) (lua_State *L) {
    volatile unsigned i;
    (void)L;
    for (i = 0; i < 100000000; i++) { }
    return 0;
  }
  int JOIN(luaopen_, mine) (lua_State *L) {
    luaL_Reg functions[] = {{"make", NAMED(NAME, _make)}, {"spin", NAMED(NAME, _spin)}, {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
  }
]]

-- Loads each module in a new state, calls its functions, and closes the state, which unloads the module.
-- Prints the address of each module's function.
local SCRIPT = [[
  local peers, folder, what, pause = require "peers", ...
  for _, name in ipairs{"first", "other", "first"} do
    local s = peers.new()
    local _, at = assert(s:run([=[
      local path, name, what = ...
      local m = assert(package.loadlib(path, "luaopen_mine"))()
      package.loaded[name] = m
      for _ = 1, what == "make" and 100 or 1 do m[what]() end
      return ("%p"):format(m[what])]=], ("%s/%s.so"):format(folder, name), name, what))
    print(at)
    peers.sleep(tonumber(pause))
    s:close()
  end
  os.exit(0)]]

describe("a library at the addresses of an unloaded one", function()
  local folder
  setup(function()
    folder = shell.folder()
    shell.write(folder .. "/mine.c", SOURCE)
    for _, name in ipairs{"first", "other"} do
      local path = ("%s/%s.so"):format(folder, name)
      local options = "-O1 -shared -fPIC -Ibuild/include/lua5.4"
      shell.output("gcc %s -DNAME=%s -o %s %s/mine.c", options, name, path, folder)
      shell.output("mkdir -p %s/bare && strip -o %s/bare/%s.so %s", folder, folder, name, path)
    end
  end)
  teardown(function() shell.remove(folder) end)

  -- Runs the script with the options, until the modules are loaded at the same address, up to ten times:
  -- other mappings of the process may use the address meanwhile. Returns false if that fails.
  local function loads(path, options, from, what, pause)
    for _ = 1, 10 do
      os.remove(path)
      local status, out, err = process.run{from, what, pause, code = SCRIPT,
        env = {ASAMP = options .. ",quiet,out=" .. path}}
      assert.same({0, ""}, {status, err})
      local at = shell.lines(out)
      assert.equal(3, #at)
      if at[1] == at[2] and at[1] == at[3] then return true end
    end
    return false
  end

  -- Profiles the script. Returns the profile's path, and the number of samples by the name of the innermost
  -- function; nil if the modules were not loaded at the same address.
  local function profiled(...)
    local path = folder .. "/p.vmprof"
    if not loads(path, ...) then return end
    local profile, samples = assert(reader.read(path)), {}
    for i, node in ipairs(profile.sites.node) do
      local name = profile.functions[profile.nodes.fn[node]].name
      samples[name] = (samples[name] or 0) + profile.sites.samples[i]
    end
    return path, samples
  end

  for _, t in ipairs{
    {"allocation samples", "alloc=64,fixed", "make", 0, 7000},
    {"allocation samples that are written before it is unloaded", "alloc=64,fixed", "make", 1.5, 7000},
    {"the flight recorder", "alloc=64,fixed,ring=1m", "make", 0, 7000},
    {"time samples", "alloc=0,time=1000", "spin", 0, 20},
    {"time samples of the flight recorder", "alloc=0,time=1000,ring=1m", "spin", 0, 20},
  } do
    local what, options, call, pause, least = table.unpack(t)

    it("has its own names in " .. what, function()
      local path, samples = profiled(options, folder, call, pause)
      if not path then return pending "the libraries were loaded at different addresses" end
      local first, other = samples["first_" .. call] or 0, samples["other_" .. call] or 0
      assert.is_true(other > least, other)
      assert.is_true(first > 1.2 * other, first)
    end)

    it("has its own registered names in " .. what, function()
      local path, samples = profiled(options, folder .. "/bare", call, pause)
      if not path then return pending "the libraries were loaded at different addresses" end
      local first, other = samples["first." .. call] or 0, samples["other." .. call] or 0
      assert.is_true(other > least, other)
      assert.is_true(first > 1.2 * other, first)
    end)
  end

  it("has other frame ids, and the first library keeps its ids when it is loaded again", function()
    local path = profiled("alloc=64,fixed", folder, "make", 0)
    if not path then return pending "the libraries were loaded at different addresses" end
    local ids = {}
    for id, name in pairs(vmprof.decode((vmprof.load(path))).names) do
      local module = name:match "^n:(%l+)_make:"
      if module then
        assert.is_nil(ids[module])
        ids[module] = id
      end
    end
    assert.not_equal(ids.first, ids.other)
    assert.equal(ids.first & 0xffffffffffff, ids.other & 0xffffffffffff)
  end)
end)
