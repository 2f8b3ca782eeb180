-- SPDX-License-Identifier: MIT
--
-- Slices of a major collection visit the entries of weak tables before the atomic step
-- (lua/gc/mark/ahead.c). The spec measures pauses by the number of entries that they visit (collectgarbage
-- "statistics"), not in time.

local stressed = require "spec.lua.gc.stressed"
local within = require "spec.lua.gc.within"

-- If the collector has no memory to list a weak table, it treats the table as strong. A former bug: marking
-- the values of such a table could reach another weak table, which was in no list either. Its values were
-- freed while the program still referred to them. The fuzzer found that once in a hundred million actions.
describe("weak tables in the midst of a major collection that lua_Alloc refuses more to", function()
  it("keep their contents, also if they are found through one another", function()
    local reached, of = within(function(state)
      local KEYS, VALUES, PAIRS = {__mode = "k"}, {__mode = "v"}, 80
      -- each slice marks only a few objects, so that the end of a long list is reached last
      collectgarbage("incremental", 200, 4, 5)
      local root, others = {held = {}, fill = {}}, {}
      for i = 1, PAIRS do
        local found, held = setmetatable({}, VALUES), {}
        for k = 1, 2 do
          held[k] = setmetatable({{i, k, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}, KEYS)
          found[k] = held[k]
        end
        found[3] = false
        root[i], root.held[i] = found, held
      end
      -- gives the tables many entries whose objects are not marked yet
      for i = 1, 200 do
        local f = {}
        for k = 1, 12 do f[k] = {} end
        f[13] = false
        root.fill[i] = f
      end
      for i = 1, 400 do others[i] = setmetatable({false}, VALUES) end
      for _ = 1, 3000 do root = {next = root} end
      -- after these collections, the collector's lists have little capacity
      for _ = 1, 5 do collectgarbage() end
      collectgarbage "stop"
      -- makes the list of objects to mark in the pause grow
      for i = 1, 400 do others[i][1] = {} end
      collectgarbage("step", 0)  -- a major collection starts
      local function theend()
        local n = root
        while n.next do n = n.next end
        return n
      end
      do
        local n = theend()
        for i = 1, 200 do n.fill[i][13] = {} end
        for i = 1, PAIRS do n[i][3] = {} end
      end
      state.failall(0)
      collectgarbage("step", 0)
      state.failall()
      repeat until collectgarbage("step", 8)
      collectgarbage "restart"
      for i = 1, 100000 do others[i % 2000] = {i, i, i, i} end
      local n, right = theend(), 0
      for i = 1, PAIRS do
        for k = 1, 2 do
          local v = n.held[i][k][1]
          if v[1] == i and v[2] == k then right = right + 1 end
        end
      end
      return right, 2 * PAIRS, #others
    end)
    assert.equal(of, reached)
  end)
end)

describe("a weak table that a major collection has visited", function()
  -- For each weak mode, fills a table with 12,000 entries. With isdead "==", every 40th of them dies; with
  -- "~=", all others. No pause may visit many entries, and only the live ones may remain.
  local function die(isdead)
    for _, mode in ipairs {"v", "k", "kv"} do
      local most, left, alive = within(function(state, m, code)
        local dies = load("return ... % 40 " .. code .. " 0")
        collectgarbage("nursery", 32768)
        local t, live, alive = setmetatable(state.table(0, 16384), {__mode = m}), {}, 0
        for i = 1, 12000 do
          live[i] = {i}
          if m == "v" then t["key " .. i] = live[i] else t[live[i]] = m == "k" and {i} or live[i] end
        end
        for i = 1, 12000 do
          if dies(i) then live[i] = false else alive = alive + 1 end
        end
        local most, _, _, _, before = 0, state.memory()
        repeat
          for i = 1, 1000 do local _ = {i} end
          most = math.max(most, collectgarbage("statistics").work)
        until select(4, state.memory()) >= before + 2
        state.check()
        local left = 0
        for _ in pairs(t) do left = left + 1 end
        return most, left, alive
      end, mode, isdead)
      assert.is_true(most < 4096, ("%s: %d"):format(mode, most))
      assert.equal(alive, left)
    end
  end

  -- A former bug: every major collection visited all entries in one pause, and marked the values of weak
  -- keys in it, which took 200 ms for a million entries.
  it("is not gone through again when the collection ends", function() die "==" end)

  -- A former bug: one pause cleared all dead entries. It visited those with weak keys two more times, and
  -- took 26 ms for a million objects in two tables.
  it("loses thousands of dead entries in slices", function() die "~=" end)

  -- A former bug: when a new key moved the node of an undecided entry (an entry of a weak table with a key
  -- or value that is not marked yet), the collector assumed that the entry's object was alive. It then
  -- visited all entries again, up to 32 times, while the program ran. A cache of the last 5,000 objects
  -- grew to 620,000 entries, without a limit.
  it("is through soon, though new keys move its entries", function()
    local entries = within(function()
      collectgarbage "generational"
      local cache, kept = setmetatable({}, {__mode = "v"}), {}
      for i = 1, 800000 do
        local k = "key" .. i
        cache[k] = {k}
        kept[i % 5000] = cache[k]
      end
      local n = 0
      for _ in next, cache do n = n + 1 end
      return n, #kept
    end)
    assert.is_true(entries < 300000, entries)
  end)

  -- A former bug: each slice did only the usual amount of work, so that each collection left more entries to
  -- visit than the previous one. The tables had a hundred times the bytes that the program kept, and in some
  -- runs grew without a limit.
  it("does not grow faster than slices go through it", function()
    -- three runs, because each state hashes strings with another seed
    for _ = 1, 3 do
      local most = within(function()
        collectgarbage "generational"
        local cache, kept, most = setmetatable({}, {__mode = "kv"}), {}, 0
        for i = 1, 600000 do
          local k = "key" .. i
          cache[k] = {k}
          kept[i % 5000] = cache[k]
          if i % 100000 == 0 then
            local n = 0
            for _ in next, cache do n = n + 1 end
            most = math.max(most, n)
          end
        end
        return most, #kept
      end)
      assert.is_true(most < 70000, most)
    end
  end)

  -- If the program stores another value in an undecided entry (an entry of a weak table with a key or value
  -- that is not marked yet), the entry leaves the collector's list. A former bug: every 32nd such store
  -- caused another pass over the list.
  it("is through soon, though the program changes its entries", function()
    local bytes = within(function(state)
      local N = 60000
      collectgarbage "generational"
      collectgarbage("nursery", 65536)
      local t = setmetatable(state.table(N, 0), {__mode = "v"})
      do
        local live = state.table(N, 0)
        for i = 1, N do
          live[i] = {i}
          t[i] = live[i]
        end
        collectgarbage()
      end
      collectgarbage("incremental", 200, 4, 1)
      collectgarbage "step"  -- a major collection starts
      collectgarbage "generational"
      local function majors() return (select(4, state.memory())) end
      local before, start, i = majors(), state.allocated(), 0
      repeat
        i = i + 1
        t[i] = true
        for _ = 1, 20 do local _ = {} end
      until majors() > before
      state.check()
      return state.allocated() - start
    end)
    assert.is_true(bytes < 8 << 20, bytes)
  end)

  -- A former bug: the slices of a large heap are bounded, so that a collection lasted until as many bytes
  -- were allocated as were live. Entries that were added and died meanwhile were left to the next
  -- collection, which therefore took longer. So no collection ended: 706,000 of a million entries were in
  -- the cache, and 1,700,000 of two million.
  it("does not grow for ever next to a large heap", function()
    local entries = within(function()
      collectgarbage "generational"
      local large = ("x"):rep(70 << 20)
      local cache, kept = setmetatable({}, {__mode = "v"}), {}
      for i = 1, 500000 do
        local v = {i}
        cache["key " .. i], kept[i % 5000] = v, v
      end
      local n = 0
      for _ in next, cache do n = n + 1 end
      return n, #kept, #large
    end)
    assert.is_true(entries < 300000, entries)
  end)

  -- Builds that verify collections check after each collection that no dead entry is left (invariant G9).
  it("has nothing dead in it, whatever the program does with it meanwhile", function()
    stressed("weaktables", 1, 30, {"nursery=3000,major,slice=3000,verify=16",
                                   "nursery=1000,major,slice=300,remember=64,verify=16"})
  end)
end)
