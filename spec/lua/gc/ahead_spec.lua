-- SPDX-License-Identifier: MIT
--
-- Weak tables in slices, ahead of the atomic step (lua/gc/ahead.c). Pauses are counted in
-- entries that they look at (collectgarbage "statistics"), not in time.

local process = require "spec.support.process"
local shell = require "spec.support.shell"
local within = require "spec.lua.gc.within"

describe("a weak table that a major collection has looked at", function()
  -- Once every major collection went through all entries in one pause, and marked in it
  -- what weak keys hold: 200 ms of a million.
  it("is not gone through again when the collection ends", function()
    for _, mode in ipairs {"v", "k", "kv"} do
      local most, left = within(function(state, m)
        collectgarbage("nursery", 32768)
        local t, live = setmetatable(state.table(0, 16384), {__mode = m}), {}
        for i = 1, 12000 do
          live[i] = {i}
          if m == "v" then t["key " .. i] = live[i] else t[live[i]] = m == "k" and {i} or live[i] end
        end
        for i = 1, 12000, 40 do live[i] = false end
        local most, _, _, _, before = 0, state.memory()
        repeat
          for i = 1, 1000 do local _ = {i} end
          most = math.max(most, collectgarbage("statistics").work)
        until select(4, state.memory()) >= before + 2
        state.check()
        local left = 0
        for _ in pairs(t) do left = left + 1 end
        return most, left
      end, mode)
      assert.is_true(most < 4096, ("%s: %d"):format(mode, most))
      assert.equal(12000 - 300, left)
    end
  end)

  -- Under the debug build every collection is verified (G9). ASAMP_SEEDS: more of them.
  it("has nothing dead in it, whatever the program does with it meanwhile", function()
    for seed = 1, tonumber(os.getenv("ASAMP_SEEDS") or 1) do
      for _, stress in ipairs {"nursery=3000,major,slice=3000", "nursery=1000,major,slice=300,remember=64"} do
        local command = ("LUAN_STRESS=%s,verify=16 %s spec/lua/gc/weaktables.lua %d 30 2>&1"):format(
          stress, process.interpreter(), seed)
        local status, text = shell.run(command)
        assert.equal(0, status, ("seed %d, %s: %s"):format(seed, stress, text))
      end
    end
  end)
end)
