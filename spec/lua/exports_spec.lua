-- SPDX-License-Identifier: MIT
--
-- The exported symbols of the libraries, and the dependencies between the parts: only asamp may depend on
-- lua, and only through seam.h. The spec reads the built files by nm and readelf, and the includes of the
-- sources.

local sets = require "spec.support.sets"
local shell = require "spec.support.shell"

local function set(list)
  local s = {}
  for _, v in ipairs(list) do s[v] = true end
  return s
end

-- Returns the dynamic symbols that a file defines: a table of the symbol's version, or "", by name.
local function exported(path)
  local names = {}
  for _, line in ipairs(shell.lines(shell.output("nm -D --defined-only " .. path))) do
    local kind, name = line:match("^%x* *(%a) (%S+)$")
    assert(kind, line)
    if kind ~= "A" then
      local plain, version = name:match("^(.-)@@?(.*)$")
      names[plain or name] = version or ""
    end
  end
  return names
end

-- Returns the set of names that these headers declare as API functions of the library.
local function declared(...)
  local names = {}
  for _, path in ipairs {...} do
    local text = assert(shell.read(path), path):gsub("/%*.-%*/", "")
    for _, kind in ipairs {"LUA_API", "LUALIB_API", "LUAMOD_API"} do
      for declaration in text:gmatch("%f[%w_]" .. kind .. "%s+([^;#]-);") do
        local name = declaration:match("%(%s*([%w_]+)%s*%)%s*%(") or declaration:match("([%w_]+)%s*%(")
        names[assert(name, declaration)] = true
      end
    end
  end
  return names
end

local function luan(names)
  local s = {}
  for name in pairs(names) do
    if name:find "^luaN_" then s[name] = true end
  end
  return s
end

local PLAIN, FORK = "build/plain/lib/liblua5.4.so.0", "build/lib/liblua5.4.so.0"
local HEADERS = "build/plain/include/lua5.4/"

describe("the exported names #plain", function()
  it("are upstream's API, all of it, and the seam's functions, in the library", function()
    local fork, plain = exported(FORK), exported(PLAIN)
    local api = declared(HEADERS .. "lua.h", HEADERS .. "lauxlib.h", HEADERS .. "lualib.h")
    assert.is_true(#sets.sorted(api) > 140, #sets.sorted(api))
    assert.same({}, sets.sorted(api, plain))
    assert.same({}, sets.sorted(plain, fork))
    assert.same(sets.sorted(declared("lua/seam.h")), sets.sorted(fork, plain))
  end)

  it("are the same in the interpreter, for modules that it loads", function()
    local fork, plain = exported("build/bin/lua"), exported("build/plain/bin/lua")
    assert.same({}, sets.sorted(plain, fork))
    assert.same(sets.sorted(declared("lua/seam.h")), sets.sorted(fork, plain))
  end)

  it("have the prefix luaN_ where they are not upstream's", function()
    for name in pairs(declared("lua/seam.h")) do
      assert.is_truthy(name:find("^luaN_%l+$"), name)
    end
    -- functions that these headers declare for other parts of the collector must not be exported
    local inner = declared("lua/gc/alloc/nursery.h", "lua/gc/core.h", "lua/gc/gc.h")
    -- a function of upstream, for which the header only sets a section
    inner.lua_resume = nil
    assert.same({}, sets.sorted(inner))
    assert.same(sets.sorted(luan(declared("lua/seam.h"))), sets.sorted(luan(exported(FORK))))
  end)

  it("carry the soname and the version of Debian's library", function()
    local names = exported(FORK)
    for name, version in pairs(names) do assert.equal("LUA_5.4", version, name) end
    for _, path in ipairs {FORK, PLAIN} do
      local text = shell.output("readelf -dV " .. path)
      assert.equal("liblua5.4.so.0", text:match("Library soname: %[(.-)%]"), path)
      assert.is_truthy(text:find("Name: LUA_5.4\n", 1, true), path)
    end
  end)

  local function modules()
    -- malloc.so is excluded: it is preloaded, not a module, and exports malloc and similar functions
    local list = shell.lines(shell.output("ls build/lib/asamp/*/*.so | grep -v /malloc.so"))
    assert.is_true(#list >= 4)
    return list
  end

  it("of a module of the profiler are the functions that open it, nothing else; of its core, those that " ..
     "lua/attach.c needs, too", function()
    for _, path in ipairs(modules()) do
      local folder, name = path:match("([%w_]+)/([%w_]+)%.so$")
      local own = {"luaopen_" .. folder .. "_" .. name}
      if name == "core" then own = {"asamp_join", "asamp_setup", own[1]} end
      assert.same(own, sets.sorted(exported(path)))
    end
  end)

  it("are not looked up for a module by the dynamic loader, whose Lua may be another", function()
    for _, path in ipairs(modules()) do
      local wanted = shell.output("nm -D --undefined-only " .. path)
      assert.is_truthy(wanted:find " dlsym", path)
      assert.is_nil(wanted:match " (luaL?N?_[%w_]+)", path)
      assert.is_nil(shell.output("readelf -d " .. path):match "NEEDED[^\n]*lua", path)
    end
  end)
end)

-- Returns two lists of the files that a source includes: those in quotes and those in <>.
local function includes(path)
  local own, system = {}, {}
  local text = assert(shell.read(path), path)
  for name in text:gmatch('#%s*include%s*"([^"]+)"') do own[#own + 1] = name end
  for name in text:gmatch("#%s*include%s*<([^>]+)>") do system[#system + 1] = name end
  return own, system
end

local function files(pattern)
  return shell.lines(shell.output("ls " .. pattern))
end

local function base(path)
  return path:match("[^/]+$")
end

local PUBLIC = set {"lua.h", "lauxlib.h", "lualib.h", "luaconf.h"}

describe("dependencies between the parts #plain", function()
  it("lets the fork know nothing of asamp", function()
    local above = {}
    for _, path in ipairs(files "asamp/*/*.h lualib/*.lua") do above[base(path)] = true end
    for _, path in ipairs(files "lua/*.[ch] lua/gc/*/*.[ch] lua/vm/*.[ch]") do
      for _, name in ipairs((includes(path))) do
        assert.is_nil(above[base(name)], path .. " includes " .. name)
        assert.is_falsy(name:find("/", 1, true), path .. " includes " .. name)
      end
    end
    for _, path in ipairs(files "lua/patches/*.patch") do
      for name in shell.read(path):gmatch('\n%+#include "([^"]+)"') do
        assert.is_nil(above[base(name)], path .. " includes " .. name)
      end
    end
  end)

  it("lets asamp know the seam and Lua's public headers, nothing else of lua/", function()
    local own, inner = {}, {}
    for _, path in ipairs(files "asamp/*/*.h") do own[base(path)] = true end
    for _, path in ipairs(files "build/plain/src/src/*.h lua/gc/*.h lua/gc/*/*.h") do
      inner[base(path)] = not PUBLIC[base(path)]
    end
    for _, path in ipairs(files "asamp/*/*.[ch]") do
      local mine, system = includes(path)
      for _, name in ipairs(mine) do
        assert.is_truthy(own[name] or PUBLIC[name] or name == "seam.h", path .. " includes " .. name)
      end
      for _, name in ipairs(system) do
        assert.is_falsy(inner[base(name)], path .. " includes " .. name)
      end
    end
  end)

  it("keeps Lua out of every folder of asamp but those that face it", function()
    local FACES = {sample = true, session = true, snapshot = true, control = true, module = true}
    local CLEAN = set {"profile.h", "profilequeue.h", "profileopen.c", "profileevents.c",
                       -- files in the folders above that may not include headers of Lua
                       "profilewriter.h", "profilewriter.c"}
    -- place: path of each header by name; knows[file]: true if the file includes a header of Lua, directly
    -- or indirectly
    local place, knows = {}, {}
    for _, path in ipairs(files "asamp/*/*.h") do place[base(path)] = path end
    local function reaches(path)
      if knows[path] == nil then
        knows[path] = false
        local mine, system = includes(path)
        for _, name in ipairs(system) do
          if PUBLIC[base(name)] then knows[path] = true end
        end
        for _, name in ipairs(mine) do
          if PUBLIC[name] or name == "seam.h" or reaches(place[name]) then
            knows[path] = true
          end
        end
      end
      return knows[path]
    end
    for _, path in ipairs(files "asamp/*/*.[ch]") do
      local faces = FACES[path:match "asamp/(%w+)/"] and not CLEAN[base(path)]
      if reaches(path) then
        assert.is_truthy(faces, path)
        -- a source that includes a header of Lua must not state that it is independent of Lua
        assert.is_falsy(shell.read(path):find "[Kk]nows no Lua", path)
      end
    end
  end)

  it("keeps the machinery of the core out of specs' modules", function()
    for _, path in ipairs(files "spec/support/*.c") do
      local mine, system = includes(path)
      for _, list in ipairs {mine, system} do
        for _, name in ipairs(list) do
          assert.is_falsy(name:find("lstate.h", 1, true) or name:find("lobject.h", 1, true),
                          path .. " includes " .. name)
        end
      end
    end
  end)
end)
