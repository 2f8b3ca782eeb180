-- SPDX-License-Identifier: MIT
--
-- The cost of the profiler in a process that has the profiler's library but not the environment variable
-- ASAMP. It must call getenv once for each state, and nothing else of the profiler. callgrind counts these
-- calls. bench/instructions measures the cost of allocation in such a process.

local process = require "spec.support.process"
local shell = require "spec.support.shell"

local prefix = process.interpreter():match "^(.*)/bin/[^/]+$"

local HOST = [[
#include <stdlib.h>
#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>
int main (int argc, char **argv) {
  int i, n = atoi(argv[argc - 1]);
  for (i = 0; i < n; i++) {
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    if (luaL_dostring(L, "local t = {} for i = 1, 100 do t[i] = {} end")) return 1;
    lua_close(L);
  }
  return 0;
}]]

-- The functions that the search for a variable in the environment may call.
local SEARCH = {luaN_complete = true, secure_getenv = true, getenv = true}

describe("a process without ASAMP #plain", function()
  if not os.execute "command -v valgrind >/dev/null" then
    pending "counts by valgrind, which is not there: apt-get install valgrind"
    return
  end
  local folder, host

  setup(function()
    folder = shell.folder()
    host = folder .. "/host"
    shell.write(folder .. "/host.c", HOST)
    assert(os.execute(("gcc -O1 -I%s/include/lua5.4 %s/host.c -o %s -L%s/lib -l:liblua5.4.so.0 "
                       .. "-Wl,-rpath,%s/lib"):format(prefix, folder, host, prefix, prefix)))
  end)

  -- Counts the work of luaN_complete and its callees in a process with n states. Returns the number of
  -- instructions, the set of the called functions, and true if the profiler's module was loaded.
  local function complete(n, asamp)
    local out = folder .. "/callgrind"
    local code, _, err = process.run{program = "valgrind", "--tool=callgrind",
      "--toggle-collect=luaN_complete", "--callgrind-out-file=" .. out, host, tostring(n), directory = folder,
      env = {LD_BIND_NOW = "1", ASAMP = asamp, LUA_PATH = "", LUA_CPATH = ""}}
    assert.equal(0, code, err)
    local text, names, known, name, iscall = process.read(out), {}, {}, nil, false
    for line in text:gmatch "[^\n]+" do
      local id, called = line:match "^c?fn=(%(%d+%)) ?(.*)$"
      if id and called ~= "" then known[id] = called:gsub("'%d+$", "") end
      if line:find "^fn=" then name = known[id] end
      if not iscall and line:find "^[%d+*-]" and (tonumber(line:match " (%d+)$") or 0) > 0 then
        -- records a function of which the output of callgrind contains executed instructions
        names[name] = true
      end
      iscall = line:find "^calls=" ~= nil
    end
    return tonumber(text:match "\nsummary: (%d+)" or text:match "\ntotals: (%d+)"), names,
           text:find("profiler/core.so", 1, true) ~= nil
  end

  it("looks for one name in the environment when a state is made", function()
    local one = complete(1)
    local many, names, module = complete(21)
    local left = {}
    for name in pairs(names) do
      if not SEARCH[name] and not name:find "str" and not name:find "mem" then left[#left + 1] = name end
    end
    assert.same({}, left)
    assert.is_true(names.luaN_complete)
    assert.is_false(module)
    local each = (many - one) / 20
    -- the number depends on the environment: a few dozen instructions for each of its variables
    assert.is_true(each > 5 and each < 1500, each)
    -- With ASAMP set, the same count finds functions of the profiler, which proves that this spec can fail.
    local sampled
    sampled, names, module = complete(1, "alloc=64K,quiet")
    assert.is_true(module)
    assert.is_true(sampled > 100 * one and names.asamp_join, sampled .. " " .. one)
  end)
end)
