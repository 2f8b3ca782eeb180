-- SPDX-License-Identifier: MIT
--
-- The time at which a major collection starts (lua/gc/pace/pace.c), measured in bytes of allocation.

local within = require "spec.lua.gc.within"

describe("dropped objects", function()
  -- A former bug: collections while the heap was built found nothing dead, so that the next collections
  -- were delayed. 45 MB had to be allocated before the first of 200,000 finalizers was called.
  it("is found soon where many objects have finalizers", function()
    local first, all = within(function(state)
      local called = 0
      local mt = {__gc = function() called = called + 1 end}
      local live = state.table(100000, 0)
      for i = 1, 100000 do live[i] = setmetatable({}, mt) end
      collectgarbage("generational")
      collectgarbage()
      live = nil  -- luacheck: ignore 311
      local start, first = state.allocated(), nil
      while called < 100000 and state.allocated() - start < 64 << 20 do
        for i = 1, 100 do local _ = {i} end
        if called > 0 then first = first or state.allocated() - start end
      end
      assert(called == 100000, called)
      return first, state.allocated() - start
    end)
    assert.is_true(first < 8 << 20, first)
    assert.is_true(all < 12 << 20, all)
  end)

  -- A former bug: the program had dropped objects and allocated only short-lived ones. A collection found
  -- the dropped objects only after twice as many bytes were allocated as were live.
  it("is gone when about as much has been allocated, where nothing is made anew", function()
    local dropped, bytes = within(function(state)
      collectgarbage("generational")
      local live = state.table(200000, 0)
      for i = 1, 200000 do live[i] = {i} end
      collectgarbage()
      local before = state.memory()
      live = nil  -- luacheck: ignore 311
      local start = state.allocated()
      repeat
        for i = 1, 1000 do local _ = {i} end
      until state.memory() < before // 4
      return before, state.allocated() - start
    end)
    assert.is_true(bytes < dropped * 3 // 2, ("%d of %d"):format(bytes, dropped))
  end)
end)

describe("the first major collection", function()
  -- A former bug: until the first collection ended, the live bytes counted as 0, so that even few weak
  -- entries counted as many. So a collection next to a large heap, which had been built while the collector
  -- was stopped, hurried with nurseries of 64 KiB instead of 256. The spec is left out in the debug build,
  -- whose verifier changes the numbers.
  it("does not hurry for weak tables that nobody has #plain", function()
    local bytes, minors = within(function(state)
      collectgarbage("generational")
      collectgarbage("stop")
      local live = state.table(40000, 0)
      for i = 1, 40000 do live[i] = state.table(120, 0) end
      collectgarbage("restart")
      local _, _, before = state.memory()
      local start = state.allocated()
      repeat
        for i = 1, 1000 do local _ = {i} end
      until select(4, state.memory()) > 0
      assert(#live == 40000)
      return state.allocated() - start, select(3, state.memory()) - before
    end)
    assert.is_true(bytes // minors > 128 << 10, ("%d in %d nurseries"):format(bytes, minors))
  end)
end)

describe("a major collection", function()
  -- A former bug: each minor collection tenured the current string, which the next edit dropped. Three such
  -- strings were enough growth to start a major collection, so that one ran for every six edits.
  it("is no matter of each few edits of a large string", function()
    within(function(state)
      local live = {}
      for i = 1, 20000 do live[i] = {i} end
      local text = ("some text here\n"):rep(26000)
      collectgarbage()
      local _, _, _, before = state.memory()
      for r = 1, 900 do text = text:sub(1, r * 400) .. "X" .. text:sub(r * 400 + 2) end
      local _, _, _, majors = state.memory()
      -- number of major collections; with the bug it was 150
      assert(majors - before < 90, majors - before)
      assert(#live == 20000 and #text == 390000)
    end)
  end)

  -- A former bug: large userdata that were alive at a collection were tenured, and their bytes started
  -- major collections: 218 for 20,000 userdata, and 479 for userdata with finalizers.
  it("is no matter of each few large userdata", function()
    within(function(state)
      local live = {}
      for i = 1, 50000 do live[i] = {i} end
      collectgarbage()
      local _, _, _, before = state.memory()
      for _ = 1, 2000 do state.userdata(100000) end
      local _, _, _, majors = state.memory()
      assert(majors - before <= 5, majors - before)
      local meta = {__gc = function() end}
      for _ = 1, 2000 do debug.setmetatable(state.userdata(100000), meta) end
      local _, _, _, after = state.memory()
      -- the number is about 24; with the bug it was 47
      assert(after - majors <= 30, after - majors)
      assert(#live == 50000)
    end)
  end)

  -- A former bug: each object with a finalizer that became old made the next collection start sooner. This
  -- program had 90 collections, one for each 2.6 MB, with 3.9 MB of live tables. It should have 37.
  it("waits for as much allocation as is live, however many objects with finalizers become old", function()
    within(function(state)
      collectgarbage("generational")
      local live, ring, meta = {}, {}, {__gc = function() end}
      for i = 1, 50000 do live[i] = {i} end
      collectgarbage()
      local full, _, _, before = state.memory()
      local start = state.allocated()
      for i = 1, 200000 do
        for j = 1, 20 do local _ = {j} end
        ring[i % 1000] = setmetatable({i}, meta)
      end
      local _, _, _, majors = state.memory()
      local each = (state.allocated() - start) // (majors - before)
      assert(each > full, ("one for each %d bytes, %d live"):format(each, full))
      assert(#live == 50000 and #ring == 999)
    end)
  end)

  -- A former bug: each large block added work debt up to the old bytes. A program that allocates only
  -- vectors as large as its heap had 25 dead vectors for each live one: 1.7 GB instead of 64 MiB. When
  -- slots with numbers counted as much work as references, it still had five.
  it("ends in a program that makes large vectors and nothing else #plain", function()
    within(function(state)
      local most = 0
      for _ = 1, 12 do
        local t = {}
        for i = 1, 1 << 22 do t[i] = i end
        most = math.max(most, state.bytes())
        assert(#t == 1 << 22)
      end
      local one = (1 << 22) * 16
      assert(most < 2.5 * one, ("%.1f of them"):format(most / one))
    end)
  end)
end)
