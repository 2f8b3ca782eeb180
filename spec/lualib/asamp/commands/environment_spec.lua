-- SPDX-License-Identifier: MIT
-- The command `asamp` as a user starts it: the script asamp.sh, installed in any folder, with any
-- environment. LUA_PATH, LUA_INIT and similar variables apply to the program that `asamp run` starts, never
-- to the command itself.

local process = require "spec.support.process"
local shell = require "spec.support.shell"

describe("the command", function()
  local folder, bin, script
  setup(function()
    folder = shell.folder()
    -- installs the command with this build's interpreter in a folder with a space in its name
    bin = folder .. "/in stall"
    shell.output("mkdir '%s' && cp asamp/module/asamp.sh '%s/asamp' && ln -s %s '%s/lua'",
      bin, bin, process.interpreter(), bin)
    script = folder .. "/app.lua"
    -- a script that prints everything that the environment can change, except the interpreter's name
    shell.write(script, [[
      local t = {}
      for i = 1, 20000 do t[i % 100] = {i} end
      print(package.path, package.cpath, #package.searchers, ran)
      print(arg[-2], arg[-1], arg[0], arg[1], #arg, profiler)
      print(pcall(require, "mine"))]])
    shell.write(folder .. "/mine.lua", "return 'mine'")
  end)

  local function quoted(text)
    return "'" .. text:gsub("'", "'\\''") .. "'"
  end

  -- Runs a program in the folder. 'env' has the variables of Lua to set; all others are unset.
  local function run(program, words, env)
    local line = {("cd '%s' && env -u LUA_PATH -u LUA_CPATH -u LUA_INIT LUA_PROFILER= " ..
                   "LSAN_OPTIONS=use_tls=0:print_suppressions=0"):format(folder)}
    for name, value in pairs(env or {}) do line[#line + 1] = name .. "=" .. quoted(value) end
    line[#line + 1] = quoted(program)
    for _, word in ipairs(words) do line[#line + 1] = quoted(word) end
    return shell.run(table.concat(line, " "))
  end

  -- The values of LUA_PATH and LUA_CPATH that luarocks prints for the shell. They lack ";;", and so the
  -- default path.
  local ROCKS = {LUA_PATH = "/nowhere/?.lua;./?.lua", LUA_CPATH = "/nowhere/?.so"}
  local ENVIRONMENTS = {
    {},
    ROCKS,
    {LUA_PATH_5_4 = ROCKS.LUA_PATH, LUA_CPATH_5_4 = ROCKS.LUA_CPATH, LUA_PATH = ";;"},
    {LUA_INIT = "ran = 1"},
    {LUA_INIT = "ran = 1", LUA_INIT_5_4 = "ran = 54"},
    {LUA_INIT = "package.path = './?.lua'; table.insert(package.searchers, 1, function() " ..
                "ran = (ran or 0) + 1 end)"},
    {LUA_INIT = "package.searchers = {package.searchers[1]}"},
    {LUA_INIT = "package.preload.profiler = error; package.preload[\"profiler.core\"] = error"},
  }

  it("runs a script in the environment that it would have without it", function()
    -- Former bugs: with the LUA_PATH of luarocks, asamp did not find its own modules. The code in LUA_INIT
    -- ran in the command, too.
    for i, env in ipairs(ENVIRONMENTS) do
      local _, plain, wrong = run(bin .. "/lua", {"app.lua", "a b"}, env)
      assert.truthy(plain:find("nil\t" .. bin .. "/lua\tapp.lua\ta b\t1\tnil\n", 1, true), plain .. wrong)
      local status, out, err = run(bin .. "/asamp", {"run", "--alloc", "4K", "--out", "p.vmprof",
                                                     "app.lua", "a b"}, env)
      assert.equal(0, status, err)
      assert.equal(plain, out, "environment " .. i)
      assert.truthy(err:find("app.lua:2", 1, true), err)
      local command = select(2, run(bin .. "/asamp", {"report", "p.vmprof"}, env))
      assert.truthy(command:find("lua app.lua a b", 1, true), command)
    end
  end)

  it("needs nothing of the environment for itself", function()
    run(bin .. "/asamp", {"run", "--quiet", "--alloc", "4K", "--out", "p.vmprof", "app.lua"})
    for _, env in ipairs(ENVIRONMENTS) do
      env = {LUA_INIT = env.LUA_INIT and "error(1)", LUA_PATH = env.LUA_PATH, LUA_CPATH = env.LUA_CPATH,
             LUA_PATH_5_4 = env.LUA_PATH_5_4, LUA_CPATH_5_4 = env.LUA_CPATH_5_4}
      for _, words in ipairs{{"report", "p.vmprof"}, {"diff", "p.vmprof", "p.vmprof"}, {"--help"},
                             {"convert", "--to", "pprof", "-o", "p.pb", "p.vmprof"}} do
        local status, out, err = run(bin .. "/asamp", words, env)
        assert.same({0, ""}, {status, err}, words[1])
        assert.truthy(#out > 0, words[1])
      end
    end
  end)

  it("is found by links, by a relative entry of PATH, by its name alone", function()
    shell.output("cd %s && mkdir other && cd other && ln -s '../in stall/asamp' . && ln -s asamp profile",
                 folder)
    for _, line in ipairs{
      "other/asamp --help", "other/profile --help", "PATH=other:$PATH asamp --help",
      "PATH='in stall':$PATH asamp --help", "cd 'in stall' && PATH=.:$PATH asamp --help",
      "cd 'in stall' && PATH=:$PATH asamp --help", "cd 'in stall' && ./asamp --help",
      "cd / && '%s/asamp' --help",
    } do
      local status, out, err = shell.run(("cd %s && "):format(folder) .. line:gsub("%%s", bin))
      assert.same({0, ""}, {status, err}, line)
      assert.truthy(out:find("^usage: asamp COMMAND"), line)
    end
  end)

  it("runs a script whose name starts like an option", function()
    shell.write(folder .. "/-odd.lua", "for i = 1, 9999 do local t = {i} end print(arg[0], arg[1])")
    local status, out, err = run(bin .. "/asamp", {"run", "--alloc", "4K", "--out", "odd.vmprof", "--",
                                                   "-odd.lua", "-x"})
    assert.same({0, "-odd.lua\t-x\n"}, {status, out}, err)
    local report = select(2, run(bin .. "/asamp", {"report", "odd.vmprof"}))
    assert.truthy(report:find("lua -- -odd.lua -x", 1, true), report)
  end)
end)
