-- SPDX-License-Identifier: MIT
--
-- lua/testes.excluded, the list of what the official suite does not check here:
-- its form, that lua/testes takes out just its lines (in a small suite made for
-- it), and, where the suite is at hand, that it fits. Nothing is downloaded.

local shell = require "spec.lua.shell"

-- The entries: {file=, first=, last=, reason=}, or {file=, T=true, reason=}.
local function entries()
  local list = {}
  for _, line in ipairs(shell.lines(shell.read "lua/testes.excluded")) do
    if line:sub(1, 1) ~= "#" then
      local file, first, last, reason = line:match "^(%w+%.lua) (%d+) (%d+) (.+)$"
      if not file then file, reason = line:match "^(%w+%.lua) T (.+)$" end
      assert(file, "lua/testes.excluded: neither FILE FIRST LAST REASON nor FILE T REASON: " .. line)
      list[#list + 1] = {
        file = file, first = tonumber(first), last = tonumber(last), T = not first, reason = reason,
      }
    end
  end
  return list
end

-- The folder of the suite, or nil.
local function suite()
  local folder = os.getenv "LUA_TESTES" or ""
  if folder == "" then folder = "build/testes/suite" end
  return shell.read(folder .. "/all.lua") and folder
end

-- What a spec cannot do without the suite is pending and says why.
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

describe("what is excluded from the official suite", function()
  it("stands with its reason, each thing once", function()
    local seen, lines = {}, 0
    for _, e in ipairs(entries()) do
      assert.is_true(select(2, e.reason:gsub("%a+", "")) >= 5, e.file .. ": no reason: " .. e.reason)
      if e.T then
        assert.is_nil(seen[e.file], e.file .. " T stands twice")
        seen[e.file] = true
      else
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

  -- lua/testes in a checkout of its own, with an interpreter that is built and a
  -- suite that writes down what each of the files is when it runs.
  it("is what lua/testes takes out, in the modes that say so, and no other line", function()
    local folder = shell.folder()
    local from = folder .. "/suite"
    shell.output(("mkdir -p %s/lua %s/build/debug/bin %s/libs"):format(folder, folder, from))
    shell.output(("cp lua/testes lua/testes.excluded %s/lua/"):format(folder))
    shell.output(("ln -s %s %s/build/debug/bin/lua"):format(
      shell.output "readlink -f /proc/$PPID/exe":gsub("\n", ""), folder))
    shell.write(folder .. "/Makefile", "debug: ;\n")
    shell.write(from .. "/libs/Makefile", "all: ;\n")
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
      if not e.T then
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

  with("lists all files that ask for the library T", function(folder)
    local listed, asking = {}, {}
    for _, e in ipairs(entries()) do
      if e.T then listed[e.file] = true end
    end
    for _, name in ipairs(shell.lines(shell.output("cd '" .. folder .. "' && ls *.lua"))) do
      local text = shell.read(folder .. "/" .. name):gsub("%-%-[^\n]*", "")
      if text:find "%f[%w_]T%.%s?%l" or text:find "%f[%w_]if T%s+then" or text:find "%f[%w_]if T%s*==%s*nil"
      then asking[name] = true end
    end
    assert.same(asking, listed)
  end)
end)
