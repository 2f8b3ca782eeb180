-- SPDX-License-Identifier: MIT
-- A program may have its own modules with the names of the fork's modules (profiler, asamp). They must be
-- found first, wherever they are in the program's path. Without them the fork's modules are found.

local process = require "spec.support.process"
local shell = require "spec.support.shell"

-- Code that appends the folder lib to the path.
local LAST = "package.path = package.path .. \";../lib/?.lua\""

describe("a program's own modules", function()
  local folder, lua
  setup(function()
    folder, lua = shell.folder(), process.interpreter()
    shell.output("mkdir -p %s/lib/profiler %s/empty", folder, folder)
    for _, name in ipairs{"profiler.lua", "asamp.lua", "lib/profiler.lua", "lib/asamp.lua",
                          "lib/profiler/options.lua"} do
      shell.write(folder .. "/" .. name, ("return {start = function() return 'own %s' end}"):format(name))
    end
  end)
  teardown(function() shell.remove(folder) end)

  -- Runs the interpreter with these words in the folder 'where', without environment variables of Lua
  -- except those in 'env'.
  local function run(where, words, env)
    local status, out, err = shell.run(("cd %s/%s && env -u LUA_PATH -u LUA_CPATH -u LUA_INIT "
      .. "LUA_PROFILER=quiet LSAN_OPTIONS=use_tls=0:print_suppressions=0 %s '%s' %s"):format(
      folder, where, env or "", lua, words))
    return status, out .. err
  end

  it("win wherever they are in its path", function()
    for _, name in ipairs{"profiler", "asamp"} do
      local code = ("print(require(\"%s\").start())"):format(name)
      assert.same({0, ("own %s.lua\n"):format(name)}, {run("", ("-e '%s'"):format(code))})
      for _, change in ipairs{
        "package.path = \"../lib/?.lua;\" .. package.path", LAST,
        "package.searchers[5] = function(n) return loadfile(\"../lib/\" .. n .. \".lua\") end",
        "package.preload[\"" .. name .. "\"] = loadfile(\"../lib/" .. name .. ".lua\")",
      } do
        assert.same({0, ("own lib/%s.lua\n"):format(name)},
                    {run("empty", ("-e '%s %s'"):format(change, code))})
      end
      assert.same({0, ("own lib/%s.lua\n"):format(name)},
                  {run("empty", ("-e '%s'"):format(code), "LUA_PATH=';;../lib/?.lua'")})
    end
    assert.same({0, "own lib/profiler/options.lua\n"}, {run("empty",
      ("-e '%s print(require \"profiler.options\".start())'"):format(LAST))})
  end)

  it("win under -l profiler, too", function()
    assert.same({0, "function\town profiler.lua\n"},
                {run("", "-l profiler -e 'print(type(profiler.mark), require \"profiler\".start())'")})
    assert.same({0, "function\town lib/profiler.lua\n"}, {run("empty",
      ("-l p=profiler -e '%s print(type(p.mark), require \"profiler\".start())'"):format(LAST))})
  end)

  it("do not get in the way of the command #plain", function()
    for _, name in ipairs{"host", "options"} do
      shell.output("mkdir -p %s/asamp && echo 'error(1)' >%s/asamp/%s.lua", folder, folder, name)
    end
    local bin = lua:match "^(.*)/[^/]*$"
    local status, out = shell.run(("cd %s && %s/asamp --help"):format(folder, bin))
    assert.equal(0, status)
    assert.truthy(out:find "^usage: asamp COMMAND")
  end)

  it("are the fork's where there are none, once", function()
    assert.same({0, "function\ttrue\n"}, {run("empty",
      "-e 'local p = require \"profiler\" print(type(p.mark), p == require \"profiler\")'")})
    assert.same({0, "true\n"}, {run("empty", "-l profiler -e 'print(profiler == require \"profiler\")'")})
    assert.same({0, "function\n"}, {run("empty", "-e 'print(type(require \"profiler.reader\".read))'")})
  end)

  it("are not the fork's in a program that has replaced its paths or searchers", function()
    for _, change in ipairs{"package.path = \"./?.lua\"", "package.searchers = {}",
                            "package.searchers[2] = function() end"} do
      assert.same({0, "false\n"},
                  {run("empty", ("-e '%s print((pcall(require, \"profiler\")))'"):format(change))}, change)
    end
    local _, out = run("empty", "-e 'print(select(2, pcall(require, \"profiler.nothing\")))'")
    assert.truthy(out:find("^module 'profiler.nothing' not found:\n\tno field package.preload"), out)
    assert.truthy(out:find("no file './profiler/nothing.so'", 1, true), out)
  end)
end)
