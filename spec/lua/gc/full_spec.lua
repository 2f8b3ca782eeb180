-- SPDX-License-Identifier: MIT
--
-- The string table, which is gone through only as far as something in it is dead
-- (lua/gc/interned.c).

local within = require "spec.lua.gc.within"

describe("the string table", function()
  it("loses the dead in a full collection, be they young or old, and no others", function()
    within(function(state)
      local live, wanted, text = {}, {}, 0
      local function new(i)
        text = text + 1
        live[i], wanted[i] = "s" .. text, text
      end
      for i = 1, 4000 do new(i) end
      collectgarbage()
      for _, mode in ipairs{"generational", "incremental"} do
        collectgarbage(mode)
        for round, young in ipairs{0, 1, 10, 900, 5000, 10, 0, 20} do
          for i = 1, young do local _ = "young" .. round .. ":" .. i end
          collectgarbage()  -- nothing old has died
          assert(not state.check())
          for i = round, 4000, 997 do new(i) end
          collectgarbage()  -- a little
          assert(not state.check())
          collectgarbage "step"
          for i = round, 4000, 3 do new(i) end
          for i = 1, young do local _ = "young" .. round .. ":" .. i end
          collectgarbage()  -- much
          assert(not state.check())
        end
      end
      for i = 1, 4000 do assert(live[i] == "s" .. wanted[i]) end
    end)
  end)

  it("is swept in slices while strings come, die, and are made again", function()
    within(function(state)
      local live, seen = {}, 0
      for i = 1, 6000 do live[i] = "s" .. i end
      collectgarbage()
      for round = 1, 4 do
        collectgarbage("incremental", 100, 1, 10)
        for i = round, 6000, 2 do live[i] = false end
        local ended = false
        for i = round, 6000, 2 do
          if not ended then ended = collectgarbage("step", 1) end
          if i % 4 < 2 then live[i] = "s" .. i end  -- the dead one, if it is there still
          local _ = "young" .. round .. ":" .. i
          if i % 50 < 2 then
            assert(not state.check())
            seen = seen + 1
          end
        end
        if round % 2 == 0 then collectgarbage() end
        assert(not state.check())
        for i = 1, 6000 do
          assert(not live[i] or live[i] == "s" .. i)
          live[i] = "s" .. i
        end
      end
      assert(seen > 100)
    end)
  end)
end)
