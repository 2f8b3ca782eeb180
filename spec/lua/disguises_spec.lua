-- SPDX-License-Identifier: MIT
--
-- In a patched file of upstream, each call must be a call of the function that is named. So no macro of the
-- fork may have the name of a function or macro of upstream. This file lists the exceptions: names of the
-- collector, in one block of gc.h, and the hooks that upstream provides for programs that build Lua.

local shell = require "spec.support.shell"

local OURS = {
  ["gc.h"] = "luaC_white isdead luaC_newobj luaC_objbarrier luaC_objbarrierback",
  ["core.h"] = "lua_lock luai_threadyield luai_userstateopen luai_userstatethread luai_userstateresume",
}

local function upstream()
  local names = {}
  local text = shell.output "cat build/plain/src/src/*.[ch]"
  for name in text:gmatch "\n#%s*define%s+([%w_]+)" do names[name] = true end
  for name in text:gmatch "\n%a[^\n;{}=#()]*[ *]%(?([%w_]+)%)? %(" do names[name] = true end
  return names
end

-- Calls f(file, name) for each name that a file of the fork defines or undefines as a macro when a file of
-- upstream's core is compiled. 'file' is the base name.
local function definitions(f)
  local text = shell.output "gcc -std=gnu99 -DLUA_COMPAT_5_3 -DLUA_USE_LINUX -E -dD -Ibuild/fork/src/src \z
    -iquote lua -iquote lua/gc -iquote lua/vm $(printf -- '-iquote %s ' lua/gc/*/) \z
    $(ls build/fork/src/src/l*.c | grep -v 'lib[.]c$\\|/lua[c.]\\|/linit\\|/lauxlib\\|/lgc\\|/lmem')"
  local file
  for line in text:gmatch "[^\n]+" do
    local path = line:match '^# %d+ "([^"]*)"'
    if path then file = path:match "^lua/.*%f[^/]([^/]+)$"
    elseif file and line:byte() == 35 then
      local name = line:match "^#define ([%w_]+)" or line:match "^#undef ([%w_]+)"
      if name then f(file, name) end
    end
  end
end

describe("the macros of the fork #plain", function()
  it("have names of their own, apart from two blocks", function()
    local names, allowed, found, n = upstream(), {}, {}, 0
    for file, list in pairs(OURS) do
      for name in list:gmatch "%S+" do allowed[file .. " " .. name] = true end
    end
    for _, name in ipairs {"mainpositionTV", "luaH_getint", "lua_rawget", "isempty", "lua_integer2str"} do
      assert.is_true(names[name], name)
    end
    definitions(function(file, name)
      n = n + 1
      local key = file .. " " .. name
      if names[name] and not allowed[key] then found[key] = true end
    end)
    assert.same({}, found)
    assert.is_true(n > 1000, n)
  end)
end)

describe("the folders of the core #plain", function()
  it("are layers: lua/vm may use lua/gc, which includes and calls nothing of lua/vm", function()
    local vm, calls = {}, {}
    for _, path in ipairs(shell.lines(shell.output "ls lua/vm/*.h")) do vm[path:match "[^/]+$"] = true end
    for _, path in ipairs(shell.lines(shell.output "ls lua/gc/*.[ch] lua/gc/*/*.[ch]")) do
      for name in shell.read(path):gmatch '#%s*include%s*"([^"]+)"' do
        assert.is_nil(vm[name], path .. " includes " .. name)
      end
    end
    for name in shell.output("nm --defined-only build/fork/obj/vm/*.o"):gmatch " T ([%w_]+)" do
      calls[name] = true
    end
    assert.is_truthy(next(calls))
    for name in shell.output("nm -u build/fork/obj/gc/*/*.o"):gmatch " U ([%w_]+)" do
      assert.is_nil(calls[name], name)
    end
  end)
end)
