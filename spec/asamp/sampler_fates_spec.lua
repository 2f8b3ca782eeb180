-- SPDX-License-Identifier: MIT
-- Survival outcomes: the samples reported as survivors must be exactly those whose objects the next
-- collection found alive.

local natives = require "natives"
local samples = require "spec.support.samples"

describe("the fates of samples", function()
  local function byline(list, from)
    local found = {}
    for _, s in ipairs(list) do
      for _, f in ipairs(s.stack) do
        if f.file:find "sampler_fates_spec.lua$" then
          local line = f.line - from
          local key = s.kind .. " " .. tostring(s.survived)
          found[line] = found[line] or {}
          found[line][key] = (found[line][key] or 0) + s.count
          break
        end
      end
    end
    return found
  end
  local function line() return debug.getinfo(2, "l").currentline end

  it("are right when finalizers collect garbage", function()
    local kept, runs = {}, 0
    local list = samples.of(function()
      for _ = 1, 20 do
        setmetatable({}, {__gc = function()
          runs = runs + 1
          for i = 1, 50 do
            kept[#kept + 1] = natives.userdata(1000)
            natives.userdata(2000)
            if i % 10 == 0 then collectgarbage(runs % 2 == 0 and "collect" or "step") end
          end
        end})
        collectgarbage()
      end
    end)
    assert.equal(20, runs)
    local fates = {}
    for _, s in ipairs(list) do
      if s.kind == "userdata" then
        local key = s.size .. " " .. tostring(s.survived)
        fates[key] = (fates[key] or 0) + 1
      end
    end
    assert.is_true(fates["1032 true"] == #kept, fates["1032 true"])
    -- a dead object may survive because a register still contains its address
    assert.is_true(fates["2032 false"] >= 0.8 * #kept, fates["2032 false"])
    assert.equal(0, list.undecided)
  end)

  it("distinguish live objects from dead ones", function()
    local kept, from = {}, nil
    local list = samples.of(function()
      collectgarbage "stop"
      for i = 1, 300 do kept[i], kept[-i] = false, false end
      collectgarbage()
      from = line()
      for i = 1, 100 do local t = {} t.x, t[1] = i, i kept[i] = t end
      for i = 1, 100 do local t = {} t.x, t[1] = i, i assert(#t == 1) end
      for i = 1, 100 do kept[-i] = natives.string(100) end
      for _ = 1, 100 do natives.string(100) end
      for i = 1, 100 do kept[i] = {} end
      for i = 101, 200 do local t = {} t.x, t[1] = i, i kept[i] = t end
      for i = 201, 300 do kept[i] = {i, x = i} end
      for i = 201, 300 do local _ = {i, x = i} end
      collectgarbage "restart"
    -- intervals are random, because fixed ones may miss allocations that repeat
    end, {random = true})
    local found = byline(list, from)
    assert.equal(300, #kept)
    local function kinds(i, fate, ...)
      local set = {}
      for _, kind in ipairs{...} do set[kind .. " " .. fate] = true end
      for key in pairs(found[i]) do found[i][key] = true end
      assert.same(set, found[i])
    end
    -- line 5 stores new objects in the fields of 'kept' that line 1 has filled, so that the objects of line 1
    -- died
    kinds(1, "false", "table", "table array part", "table hash part")
    kinds(2, "false", "table", "table array part", "table hash part")
    kinds(3, "true", "string")
    kinds(4, "false", "string")
    kinds(5, "true", "table")
    kinds(6, "true", "table", "table array part", "table hash part")
    -- the tables, each with its vectors in the same block
    kinds(7, "true", "table")
    kinds(8, "false", "table")
  end)

  it("of arrays are those of their table, however often it has grown", function()
    local kept, from
    local list = samples.of(function()
      collectgarbage "stop"
      from = line()
      kept = {}
      for i = 1, 4096 do kept[i] = i end
      local dropped = {}
      for i = 1, 4096 do dropped[i] = i end
      dropped = #dropped
      collectgarbage "restart"
      return dropped
    end)
    assert.equal(4096, #kept)
    local found = byline(list, from)
    -- the array grows from 16 to 65536 bytes; samples of each growth represent only the new half
    local alive = found[2]["table array part true"]
    assert.is_true(alive >= 1023 and alive <= 1025, alive)
    assert.is_nil(found[2]["table array part false"])
    assert.is_nil(found[4]["table array part true"])
  end)

  it("of buffers freed by hand, and of those that stay", function()
    local source = ("x"):rep(3000) .. " = 1"
    local list = samples.of(function()
      collectgarbage "stop"
      -- load frees the scanner's buffer before it returns
      assert(load(source))
      collectgarbage "restart"
    end)
    local buffers = 0
    for _, s in ipairs(list) do
      if s.kind == "buffer" and s.size >= 1024 and s.size <= 8192 then
        buffers = buffers + 1
        assert.is_false(s.survived)
      end
    end
    assert.is_true(buffers > 0)
  end)

  it("of stacks: in use, however often they have grown, and of a coroutine that died", function()
    local function down(n)
      if n == 0 then return coroutine.yield() end
      return (down(n - 1))
    end
    local alive
    local function grow()
      local co = coroutine.create(down)
      coroutine.resume(co, 1000)
      return co
    end
    local function stacks(list)
      local largest, others = nil, true
      for _, s in ipairs(list) do
        if s.kind == "stack" and s.size >= 700 then
          if largest then others = others and largest.survived == s.survived end
          largest = s
        end
      end
      return largest.survived, others
    end
    local survived, others = stacks(samples.of(function()
      collectgarbage "stop"
      alive = grow()
      collectgarbage "restart"
    end))
    assert.is_true(survived)
    assert.is_true(others)
    assert.equal("suspended", coroutine.status(alive))
    survived, others = stacks(samples.of(function()
      collectgarbage "stop"
      grow()
      collectgarbage "restart"
    end))
    assert.is_true(others)
    assert.is_false(survived)
  end)

  it("come from incremental collections too", function()
    local mode = collectgarbage "incremental"
    local kept, from = {}, nil
    local list = samples.of(function()
      from = line()
      for i = 1, 500 do kept[i] = {} end
      for _ = 1, 500 do local _ = {} end
    end)
    collectgarbage(mode)
    assert.equal(500, #kept)
    local found = byline(list, from)
    assert.is_nil(found[1]["table false"])
    -- The table that is being created when a collection starts survives. Each collection has at most one such
    -- table.
    local alive = 0
    for i, s in ipairs(list) do
      if s.kind == "table" and s.survived and s.stack[1].line == from + 2 then
        assert.not_equal(s.collection, list[i + 1] and list[i + 1].collection)
        alive = alive + s.count
      end
    end
    assert.equal(alive, found[2]["table true"] or 0)
    assert.equal(0, list.undecided)
  end)

  it("come from every minor collection, in the default mode too", function()
    local before = collectgarbage("nursery", 65536)
    collectgarbage()
    local kept, n = {}, 20 * 65536 // 1024
    for i = 1, n do kept[i] = false end
    local list = samples.of(function()
      for i = 1, n do kept[i] = natives.string(1024 - 17) end
    end)
    collectgarbage("nursery", before)
    -- Each nursery ends with a collection, which decides whether its samples have survived. Each kept string
    -- survives. It is decided once.
    local decided = {}
    for _, s in ipairs(list) do
      decided[s.collection] = (decided[s.collection] or 0) + s.count
      if s.kind == "string" and s.size == 1024 then assert.is_true(s.survived) end
    end
    for i, points in pairs(decided) do
      -- a nursery ends with the block that crosses its end, so that it may have the samples of one block
      -- more
      assert.is_true(points <= 65536 // 64 + 1024 // 64, ("%d: %d"):format(i, points))
    end
    local minors = 0
    for i, kind in ipairs(list.collections) do
      -- only minor collections are checked, because at a major one all samples are already decided
      if kind == "minor" then
        minors = minors + 1
        assert.is_true(minors == 1 or minors > 20 or (decided[i] or 0) >= 65536 // 64 - 1024 // 64,
                       ("%d: %s"):format(i, decided[i]))
      end
    end
    assert.is_true(minors >= 20, minors)
    assert.equal(0, list.undecided)
    assert.equal(n, #kept)
  end)
end)
