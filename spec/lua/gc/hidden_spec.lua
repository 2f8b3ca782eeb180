-- SPDX-License-Identifier: MIT
--
-- Values of weak tables that are hidden until slices have cleared those of the dead
-- (lua/gc/hidden.h), and entries whose keys have died. Pauses are counted in entries that they
-- look at (collectgarbage "statistics"), not in time.

local process = require "spec.support.process"
local shell = require "spec.support.shell"
local stressed = require "spec.lua.gc.stressed"
local within = require "spec.lua.gc.within"

-- Once all entries of what had died were cleared in one pause, and those of weak keys looked at
-- twice more: 26 ms of a million objects that two tables had.
describe("entries of weak tables that die by thousands", function()
  for _, mode in ipairs {"v", "k", "kv"} do
    it(("are cleared in slices (%s)"):format(mode), function()
      local most, left = within(function(state, m)
        local N = 20000
        collectgarbage("nursery", 32768)
        local t, live = setmetatable(state.table(0, 32768), {__mode = m}), {}
        for i = 1, N do
          local o = {i}
          live[i] = o
          if m == "v" then t["key " .. i] = o else t[o] = m == "k" and {i} or o end
        end
        collectgarbage()
        for i = 1, N do if i % 20 ~= 0 then live[i] = nil end end
        local most, _, _, _, before = 0, state.memory()
        repeat
          for i = 1, 1000 do local _ = {i} end
          most = math.max(most, collectgarbage("statistics").work)
        until select(4, state.memory()) >= before + 2
        state.check()
        local left = 0
        for _ in pairs(t) do left = left + 1 end
        return most, left, #live
      end, mode)
      assert.is_true(most < 4096, most)
      assert.equal(1000, left)
    end)
  end

  -- What lua_Alloc refuses is a list; then all of the table is looked at in one pause.
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

describe("what several weak tables have", function()
  it("is in all of them or in none, however it is asked for", function()
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

-- A metamethod is found without a look at what is hidden.
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
      assert(meta.__sub == nil)  -- it is as weak as any other
      meta.__sub = function() end
      before = select(4, state.memory())
      repeat
        for i = 1, N do meta["s" .. i] = {i} end
      until select(4, state.memory()) > before + 5
      assert(meta.__sub == nil)
    end)
  end)
end)
