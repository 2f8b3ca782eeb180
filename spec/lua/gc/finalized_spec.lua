-- SPDX-License-Identifier: MIT
--
-- Objects with finalizers: how many dead ones a state has at the same time (lua/gc/sweep/finalize.c), and
-- how long a weak table keeps a key that was finalized (lua/gc/collect/termination.c). Each program runs in
-- a separate process, because the numbers depend on the size of the heap. With upstream's Lua, these
-- programs have 38 to 275 dead objects, and the keys stay for 80 to 635 allocations.

local process = require "spec.support.process"

local function number(program, ...)
  local status, text = process.code(program, ...)
  assert.equal(0, status, text)
  return assert(tonumber(text), text)
end

describe("objects with finalizers that a program drops", function()
  local program = [[
    local alive, most, keep = 0, 0, {}
    local mt = {__gc = function() alive = alive - 1 end}
    for i = 1, 60000 do
      local holder = {object = setmetatable({}, mt)}
      alive = alive + 1
      most = math.max(most, alive)
      if ... == "kept" and i % 2 == 0 then keep[i % 5000] = holder end
    end
    io.write(most)]]

  it("are few at a time", function()
    assert.is_true(number(program, "dropped") <= 200)
  end)

  it("are few next to those that are kept", function()
    assert.is_true(number(program, "kept") <= 15000)
  end)
end)

describe("a full collection", function()
  local program = [[
    local objects, missing = 300000, 0
    if ... == "incremental" then collectgarbage "incremental" end
    for round = 1, 12 do
      local done, list, ring = 0, nil, {}
      local mt = {__gc = function() done = done + 1 end}
      for _ = 1, objects do list = setmetatable({list}, mt) end
      collectgarbage()
      list = nil
      for i = 1, round * 20000 do ring[i % 1000] = {i, i, i, i, i, i, i} end
      collectgarbage()
      missing = math.max(missing, objects - done)
    end
    io.write(missing)]]

  -- The objects form a list. A former bug: a slice had queued the first half of it for finalization, and
  -- these objects kept the second half alive, so that another full collection was needed.
  for _, mode in ipairs {"generational", "incremental"} do
    it("finalizes all dead objects while slices queue them: " .. mode, function()
      assert.equal(0, number(program, mode))
    end)
  end
end)

describe("a key that was finalized", function()
  local program = [[
    local make, mode, live = ...
    local weak, keep, worst = setmetatable({}, {__mode = mode}), {}, 0
    for i = 1, tonumber(live) do keep[i] = {i} end
    for round = 1, 10 do
      local finalized
      do
        local key
        if make == "table" then key = setmetatable({}, {__gc = function() finalized = true end})
        else
          key = io.tmpfile()
          getmetatable(key).__gc = function() finalized = true end
        end
        weak[key] = keep
      end
      local n, from = 0
      repeat
        n = n + 1
        local garbage = {n}
        from = from or (finalized and n)
      until n > 3000000 or from and n % 10 == 0 and next(weak) == nil
      worst = math.max(worst, n - (from or 0))
    end
    io.write(worst)]]

  for _, make in ipairs {"table", "file"} do
    for _, mode in ipairs {"k", "kv"} do
      it(("leaves a table of mode %s soon: %s"):format(mode, make), function()
        assert.is_true(number(program, make, mode, "0") <= 5000)
      end)
    end
  end

  it("leaves the table after as many bytes as are live", function()
    assert.is_true(number(program, "table", "k", "20000") <= 150000)
  end)
end)
