-- SPDX-License-Identifier: MIT
--
-- When marking reaches small tables from a table with many of them, it marks them recursively
-- (lua/gc/mark/mark.c). All objects to which they refer must stay alive.

local within = require "spec.lua.gc.within"

describe("small tables in a broad one", function()
  it("hold all objects that they refer to", function()
    within(function(state)
      local plain, other = {}, {}
      plain.__index = plain
      -- the kinds of small tables alternate: without references, with one table, with a table that has
      -- references, and others
      local SHAPES = {
        function(i) return {i, "s" .. i, name = "n" .. i} end,
        function(i) return setmetatable({x = i, y = "y" .. i}, plain) end,
        function(i) return {at = {i, "a" .. i}, name = "m" .. i} end,
        function(i) return {at = {i, {i, "deep" .. i}}, name = "d" .. i} end,
        function(i) return setmetatable({{i, "o" .. i}}, i % 3 == 0 and other or plain) end,
        function(i) return {i, ("long"):rep(20) .. i} end,
        function(i) return {function() return "f" .. i end} end,
        function(i) return {1, 2, 3, 4, 5, 6, 7, 8, 9, "last" .. i} end,
        function(i) local t = {name = "self" .. i}; t[1] = t; t[2] = {t}; return t end,
      }
      local READ = {
        function(t) return t[2] .. t.name end,
        function(t) return t.x .. t.y end,
        function(t) return t.at[1] .. t.at[2] .. t.name end,
        function(t) return t.at[2][1] .. t.at[2][2] .. t.name end,
        function(t) return t[1][2] end,
        function(t) return t[2] end,
        function(t) return t[1]() end,
        function(t) return t[9] .. t[10] end,
        function(t) return t[1].name .. t[2][1].name end,
      }
      for _, size in ipairs {40, 300, 5000} do
        -- first each kind of table alone, so that either all are marked recursively or none; then all kinds
        -- mixed
        for only = 0, #SHAPES do
          local array, hash, reported = {}, {}, {}
          local function shape(i) return only > 0 and only or i % #SHAPES + 1 end
          local function make(i, k)
            array[i] = SHAPES[shape(i)](k)
            hash["k" .. i] = SHAPES[shape(i)](k)
            reported[i] = READ[shape(i)](array[i])
          end
          for i = 1, size do make(i, i) end
          for round = 1, 3 do
            collectgarbage()
            state.check()
            for i = round, size, 7 do
              make(i, i + 1000000 * round)
              array[i].later = {"later" .. i}
              array[i]["key" .. i] = true
              array[i]["key" .. i] = nil
            end
            collectgarbage("step", 0)
            state.check()
          end
          for i = 1, size do
            assert(READ[shape(i)](array[i]) == reported[i])
            assert(READ[shape(i)](hash["k" .. i]) == reported[i])
            assert(not array[i].later or array[i].later[1] == "later" .. i)
            for k in pairs(array[i]) do assert(k ~= "key" .. i) end
          end
        end
      end
    end)
  end)

  it("may be weak, and may have become so", function()
    within(function()
      local mt, weak, held = {}, {}, {}
      for i = 1, 200 do weak[i] = setmetatable({{i}, {i}, name = "n" .. i}, mt) end
      collectgarbage()
      for i = 1, 200 do assert(weak[i][1][1] == i and weak[i].name == "n" .. i) end
      mt.__mode = "v"
      for i = 1, 200, 2 do held[i] = weak[i][1] end
      collectgarbage()
      for i = 1, 200, 2 do assert(held[i][1] == i) end
      for i = 1, 200 do
        assert((weak[i][1] ~= nil) == (i % 2 == 1) and weak[i][2] == nil)
        assert(weak[i].name == "n" .. i)
      end
    end)
  end)

  it("may be keys of a chain of ephemerons, each of which is visited a few times", function()
    within(function()
      local n, weak, broad = 5000, setmetatable({}, {__mode = "k"}), {}
      local first = {"k1"}
      local last = first
      for i = 2, n do
        local key = {"k" .. i}
        broad[i] = {}
        for k = 1, 40 do broad[i][k] = {k, "b" .. k} end
        broad[i][41] = key
        weak[last] = broad[i]
        last = key
      end
      broad = nil
      for _ = 1, 2 do
        collectgarbage()
        local work = collectgarbage "statistics".work
        assert(work >= n and work < 20 * n, work)
        local t, steps = first, 1
        while weak[t] do t, steps = weak[t][41], steps + 1 end
        assert(steps == n and t[1] == "k" .. n and broad == nil)
      end
    end)
  end)
end)
