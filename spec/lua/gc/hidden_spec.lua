-- SPDX-License-Identifier: MIT
--
-- Tombstones in weak tables (lua/gc/mark/hidden.h). Slices of a major collection give unmarked values a tag
-- with which their slots seem empty. Later they restore the values or, if the objects are dead, clear the
-- slots. The spec also tests entries with dead keys. It measures a pause by the number of entries that it
-- visits (collectgarbage "statistics"), not in time.

local process = require "spec.support.process"
local shell = require "spec.support.shell"
local stressed = require "spec.lua.gc.stressed"
local within = require "spec.lua.gc.within"

describe("entries of weak tables that die by thousands", function()
  -- If lua_Alloc refuses memory for the list of dead values, the whole table is visited in one pause.
  it("go where there is no memory to list them", function()
    local left = within(function(state)
      local t = setmetatable({}, {__mode = "v"})
      for round = 1, 3 do
        for i = 1, 3000 do t["key " .. i] = {i} end
        local _, _, _, before = state.memory()
        repeat
          for i = 1, 100 do local _ = {i} end
          state.failall(0)
          collectgarbage("step", 16)
          state.failall()
        until select(4, state.memory()) > before + round % 2
      end
      collectgarbage()
      return next(t)
    end)
    assert.is_nil(left)
  end)
end)

describe("a list with weak values that slices have visited", function()
  it("has a border as its length in every slice", function()
    within(function(state)
      local n = 3000
      local live, weak = {}, setmetatable(state.table(n, 0), {__mode = "v"})
      for i = 1, n do live[i] = {i}; weak[i] = live[i] end
      collectgarbage()
      collectgarbage("incremental", 200, 1, 10)
      collectgarbage "stop"
      local _, _, _, majors = state.memory()
      live[n - 1] = false
      repeat
        local length = #weak
        assert(length == n or length == n - 2, length)
        assert(weak[length][1] == length and weak[length + 1] == nil)
        collectgarbage("step", 1)
      until select(4, state.memory()) > majors + 1
      for i = 1, n do assert(weak[i] == (live[i] or nil), i) end
    end)
  end)
end)


-- Bugs of weak tables whose entries slices had visited before the atomic step.
describe("a weak table whose entries may be dead", function()
  -- A former bug: a minor collection during the sweep had no memory for the list that records the entries
  -- of new keys. It then visited the whole table, and marked the values of its dead keys.
  it("has no dead entry marked where memory is refused while it is swept", function()
    within(function(state)
      local N = 20000
      collectgarbage("nursery", 65536)
      local t = setmetatable(state.table(0, 65536), {__mode = "k"})
      local function majors() return (select(4, state.memory())) end
      local function untilthenext()
        local before = majors()
        repeat collectgarbage("step", 0) until majors() > before
      end
      for _ = 1, 20 do
        do
          local live, values = {}, {}
          for i = 1, N do live[i], values[i] = {i}, {{i}, {{i}}} end
          collectgarbage("step", 0)
          for i = 1, N do t[live[i]] = values[i] end
          untilthenext()
        end
        untilthenext()
        for _ = 1, 300 do t[{}] = {} end
        state.failall(0)
        collectgarbage("step", 0)
        state.failall()
        untilthenext()
      end
      state.check()
    end)
  end)

  -- A former bug: each new weak table restarted the pass over all undecided entries (entries of weak tables
  -- with a key or value that is not marked yet), so that no collection ended while the program created such
  -- tables.
  it("does not keep a collection from its end while the program makes others", function()
    local bytes = within(function(state)
      collectgarbage "generational"
      local big, held, ring = setmetatable({}, {__mode = "v"}), {}, {}
      for i = 1, 60000 do
        held[i] = {i}
        big["key " .. i] = held[i]
      end
      collectgarbage()
      held = nil
      local start, i = state.allocated(), 0
      local _, _, _, before = state.memory()
      repeat
        i = i + 1
        local t = setmetatable({}, {__mode = "v"})
        for k = 1, 300 do t["s" .. k] = {k} end
        ring[i % 10 + 1] = t
      until select(4, state.memory()) >= before + 3 or state.allocated() - start > 1 << 30
      return state.allocated() - start, held, #ring
    end)
    assert.is_true(bytes < 500 << 20, bytes)
  end)

  -- A former bug: the collector looked up each marked object in all weak tables that it had visited so far.
  -- For a chain of objects with a thousand such tables that took seconds.
  it("is not searched for each link of a chain in another", function()
    local most, entries = within(function(state)
      local N, TABLES = 10000, 300
      local chain, head, keys = setmetatable({}, {__mode = "k"}), {}, {}
      local last = head
      for i = 1, N do
        local link = {i}
        chain[last] = link
        last = link
      end
      for _ = 1, TABLES do
        local t = setmetatable({}, {__mode = "k"})
        for i = 1, 300 do
          local o = {i}
          keys[#keys + 1], t[o] = o, true
        end
        keys[#keys + 1] = t
      end
      collectgarbage()
      local most, _, _, _, before = 0, state.memory()
      repeat
        for _ = 1, 1000 do local _ = {} end
        most = math.max(most, collectgarbage("statistics").work)
      until select(4, state.memory()) >= before + 2
      local n = 0
      while chain[head] do head, n = chain[head], n + 1 end
      assert(n == N, n)
      return most, 8 * (N + #keys)
    end)
    assert.is_true(most < entries, most)
  end)
end)

describe("an object in several weak tables", function()
  it("is in all of them or in none, for every kind of access", function()
    stressed("hidden", 2, 3, {"nursery=3000,major,slice=3000,verify=16",
                              "nursery=1000,major,slice=300,remember=64,verify=16",
                              "nursery=8192,major,slice=50,verify=64"})
  end)

  it("is so with slices of the size they have #plain", function()
    for seed = 1, 2 do
      local status, text = shell.run(("%s spec/lua/gc/hidden.lua %d 10 2>&1"):format(
        process.interpreter(), seed))
      assert.equal("", text)
      assert.equal(0, status)
    end
  end)
end)

-- The fast path that searches a metamethod does not test for tombstones (tags with which slots of weak
-- tables seem empty). So a metatable whose values are weak must have no tombstone.
describe("a metatable whose values are weak", function()
  it("has its metamethods while collections run", function()
    within(function(state)
      local called, N = 0, 2000
      local function add() called = called + 1 return 1 end
      local meta = setmetatable(state.table(0, 4096), {__mode = "v"})
      meta.__add = add
      local o = setmetatable({}, meta)
      collectgarbage()
      collectgarbage("nursery", 4096)
      local _, _, _, before = state.memory()
      repeat
        for i = 1, N do meta["s" .. i] = {i} end
        for _ = 1, 100 do assert(o + o == 1) end
      until select(4, state.memory()) > before + 5
      assert(called > 0)
      meta.__add, add = nil, nil  -- luacheck: ignore 311
      meta.__sub = function() end
      collectgarbage()
      -- the dead value is removed, as in any other weak table
      assert(meta.__sub == nil)
      meta.__sub = function() end
      before = select(4, state.memory())
      repeat
        for i = 1, N do meta["s" .. i] = {i} end
      until select(4, state.memory()) > before + 5
      assert(meta.__sub == nil)
    end)
  end)
end)
