-- SPDX-License-Identifier: MIT
-- A script must behave the same under `asamp run` as with `lua SCRIPT`.

local process = require "spec.support.process"
local shell = require "spec.support.shell"

describe("under asamp run #plain", function()
  local folder, lua, asamp
  setup(function()
    folder, lua = shell.folder(), process.interpreter()
    asamp = lua:match "^(.*)/[^/]*$" .. "/asamp"
    shell.write(folder .. "/seen.lua", [[
      local function show(name, t)
        local list = {}
        for k, v in pairs(t) do list[#list + 1] = tostring(k) .. "=" .. type(v) end
        table.sort(list)
        print(name, table.concat(list, " "))
      end
      show("globals", _G)
      show("loaded", package.loaded)
      show("preload", package.preload)
      show("arg", arg)
      print(#package.searchers, package.path, package.cpath)
      for i = -3, #arg do print(i, arg[i]) end
      print(...)
      print(os.execute("'" .. arg[-1] .. "' -e 'print(1)'"))]])
    shell.write(folder .. "/-odd.lua", shell.read(folder .. "/seen.lua"))
    shell.write(folder .. "/profiler.lua", "return {start = function() print 'own' end}")
    shell.write(folder .. "/main.lua", "require 'profiler'.start()")
    shell.write(folder .. "/late.lua", "package.path = './?.lua;' .. package.path require 'profiler'.start()")
  end)
  teardown(function() shell.remove(folder) end)

  local function run(line)
    local status, out, err = shell.run(("cd %s && env -u LUA_PATH -u LUA_CPATH -u LUA_INIT -u LUA_PROFILER "
      .. "LSAN_OPTIONS=use_tls=0:print_suppressions=0 %s"):format(folder, line))
    return {status, out}, err
  end

  it("a script sees the same as without", function()
    for _, words in ipairs{"seen.lua", "seen.lua a -b 'c d'", "-- -odd.lua -x"} do
      local plain = run(("%s %s"):format(lua, words))
      assert.equal(0, plain[1])
      assert.same(plain, (run(("%s run --quiet --out p.vmprof %s"):format(asamp, words))), words)
    end
    assert.same(run(lua .. " - a <seen.lua"), (run(asamp .. " run --quiet --out p.vmprof - a <seen.lua")))
  end)

  it("a script gets its own module 'profiler', and is profiled", function()
    for _, script in ipairs{"main.lua", "late.lua"} do
      local result, err = run(("%s run --alloc 64 --out q.vmprof %s"):format(asamp, script))
      assert.same({0, "own\n"}, result)
      assert.truthy(err:find("lua " .. script, 1, true), err)
    end
  end)
end)
