-- SPDX-License-Identifier: MIT
-- Budgets of memory in tests (asamp.budget): the assertions, their messages, baselines, and the helper for
-- the test runner busted.

local budget = require "asamp.budget"
local process = require "spec.support.process"
local shell = require "spec.support.shell"

budget.register(assert)

local kept

local function loop()
  local t = {}
  for i = 1, 100 do t[i] = {i} end
  return #t
end

local function message(f, ...)
  local ok, e = pcall(f, ...)
  assert.is_false(ok)
  return type(e) == "table" and tostring(e.message) or tostring(e)
end

describe("budgets", function()
  after_each(function() kept = nil end)

  it("pass where a function keeps to them", function()
    assert.allocates.nothing(function() end)
    assert.allocates.at_most(40, function() return {} end)
    assert.retains.nothing(loop)
    assert.retains.at_most(40, function() kept = {} end)
    assert.is_table(kept)
  end)

  it("fail with the lines that allocated", function()
    local text = message(assert.allocates.nothing, loop)
    local line = debug.getinfo(loop, "S").linedefined + 2
    assert.truthy(text:find("^%d+ bytes in 1%d%d blocks were allocated; the budget is 0 bytes\n"), text)
    assert.truthy(text:find(("bytes  %%S*budget_spec.lua:%d  loop"):format(line)), text)
    assert.truthy(message(assert.allocates.at_most, 39, function() return {} end):find "^40 bytes in 1")
    assert.truthy(message(assert.allocates.at_most, 0, string.rep, "x", 103):find "^120 bytes in 1")
  end)

  it("fail with the holders of the bytes that stayed", function()
    Listeners = {}  -- luacheck: ignore 111
    local list = Listeners  -- luacheck: ignore 113
    local text = message(assert.retains.nothing, function()
      for i = 1, 50 do list[#list + 1] = {i} end
    end)
    Listeners = nil  -- luacheck: ignore 111
    assert.truthy(text:find("^%d+ bytes stayed alive; the budget is 0 bytes\n" ..
                             "bytes alive after a second run"), text)
    assert.truthy(text:find "held by:\n.*%%  .*%[\"Listeners\"%]", text)
  end)

  -- A former bug: if the limit was below the bytes of one run, the message printed the sum of several runs as
  -- the bytes of a line.
  it("estimate the bytes of a line for one run", function()
    local text = message(assert.allocates.at_most, 39, function() return {} end)
    local runs, n = text:match "^40 bytes in 1 block were .* (%d+) more runs:\n +(%d+) bytes"
    assert.equal("32", runs, text)
    -- 20 samples of the 32 runs are expected; far fewer and more are accepted, because they are random
    assert.is_true(tonumber(n) > 5 and tonumber(n) < 100, text)
  end)

  it("leave out the stack of the main thread, which does not count as retained", function()
    local text = message(assert.retains.nothing, function()
      kept = {}
      for i = 1, 200 do kept[i] = {} end
    end)
    assert.truthy(text:find("held by:", 1, true), text)
    assert.is_nil(text:find("%  main thread\n", 1, true), text)
  end)

  it("pass an error of the function on", function()
    assert.has_error(function() budget.measure(error, "own") end, "own")
  end)

  it("refuse wrong arguments", function()
    local number, called = "asamp.budget: a budget must be a number of bytes, got ",
                           "asamp.budget: the value to measure must be a function, got "
    assert.has_error(function() budget.allocates("4K", loop) end, number .. "'4K'")
    assert.has_error(function() assert.retains.at_most(nil, loop) end, number .. "nil")
    assert.has_error(function() budget.retains(4) end, called .. "nil")
    assert.has_error(function() assert.allocates.nothing "f" end, called .. "'f'")
  end)
end)

describe("a baseline", function()
  it("keeps to its tolerance, and updates", function()
    local path = os.tmpname()
    os.remove(path)
    local b = assert(budget.open(path, {update = true}))
    assert(b:run("one", string.rep, "x", 583))
    assert(b:run("two", string.rep, "x", 583))
    assert(b:close())
    local text = shell.read(path)
    assert.truthy(text:find('["one"] = {bytes = 600, blocks = 1, retained = 0},', 1, true), text)
    shell.write(path, (text:gsub("(retained = 0)(},\n    %[\"two)", "%1, exact = true%2")))
    b = assert(budget.open(path))
    assert.is_true(b:run("two", string.rep, "x", 607))  -- 5% more
    local ok, why = b:run("two", string.rep, "x", 620)
    assert.is_false(ok)
    assert.truthy(why:find("bytes: 640, baseline 600 (+6.7%, at most +5%)", 1, true), why)
    assert.is_true(b:run("one", string.rep, "x", 583))
    assert.is_false((b:run("one", string.rep, "x", 584)))
    assert.is_true(b:run("new", loop))
    assert.equal(1, b.new)
    b = assert(budget.open(path, {update = true}))
    assert(b:run("one", string.rep, "x", 500))
    assert(b:close())
    assert.truthy(shell.read(path):find("blocks = 1, retained = 0, exact = true}", 1, true))
    shell.write(path, "return os.exit(1)")
    assert.is_nil((budget.open(path)))
    shell.write(path, "return {}")
    assert.truthy(select(2, budget.open(path)):find("returns no table with the field 'tests'", 1, true))
  end)

  it("names the field that is wrong, and keeps those of tests that did not run", function()
    local path = os.tmpname()
    for text, wanted in pairs{
      ["tests = {a = 5}"] = "the test 'a' must be a table such as {bytes = 0}, got 5",
      ["tests = {a = {bytes = '10'}}"] = "the test 'a': 'bytes' must be a number, got '10'",
      ["tests = {a = {tolerance = -1}}"] = "the test 'a': 'tolerance' must be at least 0, got -1",
      ["tolerance = '5%', tests = {}"] = "the file: 'tolerance' must be a number, got '5%'",
      ["tests = {{}}"] = 'line 1: expected ["NAME"] = or NAME =, got \'{\'',
      ["tests = {a = {bytes = {b = {}}}}"] = "line 1: expected a number, a string, true or false, got '{'",
      ["tests = {a = {bytes = 0x}}"] = "line 1: expected a number, a string, true or false, got '0x'",
      ["tests = {a = {bytes = 1e999}}"] = "line 1: expected a number, a string, true or false, got '1e999'",
      ["tests = {} tests"] = "line 1: expected , or }, got 'tests'",
      ["-- }\n[\"a\n"] = "line 2: expected the end of the string, got '?'",
      ["['a\\"] = "line 1: expected the end of the string, got the end of the file",
      ["[\27"] = "line 1: expected a string, got '?'",
    } do
      shell.write(path, ("return {%s}"):format(text))
      local b, why = budget.open(path)
      assert.is_nil(b)
      assert.equal(("cannot read the baseline '%s': %s"):format(path, wanted), why)
    end
    assert.equal("cannot read the baseline '/tmp': Is a directory", select(2, budget.open "/tmp"))
    assert.equal("cannot read the baseline '/dev/zero': the file has over 16777216 bytes; give a file " ..
                 "that asamp.budget wrote", select(2, budget.open "/dev/zero"))
    local nameless = assert(budget.open(os.tmpname() .. ".none"))
    assert.has_error(function() nameless:run(nil, print) end, "the name of a test must be text")
    -- this path is like a file that the user may not read: it exists, so that the baseline is not empty
    assert.equal("cannot read the baseline '/dev/null/x': Not a directory",
                 select(2, budget.open "/dev/null/x"))
    shell.write(path, "return {tests = {gone = {bytes = 8, exact = true}}}")
    local b = assert(budget.open(path, {update = true}))
    assert(b:close())
    assert.truthy(shell.read(path):find('["gone"] = {bytes = 8, exact = true},', 1, true))
  end)

  -- A former bug: a baseline file was executed as Lua code, without limits of time and memory.
  it("is not run", function()
    local path = os.tmpname()
    for text, wanted in pairs{
      ["while true do end"] = "expected return, got 'while'",
      ["return {tests = {a = {bytes = #('x'):rep(1e12)}}}"] = "got '#'",
      ["return {tests = {a = {bytes = (function() while true do end end)()}}}"] = "got '('",
      ["return {tests = {}}, os"] = "expected the end of the file, got ','",
      ["return setmetatable({}, {})"] = "expected a table, got 'setmetatable'",
      [string.dump(function() return {tests = {}} end)] = "expected return, got '?'",
      [("return " .. ("{a="):rep(1e6))] = "got '{'",
    } do
      shell.write(path, text)
      local b, why = budget.open(path)
      assert.is_nil(b)
      assert.truthy(why:find(wanted, 1, true), why)
    end
    os.remove(path)
  end)

  it("has any name of a test", function()
    local path, bytes = os.tmpname(), {}
    for i = 0, 255 do bytes[#bytes + 1] = string.char(i, 48, 92) end
    local name = table.concat(bytes) .. "]] --"
    os.remove(path)
    local b = assert(budget.open(path, {update = true}))
    b.data.tests[name], b.data.tolerance = {bytes = -7, exact = true, tolerance = 0.5}, 2.5
    assert(b:close())
    b = assert(budget.open(path))
    assert.same({tolerance = 2.5, tests = {[name] = {bytes = -7, exact = true, tolerance = 0.5}}}, b.data)
    shell.write(path, "return{--x\n" .. [==[ ['tests']={a={exact=false;bytes=.5e1;},["\65b\n\'"]={}}}]==])
    assert.same({tests = {a = {exact = false, bytes = 5.0}, ["Ab\n'"] = {}}}, assert(budget.open(path)).data)
    os.remove(path)
  end)

  -- A former bug: the file was emptied before it was written, so that the earlier measurements were lost if
  -- the disk was full.
  it("is replaced as a whole, or not at all", function()
    local path, old = os.tmpname(), "return {tests = {gone = {bytes = 8}}}"
    local script = process.file [[
      local b = require "asamp.budget".open(arg[1], {update = true})
      b.data.tests[("x"):rep(5000)] = {bytes = 9}
      require "profilegen".filelimit(1000)
      print(b:close())]]
    local function close()
      return process.run{"-c", 'trap "" XFSZ; exec "$0" "$@"', process.interpreter(), script, path,
                         program = "sh"}
    end
    local wanted = {0, ("nil\tcannot write the baseline '%s': File too large\n"):format(path), ""}
    shell.write(path, old)
    assert.same(wanted, {close()})
    assert.equal(old, shell.read(path))
    os.remove(path)
    assert.same(wanted, {close()})
    assert.is_nil((io.open(path)))
    -- a new baseline has the mode of any other new file
    assert(assert(budget.open(path, {update = true})):close())
    shell.write(script .. ".new", "")
    assert.equal(shell.output("stat -c %%a %s.new", script), shell.output("stat -c %%a %s", path))
    for _, file in ipairs{path, script, script .. ".new"} do os.remove(file) end
  end)

  it("fails the tests of busted that exceed it", function()
    local folder = os.tmpname()
    os.remove(folder)
    os.execute("mkdir " .. folder)
    shell.write(folder .. "/a_spec.lua", [[
      describe("suite", function()
        it("grows", function()
          local t = {}
          for i = 1, os.getenv "MORE" and 200 or 100 do t[i] = {} end
        end)
        for n = 3, 1, -1 do
          it("has one name with others", function() local t = {} for i = 1, n do t[i] = {} end end)
        end
        it("asserts", function() assert.allocates.nothing(function() end) end)
      end)]])
    local other = ""
    local function busted(more, ...)
      local words = {"--helper=asamp.budget.busted", "-o", "TAP", "a_spec.lua", ...}
      words.env, words.directory = {MORE = more, LUA_PATH = shell.lines(shell.output "pwd")[1] ..
        "/lualib/?.lua;" .. package.path}, folder
      words.code = other .. 'require "busted.runner" {standalone = false}'
      local status, out, err = process.run(words)
      return status, out .. err
    end
    local status, out = busted(nil)
    assert.equal(0, status, out)
    assert.truthy(out:find("tests without a budget in 'asamp-budget.lua': 5", 1, true), out)
    status, out = busted(nil, "-Xhelper", "update")
    assert.equal(0, status, out)
    status, out = busted(nil)
    assert.equal(0, status, out)
    status, out = busted "1"
    assert.equal(1, status, out)
    assert.truthy(out:find("spec.lua:2: 'suite grows' exceeds its budget in asamp-budget.lua", 1, true), out)
    assert.truthy(out:find("bytes  %S*a_spec.lua:4  "), out)
    assert.is_nil(out:find("asamp/budget", 1, true), out)
    status, out = busted(nil, "-Xhelper", "update", "-Xhelper", "file=/nowhere/x")
    assert.equal(1, status, out)
    assert.truthy(out:find("cannot write the baseline '/nowhere/x': No such file or directory", 1, true), out)
    -- simulates a Lua without exact counts
    other = "package.loaded.profiler = {} "
    status, out = busted "1"
    other = ""
    assert.equal(0, status, out)
    assert.equal(1, select(2, out:gsub("this Lua does not count allocated bytes", "")))
    status, out = busted(nil, "-Xhelper", "updat")
    assert.is_true(status ~= 0)
    assert.truthy(out:find("unknown option 'updat' (known: update, file=PATH)", 1, true), out)
  end)

  it("is not checked on another Lua, with one notice", function()
    local chunk = 'package.loaded.profiler = {} local b = require "asamp.budget" ' ..
      'print(b.counts, b.allocates(0, function() return {} end), b.retains(0, print))'
    local _, out, err = process.run{code = chunk, env = {LUA_PATH = "./lualib/?.lua"}}
    assert.equal("\nfalse\ttrue\ttrue\n", out)
    assert.equal(1, select(2, err:gsub("\n", "\n")))
    assert.truthy(err:find("this Lua does not count allocated bytes", 1, true))
  end)
end)
