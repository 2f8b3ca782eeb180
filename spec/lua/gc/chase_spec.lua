-- SPDX-License-Identifier: MIT
--
-- Chains of ephemerons (lua/gc/mark/chase.c), in which the value of one entry is the key of another. A
-- former bug: marking made passes over all entries, each of which resolved only a few, because slots are
-- not in the order of the chain. A list of 60,000 objects with links in a weak table stopped the program
-- for seconds, and a full collection took minutes.

local within = require "spec.lua.gc.within"

-- Creates a list of n objects whose links are in weak tables. Returns its first object, and a function that
-- counts the reachable objects. The keys have all types that a weak key can have.
local function chain(state, n)
  local weak = {}
  for i = 1, 3 do weak[i] = setmetatable({}, {__mode = "k"}) end
  local function new(i)
    if i % 8 == 0 then return {i} end
    -- an object without references, which marking does not traverse
    if i % 8 == 4 then return {} end
    if i % 4 == 1 then return coroutine.create(function() return i end) end
    if i % 4 == 2 then return function() return i end end
    return state.userdata(8)
  end
  local first = new(0)
  local k = first
  for i = 1, n do
    local o = new(i)
    local t = weak[i % 3 + 1]
    -- some values refer to the next object through one more table
    t[k] = i % 5 == 0 and {o} or o
    -- adds an entry with the same key to each of the three tables
    for j = 1, 3 do weak[j][k] = weak[j][k] or i end
    k = o
  end
  local function count()
    local at, found = first, 0
    while at do
      local following
      for i = 1, 3 do
        local v = weak[i][at]
        if v and type(v) ~= "number" then following = v end
      end
      local inside = type(following) == "table" and following[1]
      if inside and type(inside) ~= "number" then following = inside end
      at, found = following, found + 1
    end
    return found - 1
  end
  return weak, count, function() first = nil end
end

describe("a chain of ephemerons", function()
  local text = string.dump(chain)

  it("is visited once for each entry, by full collections", function()
    within(function(state, code)
      local n = 20000
      local weak, count, drop = load(code, "chain", "b")(state, n)
      for _ = 1, 2 do
        collectgarbage()
        local work = collectgarbage "statistics".work
        assert(work >= n and work < 20 * n, work)
        assert(count() == n, count())
      end
      drop()
      collectgarbage()
      collectgarbage()
      for i = 1, 3 do assert(next(weak[i]) == nil) end
    end, text)
  end)

  it("is visited so by minor collections, and by major ones in slices, too", function()
    within(function(state, code)
      collectgarbage "generational"
      local n = 20000
      -- in the first round all objects are young, because the nursery is large; in the second round they are
      -- old
      for nursery = 1, 0, -1 do
        collectgarbage("nursery", nursery == 1 and 64 << 20 or 1 << 16)
        local weak, count, drop = load(code, "chain", "b")(state, n)
        collectgarbage "step"
        state.check()
        local _, _, _, before = state.memory()
        repeat
          for i = 1, 2000 do local t = {i, {i}}; assert(t) end
          local _, _, _, now = state.memory()
        until nursery == 1 or now >= before + 2
        assert(count() == n, count())
        local most = collectgarbage "statistics".mostwork
        assert(most < 40 * n, most)
        drop()
        collectgarbage()
        collectgarbage()
        for i = 1, 3 do assert(next(weak[i]) == nil) end
      end
    end, text)
  end)

  it("is followed where there is no memory to follow it by keys", function()
    within(function(state, code)
      local n = 400
      local weak, count, drop = load(code, "chain", "b")(state, n)
      state.failall(0)
      collectgarbage()
      state.failall()
      state.check()
      assert(count() == n, count())
      drop()
      state.failall(0)
      collectgarbage()
      collectgarbage()
      state.failall()
      for i = 1, 3 do assert(next(weak[i]) == nil) end
    end, text)
  end)
end)
