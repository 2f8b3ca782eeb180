-- SPDX-License-Identifier: MIT
-- Reports that are restricted to a part of the samples (asamp.sums.focus): which stacks are selected, and
-- which callers are listed.

local focus = require "asamp.sums.focus"
local profiles = require "spec.support.profiles"
local totals = require "asamp.sums.totals"

-- Selects the stacks that pass the test. Returns the number of their samples, and the callers as "name:line
-- n".
local function look(stacks, test)
  local p = profiles.of(stacks)
  local covered, entries = focus.cover(p, test)
  local t = totals.of(p, {covered = covered})
  local list = {}
  for i, row in ipairs(focus.callers(p, entries, t.sums, "samples")) do
    list[i] = ("%s:%d %d"):format(row.name, row.line, row.total.samples)
  end
  return t.whole.samples, list
end

local STACKS = {
  {"main@1 f@2 g@3", 1, 5}, {"main@1 g@4", 1, 3}, {"main@7 g@4", 1, 9},
  {"main@1 f@2 g@3 f@5 g@3", 1, 2}, {"main@1 h@1", 2, 100}, {"g@9", 1, 1}}

describe("a focus", function()
  it("on a function has the samples below it, and its callers", function()
    local n, callers = look(STACKS, focus.byfunction "g")
    assert.equal(20, n)
    assert.same({"main:7 9", "f:2 7", "main:1 3",
                 "[the program's start]:0 1"}, callers)
  end)

  it("takes a name as it is written", function()
    assert.equal(0, (look(STACKS, focus.byfunction "[gf]")))
    assert.equal(0, (look(STACKS, focus.byfunction "G")))
  end)

  it("on a line has the samples through it", function()
    local n, callers = look(STACKS, focus.byline "x.lua:4")
    assert.equal(12, n)
    assert.same({"main:7 9", "main:1 3"}, callers)
    assert.equal(0, (look(STACKS, focus.byline ".lua:4")))
    assert.equal(0, (look(STACKS, focus.byline "y/x.lua:4")))
  end)

  it("takes the end of a path", function()
    local fn = {name = "f", file = "/usr/share/pl/list.lua", native = false}
    for text, hit in pairs{["list.lua:3"] = true, ["pl/list.lua:3"] = true,
                           ["/usr/share/pl/list.lua:3"] = true,
                           ["ist.lua:3"] = false, ["list.lua:4"] = false} do
      assert.equal(hit, focus.byline(text)(fn, 3), text)
    end
    fn.native = true
    assert.is_false(focus.byline "list.lua:3"(fn, 3))
    assert.is_nil(focus.byline "list.lua")
    assert.is_nil(focus.byline ":3")
  end)
end)
