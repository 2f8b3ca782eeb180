-- SPDX-License-Identifier: MIT
-- Containers in the paths of holders: tables with many elements, trees and chains.

local holders = require "asamp.sums.holders"

-- Returns a table like profile.holders with these paths, each given as a list of steps. Also returns the
-- number of each path by its steps.
local function paths(...)
  local h, known = {parent = {}, step = {}}, {}
  for _, path in ipairs{...} do
    local parent = 0
    for i, step in ipairs(path) do
      local key = table.concat(path, "\0", 1, i)
      if not known[key] then
        known[key] = #h.step + 1
        h.parent[#h.parent + 1], h.step[#h.step + 1] = parent, step
      end
      parent = known[key]
    end
  end
  return h, known
end

describe("the container of a path", function()
  it("has elements if objects are held by its slots", function()
    local h = paths({"a", "b", "[1..n]", "c"}, {"a", "b", "[*]"}, {"a", "d", "[1..n]"}, {"a", "e"})
    assert.equal("keys", holders.elements(h, "a → b"))
    assert.equal("list", holders.elements(h, "a → d"))
    assert.is_nil(holders.elements(h, "a → e"))
    assert.is_nil(holders.elements(h, "a"))
    assert.equal("keys", holders.elements(h, "package.loaded"))
  end)

  it("is not the table of hooks, which has one for each coroutine", function()
    local h = paths({"registry", '["_HOOKKEY"]', "[*] (weak key)", 'upvalue "t" of f', "[1..n]"})
    local text = holders.pathtext(h, 5)
    assert.same({'registry → ["_HOOKKEY"] → [*] (weak key) → upvalue "t" of f', "list", ""},
                {holders.container(text)})
    assert.equal(4, holders.cut(h, 5))
    assert.is_nil(holders.elements(h, 'registry → ["_HOOKKEY"]'))
  end)

  it("is the object that holds a tree or chain", function()
    local h, known = paths({"a", "l", "r", "l"}, {"a", "r", "l", "r", "v"}, {"b", "l"}, {"b", "c", "d"})
    local stem = holders.stems(h)
    local function of(...)
      return holders.pathtext(h, stem(known[table.concat({...}, "\0")]))
    end
    assert.equal("a", of("a", "l", "r", "l"))
    assert.equal("a", of("a", "r", "l", "r", "v"))
    assert.equal("a", of("a", "l"))
    assert.equal("b → l", of("b", "l"))  -- another root
    assert.equal("b → c → d", of("b", "c", "d"))
  end)

  -- A former bug: the path to a chain of closures was shown with 64 steps.
  it("is shown up to the first step that repeats, unless that is one of many elements", function()
    local h, known = paths({"a", "f", "g", "f", "g", "f"}, {"b", "[1..n]", "c", "[1..n]"})
    local function of(...)
      return holders.of(h, {[known[table.concat({...}, "\0")]] = 1})[1].text
    end
    assert.equal("a → f → g", of("a", "f", "g", "f", "g", "f"))
    assert.equal("b → [1..n] → c → [1..n]", of("b", "[1..n]", "c", "[1..n]"))
  end)
end)
