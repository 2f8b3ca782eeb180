-- SPDX-License-Identifier: MIT
--
-- Large hash parts that grow ahead of time (lua/gc/alloc/growth.h): the bytes of their next vectors, and
-- their contents after the growth. In the debug build a hash part of 256 nodes is large already, and the
-- verifier checks growths in progress.

local fewer = require "spec.support.fewer"
local process = require "spec.support.process"
local states = require "states"
local within = require "spec.lua.gc.within"

local NODES = 1 << 14
local NODE, COPYOF = 24, 4
local AHEAD = NODES * (2 * NODE + COPYOF)

-- Runs a program and returns its output. The program can use a table t, which has three quarters of NODES
-- keys, and two functions. put(i) adds the i-th additional key. watch(n, f) calls f(1) to f(n), and returns
-- at which calls the bytes in use changed by much, and by how many.
local function changes(program)
  local status, text = process.code([[
    local NODES = 1 << 14
    local keys = {}
    for i = 1, 2 * NODES do keys[i] = "key " .. i end
    collectgarbage()
    collectgarbage "stop"
    local function bytes() return collectgarbage "count" * 1024 // 1 end
    local function watch(n, put)
      local last, found = bytes(), {}
      for i = 1, n do
        put(i)
        local now = bytes()
        if math.abs(now - last) > 8 * NODES then
          found[#found + 1] = ("%d at %d"):format(now - last, i)
        end
        last = bytes()
      end
      return table.concat(found, ", ")
    end
    local t = {}
    for i = 1, NODES * 3 // 4 do t[keys[i] ] = i end
    local function put(i) rawset(t, keys[NODES * 3 // 4 + i], i) end  -- in C, not in the bytecode loop
  ]] .. program)
  assert.equal(0, status, text)
  return text
end

local function started(text)
  return tonumber(text:match("^" .. AHEAD .. " at (%d+)"))
end

describe("a large hash part", function()
  it("has its next vector before it is full, and one vector after that", function()
    local text = changes "io.write(watch(NODES // 2, put))"
    local at = started(text)
    assert.is_true(at and at > NODES / 5 and at < NODES / 4, text)
    local more = -NODES * (NODE + COPYOF)
    assert.equal(("%d at %d, %d at %d"):format(AHEAD, at, more, NODES / 4 + 1), text)
  end)

  it("is allocated once, when it is the table's", function()
    local text = changes [[
      local function allocated() return collectgarbage("statistics").allocated end
      local last, most = allocated(), {}
      for i = 1, NODES // 2 do
        put(i)
        local now = allocated()
        if now - last > 8 * NODES then most[#most + 1] = ("%d at %d"):format(now - last, i) end
        last = allocated()
      end
      io.write(table.concat(most, ", "))]]
    local n, at = text:match "^(%d+) at (%d+)$"
    assert.equal(NODES // 4 + 1, tonumber(at), text)
    n = tonumber(n) - 2 * NODES * NODE
    -- the remaining bytes were allocated by collectgarbage "statistics"
    assert.is_true(n >= 0 and n < 4096, text)
  end)

  it("loses it by a full collection, and grows all the same", function()
    local text = changes [[
      io.write(watch(NODES // 4 - 1, put), "\n")
      local before = bytes()
      collectgarbage()
      assert(before - bytes() > NODES * 2 * 24)
      io.write(watch(NODES // 4, function(i) put(NODES // 4 - 1 + i) end))
      for i = 1, NODES * 5 // 4 - 1 do assert(t[keys[i] ]) end]]
    local behind = text:match "\n(.*)"
    assert.is_truthy(started(text), text)
    assert.equal(("%d at 2"):format(NODES * NODE), behind)
  end)

  it("loses it when nothing came to it from one major collection to the next", function()
    local text = changes [[
      collectgarbage "incremental"
      local function cycle() repeat until collectgarbage("step", 1000) end
      io.write(watch(NODES // 4 - 2, put), "\n")
      cycle()
      put(NODES // 4 - 1)
      cycle()
      local before = bytes()
      cycle()
      io.write(before - bytes() > NODES * 2 * 24 and "dropped" or "kept")]]
    assert.is_truthy(started(text), text)
    assert.equal("dropped", text:match "\n(.*)")
  end)

  it("loses it when the table dies young", function()
    local text = changes [[
      collectgarbage "generational"
      t = {}
      io.write(watch(NODES, function(i) rawset(t, keys[i], i) end), "\n")
      t = nil
      local before = bytes()
      collectgarbage("step", 0)
      io.write(before - bytes() > NODES * 3 * 24 and "dropped" or "kept")]]
    assert.is_truthy(text:find(AHEAD .. " at", 1, true), text)
    assert.equal("dropped", text:match "\n(.*)")
  end)

  it("has none for integers that may come to the array part", function()
    local text = changes [[
      t = {}
      local function at(i) t[2 * NODES - (i - 1) * 2] = true end
      local all = watch(NODES, at)
      for i = 1, NODES do assert(t[i * 2]) end
      io.write(all)]]
    assert.is_falsy(text:find(AHEAD .. " at", 1, true), text)
  end)

  it("has one for integers that will not", function()
    local text = changes [[
      t = {}
      for i = 1, NODES + 1 do keys[i] = math.random(1 << 20, 1 << 40) end
      local all = watch(NODES + 1, function(i) rawset(t, keys[i], i) end)
      for i = 1, NODES + 1 do assert(t[keys[i] ]) end
      io.write(all)]]
    assert.is_truthy(text:find(AHEAD .. " at", 1, true), text)
    local grown = ("%d at %d"):format(-NODES * (NODE + COPYOF), NODES + 1)
    assert.is_truthy(text:find(grown, 1, true), text)
  end)

  it("has none where half of the keys are gone", function()
    local text = changes [[
      t = {}
      io.write(watch(8 * NODES, function(i)
        t[keys[i % #keys + 1] ], t[keys[(i - NODES // 2) % #keys + 1] ] = i, nil
      end))]]
    assert.is_truthy(text:find "^%d", text)
    assert.is_falsy(text:find(AHEAD .. " at", 1, true), text)
  end)

  it("gives all back when the state is closed", function()
    within(function()
      local t = {}
      for i = 1, 16300 do t["key " .. i] = i end
      assert(next(t))
    end)
  end)
end)


describe("memory that is refused while a hash part grows", function()
  local function fill()
    local t, n = {}, 0
    for i = 1, 40000 do t["key " .. i] = i end
    for i = 1, 40000 do assert(t["key " .. i] == i) end
    for _ in next, t do n = n + 1 end
    return n
  end

  it("costs nothing but a collection", function()
    local s = states.open()
    s:run(fill)
    local requests = s:stats().requests
    s:close()
    for n = 1, requests, 1 + requests // fewer(100, 25) do
      local one, opened = states.open {fail = n}
      if opened == "ok" then
        assert.same({"ok", 40000}, {one:run(fill)}, n)
        assert.is_nil(one:check())
      end
      assert.equal(0, one:close())
      assert.is_nil(one:stats().wrong)
    end
  end)

  it("leaves a table as it was where there is no more", function()
    for limit = 1 << 20, 6 << 20, 1 << 19 do
      local s = states.open {limit = limit}
      local status, n = s:run(fill)
      assert.is_true(status == "memory" or n == 40000, status)
      assert.is_nil(s:check())
      assert.equal(0, s:close())
      assert.is_nil(s:stats().wrong)
    end
  end)
end)


-- A program that adds and removes keys and values of all kinds in a table t, during small and frequent
-- collections. The contents of t must equal those of a copy in an array.
local PROGRAM = [[
  local seed, most, weak, nursery, mode = ...
  seed, most = tonumber(seed), tonumber(most)
  math.randomseed(seed, 0)
  local random = math.random
  collectgarbage(mode)
  collectgarbage("nursery", tonumber(nursery))
  local t, keys, values = setmetatable({}, weak ~= "" and {__mode = weak} or nil), {}, {}
  local light = {print, math.sin, string.len}
  local function fresh()
    local kind = random(8)
    if kind <= 3 then return "key " .. random(1 << 30)
    elseif kind == 4 then return {}
    elseif kind == 5 then return random(1 << 40)
    elseif kind == 6 then return random()
    elseif kind == 7 then return ("long key "):rep(8) .. random(1 << 30)
    else return coroutine.create(light[random(3)]) end
  end
  local function check()
    local n, m = 0, 0
    for i = 1, #keys do
      assert(t[keys[i] ] == values[i])
      if values[i] ~= nil then n = n + 1 end
    end
    for k, v in next, t do
      assert(k ~= nil and v ~= nil)
      m = m + 1
    end
    assert(n == m or weak ~= "" and m >= n, n .. " " .. m)
  end
  local function come()
    local k, v = fresh(), {}
    if t[k] ~= nil then return end
    keys[#keys + 1], values[#keys + 1] = k, v
    t[k] = v
  end
  local function go()
    local i = random(#keys)
    t[keys[i] ] = nil
    keys[i], values[i] = keys[#keys], values[#keys]
    keys[#keys], values[#keys] = nil, nil
  end
  local function change()
    local i = random(#keys)
    values[i] = {}
    t[keys[i] ] = values[i]
  end
  local function lost()  -- adds an entry that a collection removes from a weak t: only t refers to it
    local k = fresh()
    if t[k] == nil then
      t[k] = {}
      if weak == "" then t[k] = nil end
    end
  end
  local going = random(3) - 1
  while #keys < most do
    come()
    local r = random(100)
    if r <= 4 * going then go()
    elseif r > 70 and r <= 80 then change()
    elseif r > 95 and #keys > most // 2 then lost() end
    local n = #keys
    if n & (n - 1) == 0 or (n - 3) & (n - 4) == 0 or random(most) == 1 then check() end
    if random(most) == 1 then collectgarbage() end
    if random(most) == 1 then collectgarbage("step", 1) end
  end
  check()
  collectgarbage()
  check()
]]

describe("a table that grows ahead while keys come and go", function()
  for _, weak in ipairs {"", "v", "k", "kv"} do
    it(("has the expected contents: mode '%s'"):format(weak), function()
      for seed = 1, 6 do
        local mode = seed % 2 == 0 and "generational" or "incremental"
        local most = seed < 6 and 400 * seed or 70000
        local nursery = seed < 6 and 20000 or 1000000
        local status, text = process.code(PROGRAM, seed, most, weak, nursery, mode)
        assert.equal(0, status, text)
      end
    end)
  end
end)
