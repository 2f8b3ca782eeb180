-- SPDX-License-Identifier: MIT
-- The verdict of `asamp run` with default options on programs with one problem each (spec/planted), and on
-- programs without one (spec/innocent). `build/bin/lua spec/support/judge.lua 10` prints how often verdicts
-- are right.

local judge = require "spec.support.judge"
local shell = require "spec.support.shell"

-- Number of programs whose verdict may be wrong. A verdict depends on random samples, and may be wrong in a
-- first run and in two of three more.
local MISSED = 1

-- Returns true if right() is true in at least two of three calls.
local function mostly(right)
  local first = right()
  local second = right()
  if first == second then
    return first
  end
  return right()
end

describe("the verdict #plain", function()
  local folder = shell.folder()

  it("names the line, the reason and the holder of planted problems", function()
    local missed, programs = {}, judge.programs "planted"
    assert.is_true(#programs >= 20)
    for _, program in ipairs(programs) do
      local function found() return judge.found(judge.run(program), judge.expected(program)) end
      if not found() and not mostly(found) then
        missed[#missed + 1] = program
      end
    end
    assert.is_true(#missed <= MISSED, table.concat(missed, " "))
  end)

  it("accuses no innocent program of a leak", function()
    local accused, programs = {}, judge.programs "innocent"
    assert.is_true(#programs >= 20)
    for _, program in ipairs(programs) do
      if judge.accused(judge.run(program)) then
        accused[#accused + 1] = program
      end
    end
    assert.same({}, accused)
  end)

  -- A former bug: the verdict named four fields of a chain's nodes, each as a separate holder.
  it("names a chain that it has seen growing once", function()
    local maybe = judge.run("spec/planted/widgets.lua").maybe
    for _, a in ipairs(maybe) do
      for _, b in ipairs(maybe) do
        assert.is_true(a == b or b.holder:sub(1, #a.holder) ~= a.holder, a.holder)
      end
    end
  end)

  it("says of long strings that they may be copies of each other", function()
    local path = folder .. "/format.lua"
    shell.write(path, [[
local s = ""
for i = 1, 4000 do
  s = ("%s%d,"):format(s, i)
end
]])
    local line = judge.run(path).lines[1]
    assert.same({3, "strings", "str_format"}, {line.line, line.reason, line.calls})
    -- the mean length of the strings at this line; the last one has 18,893 bytes
    assert.is_true(line.long > 4096 and line.long < 16384, line.long)
    local text = shell.output("build/bin/asamp run --out '%s/format.vmprof' --overwrite %s 2>&1", folder,
                              path):gsub("%s+", " ")
    assert.is_truthy(text:find("%(allocated by string.format%)%. Their mean size is [%d.]+ KiB: " ..
                               "if each contains most"))
  end)

  -- A former bug: for a call of collectgarbage, the verdict advised to allocate less at that line.
  it("names a program's own call of collectgarbage", function()
    local text
    -- repeats, because of about ten time samples, one may be in the collector's own work
    for _ = 1, 4 do
      text = shell.output("build/bin/asamp run --out '%s/gc.vmprof' --overwrite spec/planted/fullgc.lua 2>&1",
                          folder):gsub("%s+", " ")
      if text:find("requested by collectgarbage at", 1, true) then break end
    end
    assert.is_truthy(text:find "requested by collectgarbage at [^ ]*fullgc.lua:9 %(serve%). Remove", text)
  end)
end)
