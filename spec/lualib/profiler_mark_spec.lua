-- SPDX-License-Identifier: MIT
-- Markers: the records of profiler.mark in a profile.

local profiler = require "profiler"
local samples = require "spec.support.samples"

describe("a marker", function()
  local path
  before_each(function() path = os.tmpname() end)
  after_each(function()
    profiler.disable()
    os.remove(path)
  end)

  it("has its name and value in the profile, in order, at its time", function()
    assert(profiler.enable{out = path, alloc = 64, fixed = true})
    assert.is_true(profiler.mark "begin")
    assert.is_true(profiler.mark("items", 12))
    local kept = {}
    for i = 1, 100 do kept[i] = {} end
    assert.is_true(profiler.mark("ratio", 0.5))
    profiler.alloc_stop()
    assert.equal(100, #kept)
    assert.is_true(profiler.mark("two words", "any text: 100%"))
    profiler.disable()
    local list = samples.read(path)
    local found, time = {}, 0
    for i, m in ipairs(list.marks) do
      found[i] = m.name .. "=" .. m.value
      assert.is_true(m.time >= time)
      time = m.time
    end
    assert.same({"begin=", "items=12", "ratio=0.5", "two words=any text: 100%"}, found)
    -- the program allocated the tables between the second and the third mark
    local between = 0
    for _, s in ipairs(list) do
      if s.kind == "table" and s.time >= list.marks[2].time and s.time <= list.marks[3].time then
        between = between + 1
      end
    end
    assert.is_true(between >= 30, between)
  end)

  it("may contain any bytes; those that a line cannot contain are replaced", function()
    assert(profiler.enable{out = path, alloc = 0})
    assert.is_true(profiler.mark("a\nb", "c\nd\0e"))
    profiler.disable()
    local m = samples.read(path).marks[1]
    assert.equal("a;b", m.name)
    assert.equal("c;d;e", m.value)
  end)

  it("without a session is false, and does nothing", function()
    assert.is_false(profiler.mark "nothing")
    assert.is_false(profiler.mark("nothing", 1))
  end)

  it("of the wrong type raises an error that names it", function()
    for _, case in ipairs{
      {{}, "bad argument #1 to 'mark' (name must be non-empty text, got nil)"},
      {{""}, "bad argument #1 to 'mark' (name must be non-empty text, got \"\")"},
      {{12}, "bad argument #1 to 'mark' (name must be non-empty text, got 12)"},
      {{"x", true}, "bad argument #2 to 'mark' (value must be text or a number, got true)"},
      {{"x", false}, "bad argument #2 to 'mark' (value must be text or a number, got false)"},
    } do
      local ok, message = pcall(profiler.mark, table.unpack(case[1]))
      assert.is_false(ok)
      assert.equal(case[2], (message:gsub("^[^:]+:%d+: ", "")))
    end
  end)
end)
