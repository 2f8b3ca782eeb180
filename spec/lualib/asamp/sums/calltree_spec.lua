-- SPDX-License-Identifier: MIT
-- The call tree of reports: merged nodes, omitted nodes, and the sums of its numbers.

local calltree = require "asamp.sums.calltree"
local profiles = require "spec.support.profiles"
local totals = require "asamp.sums.totals"

-- Returns the rows of the call tree of these stacks as "level name self/total". A dot marks a node that is
-- shown in the row of its parent.
local function tree(stacks, options)
  local p = profiles.of(stacks, {size = 1})
  local o = {min = 0, depth = 1000}
  for k, v in pairs(options or {}) do
    o[k] = v
  end
  local list, rows = {}, calltree.rows(p, totals.of(p), "bytes", o)
  for i, row in ipairs(rows) do
    list[i] = ("%d%s %s %d/%d"):format(row.level, row.chained and "." or "",
      row.fn and row.fn.name or "+" .. row.more, row.self, row.total)
  end
  return list, rows
end

describe("the call tree", function()
  it("is one of functions, the largest first, chains on one level", function()
    assert.same({"0. main 0/10", "0. run 2/10", "1 b 5/5", "1 a 2/3",
                 "2 c 1/1"}, (tree{
      {"main@1 run@2", 1, 2}, {"main@1 run@3 a@1", 1, 2},
      {"main@1 run@3 a@1 c@1", 2, 1}, {"main@1 run@4 b@1", 1, 4},
      {"main@9 run@4 b@7", 2, 1}}))
  end)

  it("adds up the nodes that are too small", function()
    local stacks = {{"main@1 big@1", 1, 60}}
    for i = 1, 40 do
      stacks[#stacks + 1] = {("main@1 f%d@1"):format(i), 1, 1}
    end
    assert.same({"0. main 0/100", "1 big 60/60", "1 +40 0/40"},
                (tree(stacks, {min = 10})))
    stacks[41] = nil
    assert.same({"0. main 0/99", "0. big 60/60"}, (tree(stacks, {min = 50})))
  end)

  it("ends at the requested depth", function()
    local stacks = {{"a@1 b@1 c@1 d@1", 1, 8}}
    assert.same({"0. a 0/8", "0. b 0/8", "0. +1 0/8"},
                (tree(stacks, {depth = 2})))
  end)

  it("leaves out how the interpreter comes to the script", function()
    assert.same({"0. main 5/5"}, (tree{{"[C]start [C]pmain main@1", 1, 5}}))
    assert.same({"1 main 5/5", "1 [C]load 3/3"},
                (tree{{"[C]start [C]pmain main@1", 1, 5},
                      {"[C]start [C]pmain [C]load", 1, 3}}))
    assert.same({"0. [C]start 4/4"}, (tree{{"[C]start", 1, 4}}))
  end)

  it("of nothing is empty", function()
    assert.same({}, (tree{}))
  end)

  it("adds up, on random profiles", function()
    local seed = tonumber(os.getenv "ASAMP_SEED") or 20261121
    math.randomseed(seed)
    for _ = 1, 30 do
      local stacks = {}
      for i = 1, 50 do
        local frames = {"main@1"}
        for k = 1, math.random(6) do
          frames[k + 1] = ("f%d@%d"):format(math.random(5), math.random(3))
        end
        stacks[i] = {table.concat(frames, " "), 1, math.random(9)}
      end
      local _, rows = tree(stacks)
      local own, whole = 0, 0
      for _, row in ipairs(rows) do
        own = own + row.self
      end
      for _, stack in ipairs(stacks) do
        whole = whole + stack[3]
      end
      assert.equal(whole, own, "seed " .. seed)
      assert.equal(whole, rows[1].total, "seed " .. seed)
    end
  end)
end)
