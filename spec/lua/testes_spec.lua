-- SPDX-License-Identifier: MIT
--
-- lua/testes.excluded lists the tests of the official suite that are not run. The spec checks its form,
-- that lua/testes removes only its lines (in a small suite made for the spec), that it matches the suite if
-- that exists, and that a run leaves no processes. It downloads nothing.

local shell = require "spec.support.shell"

-- Returns the entries of lua/testes.excluded. Each is {file=, first=, last=, reason=}, {file=, T=true,
-- reason=}, or {file=, order=true, reason=}.
local function entries()
  local list = {}
  for _, line in ipairs(shell.lines(shell.read "lua/testes.excluded")) do
    if line:sub(1, 1) ~= "#" then
      local file, first, last, reason = line:match "^(%w+%.lua) (%d+) (%d+) (.+)$"
      local what
      if not file then file, what, reason = line:match "^(%w+%.lua) (%u+) (.+)$" end
      assert(file and (first or what == "T" or what == "ORDER"),
        "lua/testes.excluded: neither FILE FIRST LAST, FILE T nor FILE ORDER, and a reason: " .. line)
      list[#list + 1] = {
        file = file, first = tonumber(first), last = tonumber(last), reason = reason,
        T = what == "T", order = what == "ORDER",
      }
    end
  end
  return list
end

-- Returns the folder of the official suite, or nil.
local function suite()
  local folder = os.getenv "LUA_TESTES" or ""
  if folder == "" then folder = "build/testes/suite" end
  return shell.read(folder .. "/all.lua") and folder
end

-- Defines a spec that needs the official suite. Without the suite, the spec is pending.
local function with(name, f)
  it(name, function()
    local folder = suite()
    if not folder then
      pending "the official suite is not at hand: make testes, or LUA_TESTES=dir"
      return
    end
    f(folder)
  end)
end

-- Creates a checkout with lua/testes and with the running interpreter as its debug build, and an empty
-- suite. Returns their two folders.
local function checkout()
  local folder = shell.folder()
  local from = folder .. "/suite"
  shell.output("mkdir -p %s/lua %s/build/debug/bin %s/libs", folder, folder, from)
  shell.output("cp lua/testes lua/testes.excluded %s/lua/", folder)
  shell.output("ln -s %s %s/build/debug/bin/lua",
    shell.output "readlink -f /proc/$PPID/exe":gsub("\n", ""), folder)
  shell.write(folder .. "/Makefile", "debug: ;\n")
  shell.write(from .. "/libs/Makefile", "all: ;\n")
  return folder, from
end

describe("tests excluded from the official suite", function()
  it("stands with its reason, each thing once", function()
    local seen, lines = {}, 0
    for _, e in ipairs(entries()) do
      assert.is_true(select(2, e.reason:gsub("%a+", "")) >= 5, e.file .. ": no reason: " .. e.reason)
      if e.T then
        assert.is_nil(seen[e.file], e.file .. " T stands twice")
        seen[e.file] = true
      elseif not e.order then
        assert.is_true(1 <= e.first and e.first <= e.last, e.file .. ": lines in order")
        lines = lines + e.last - e.first + 1
      end
    end
    assert.is_true(lines <= 27, "more lines are taken out than there were: " .. lines)
  end)

  it("names stand-ins that exist", function()
    local named = 0
    for _, e in ipairs(entries()) do
      for path in e.reason:gmatch "spec/[%w_/]+%.%l+" do
        named = named + 1
        assert.is_string(shell.read(path), path)
      end
    end
    assert.is_true(named >= 10, named)
  end)

  it("are the lines that lua/testes removes, in the stated modes, and no others", function()
    local folder, from = checkout()
    local files, taken = {}, {}
    for _, e in ipairs(entries()) do
      if not taken[e.file] and e.file ~= "all.lua" then
        files[#files + 1] = e.file
        taken[e.file] = {}
      end
      for i = e.first or 1, e.last or 0 do taken[e.file][i] = true end
    end
    for _, name in ipairs(files) do
      local lines = {}
      for i = 1, 700 do lines[i] = "line " .. i end
      shell.write(from .. "/" .. name, table.concat(lines, "\n") .. "\n")
    end
    shell.write(from .. "/all.lua", ([[
      for _, name in ipairs {"%s"} do
        local i = 0
        for line in io.lines(name) do
          i = i + 1
          if line == "" then print("out", name, i) else assert(line == "line " .. i) end
        end
        assert(i == 700)
      end
      print "final OK"
    ]]):format(table.concat(files, '", "')))
    local function run(mode)
      local status, out, err = shell.run(("LUA_TESTES=%s %s/lua/testes debug:%s"):format(from, folder, mode))
      assert.same({0, ""}, {status, err}, out)
      assert.matches("1 passed, 0 failed", out, 1, true)
      local found, n = {}, 0
      for _, name in ipairs(files) do found[name] = {} end
      local log = shell.read(("%s/build/testes/debug-%s.log"):format(folder, mode))
      for name, i in log:gmatch "out\t(%S+)\t(%d+)" do
        found[name][tonumber(i)] = true
        n = n + 1
      end
      return found, n
    end
    assert.same(taken, (run "portable-stressed"))
    assert.same(taken, (run "portable-emergency"))
    assert.equal(0, select(2, run "portable"))
    shell.remove(folder)
  end)

  with("is there to be taken out: whole blocks of a file of the suite", function(folder)
    for _, e in ipairs(entries()) do
      local text = shell.read(folder .. "/" .. e.file)
      assert.is_string(text, e.file)
      if e.order then
        assert.is_truthy(text:find([['%s -e "%s" & echo $!']], 1, true), e.file)
      elseif not e.T then
        local lines = {}
        for line in (text .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
        assert.is_true(e.last <= #lines, e.file .. " has no line " .. e.last)
        assert.is_truthy(lines[e.first]:find "%S" and lines[e.last]:find "%S", e.file)
        local out = table.concat(lines, "\n", e.first, e.last)
        assert.is_function(load(out), "not a whole block: " .. out)
        for i = e.first, e.last do lines[i] = "" end
        assert.is_function(load(table.concat(lines, "\n")))
      end
    end
  end)

  with("lists all files that require the library T", function(folder)
    local listed, needing = {}, {}
    for _, e in ipairs(entries()) do
      if e.T then listed[e.file] = true end
    end
    for _, name in ipairs(shell.lines(shell.output("cd '" .. folder .. "' && ls *.lua"))) do
      local text = shell.read(folder .. "/" .. name):gsub("%-%-[^\n]*", "")
      if text:find "%f[%w_]T%.%s?%l" or text:find "%f[%w_]if T%s+then" or text:find "%f[%w_]if T%s*==%s*nil"
      then needing[name] = true end
    end
    assert.same(needing, listed)
  end)
end)

-- A former bug: if the official test of Ctrl C failed, it left a running program, and the run never ended.
describe("a run of lua/testes", function()
  local STRAY = [[
    local f = io.popen "echo $$; exec sleep 1000"
    io.open("FOLDER/stray", "w"):write(f:read "l", "\n"):close()
  ]]

  -- Runs STRAY, which starts another process, and 'script' as the official suite. Checks that this process
  -- has ended after the run. Returns the exit status and the output.
  local function run(script, line)
    local folder, from = checkout()
    shell.output("mkdir " .. folder .. "/tmp")
    shell.write(from .. "/all.lua", ((STRAY .. script):gsub("FOLDER", folder)))
    local status, out, err = shell.run(("export TMPDIR=FOLDER/tmp; " .. line):gsub("TESTES",
      ("LUA_TESTES=%s %s/lua/testes debug:portable"):format(from, folder)):gsub("FOLDER", folder))
    local stray = assert(shell.read(folder .. "/stray"), out .. err):gsub("\n", "")
    assert.matches("^%d+$", stray)
    -- waits up to 10 s until the process has ended; it may be a zombie for which no parent has waited yet
    local state
    for _ = 1, 100 do
      state = (shell.read("/proc/" .. stray .. "/stat") or ""):match "%) (%a)"
      if state == nil or state == "Z" then break end
      shell.run "sleep 0.1"
    end
    assert.is_true(state == nil or state == "Z", "there still, " .. tostring(state))
    assert.equal("", shell.output("ls %s/tmp", folder))
    shell.remove(folder)
    return status, out
  end

  it("ends processes left by a failed test", function()
    local status, out = run("os.exit(3, false)", "TESTES")
    assert.equal(1, status, out)
    assert.matches("debug:portable: FAILED (status 3), log", out, 1, true)
  end)

  it("ends processes left by a passed test", function()
    local status, out = run("print 'final OK' os.exit(0, false)", "TESTES")
    assert.equal(0, status, out)
    assert.matches("1 passed, 0 failed", out, 1, true)
  end)

  it("is ended with all of its processes when it lasts too long", function()
    local status, out = run("while true do end", "LIMIT=1 TESTES")
    assert.equal(1, status, out)
    assert.matches("FAILED (ended after LIMIT=1 seconds), log", out, 1, true)
  end)

  it("ends with all of its processes and files when lua/testes is interrupted", function()
    -- interrupts the command after the stray process has written its id
    local status, out = run("while true do end", "TESTES & "
      .. "until [ -s FOLDER/stray ]; do sleep 0.05; done; kill -TERM $!; wait $!")
    assert.equal(143, status, out)
  end)

  it("wants a limit that is a number of seconds", function()
    local status, out, err = shell.run "LIMIT=soon lua/testes debug:portable"
    assert.same({2, "", "lua/testes: LIMIT=soon is no number of seconds\n"}, {status, out, err})
  end)
end)
