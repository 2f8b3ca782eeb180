-- SPDX-License-Identifier: MIT
--
-- What the collector goes through in lists of its own, coroutines, objects with
-- finalizers, tables with large vectors, large objects: in slices, so that no pause
-- grows with how many there are. Counted in entries that one pause looks at
-- (collectgarbage "statistics"), not in time.

local within = require "spec.lua.gc.within"

-- Entries that a pause may look at, here where minor collections come every 32 KiB.
local MOST = 4096

-- run(code, n): the code, a function of make(i) and n things, in a state of its own.
-- Until major collections have ended twice with n of them alive, and twice with them
-- dead, no pause looks at many.
local function run(code, n)
  return within(function(state, text, count)
    local make = assert(load(text, "=make"))(state)
    collectgarbage("nursery", 32768)
    local function cycles(k)
      local most, _, _, _, before = 0, state.memory()
      repeat
        for i = 1, 1000 do local _ = {i} end
        most = math.max(most, collectgarbage("statistics").work)
      until select(4, state.memory()) >= before + k
      return most
    end
    local live = state.table(count, 0)
    for i = 1, count do live[i] = make(i) end
    local alive = cycles(2)
    for i = 1, count, 2 do live[i] = false end
    local half = cycles(2)
    for i = 1, count do live[i] = nil end
    local dead = cycles(2)
    state.check()
    return alive, half, dead
  end, code, n)
end

describe("no pause goes through all", function()
  local THINGS = {
    coroutines = [[
      return function(i)
        return coroutine.create(function() return i end)
      end]],
    ["tables with large vectors"] = [[
      return function() return table.move({}, 1, 520, 1, {[520] = 1, n = 1}) end]],
    ["large objects"] = [[return function() return load("return 1") end]],
    userdata = [[
      local state = ...
      return function()
        local u = state.userdata(16)
        state.outside(u, 1)
        return u
      end]],
  }
  for name, code in pairs(THINGS) do
    it(name, function()
      local alive, half, dead = run(code, 10000)
      assert.is_true(alive <= MOST and half <= MOST and dead <= MOST,
        ("%d, %d, %d"):format(alive, half, dead))
    end)
  end
end)
