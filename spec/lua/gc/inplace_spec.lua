-- SPDX-License-Identifier: MIT
--
-- Hash parts that keep their size when they are full (lua/vm/inplace.c). The spec checks the bytes that are
-- allocated, and the contents. The debug build searches every key after each such rehash, and checks the
-- collector's data of the table at every collection.

local fewer = require "spec.support.fewer"
local process = require "spec.support.process"

local NODE = 24

-- Returns the number of bytes that a program allocates while a table has 'live' keys and 'count' more keys
-- are inserted, each after the oldest key was removed. 'make' is an expression for key i.
local function allocated(make, live, count)
  local status, text = process.code([[
    local live, count = tonumber((...)), tonumber((select(2, ...)))
    local keys, t = {}, {}
    for i = 1, live + count do keys[i] = ]] .. make .. [[ end
    for i = 1, live do t[keys[i] ] = i end
    local function bytes() return collectgarbage "statistics".allocated end
    local function come(first, last)
      for i = first, last do
        t[keys[i - live] ] = nil
        t[keys[i] ] = i
      end
    end
    come(live + 1, live + count // 10)  -- the hash part gets its final size
    local before = bytes()
    come(live + count // 10 + 1, live + count)
    local after = bytes()
    for i = 1, live + count do assert(t[keys[i] ] == (i > count and i or nil), i) end
    local n = 0
    for key, i in pairs(t) do
      assert(keys[i] == key)
      n = n + 1
    end
    assert(n == live)
    io.write(after - before)]], live, count)
  assert.equal(0, status, text)
  return tonumber(text)
end

describe("a hash part that keys come to and go from", function()
  for name, make in pairs {strings = "'key ' .. i", floats = "i + 0.5", objects = "{}",
                           integers = "-i * 7"} do
    it("takes no other vector: " .. name, function()
      for _, live in ipairs {20000, fewer(28000), fewer(30500)} do
        local n = allocated(make, live, fewer(300000, 60000))
        -- reading the number of bytes allocates up to 8 KiB itself
        assert.is_true(n < 8192, live .. ": " .. n)
      end
    end)

    it("takes none where it is small: " .. name, function()
      for _, live in ipairs {5, 12, 50} do
        local n = allocated(make, live, 5000)
        assert.is_true(n < 8192, live .. ": " .. n)
      end
    end)
  end

  -- In a hash part of 2^9 nodes, all multiples of 2^9 - 1 have the same main position.
  it("takes one for as many keys as it has room for, where they are chosen for it", function()
    local n = allocated("i * 511", 400, 4000)
    assert.is_true(n < 4000 * 16 * NODE * 2, n)
  end)

  it("loses those of a growth ahead that its keys do not need", function()
    local status, text = process.code [[
      local NODES = 1 << 14
      local keys, t = {}, {}
      for i = 1, 2 * NODES do keys[i] = "key " .. i end
      local function put(i) rawset(t, keys[i], i) end
      for i = 1, NODES - 20 do put(i) end
      collectgarbage "stop"
      local with = collectgarbage "count"
      for i = 1, NODES // 2 do t[keys[i] ] = nil end
      for i = NODES - 19, NODES + 200 do put(i) end
      assert(with - collectgarbage "count" > 2 * 24 * NODES / 1024)
      for i = NODES // 2 + 1, NODES + 200 do assert(t[keys[i] ] == i) end]]
    assert.equal(0, status, text)
  end)
end)

-- A program that changes a table with keys of all kinds, and compares it with a copy in an array. The value
-- of each key is a number.
local PROGRAM = [[
  local mode, weak, count, fill, seed = ...
  count, fill = tonumber(count), tonumber(fill)
  math.randomseed(tonumber(seed))
  collectgarbage(mode)
  collectgarbage("nursery", 20000)
  local t = setmetatable({}, weak ~= "" and {__mode = weak} or nil)
  local keys, values, live = {}, {}, {}
  for i = 1, count do
    local kind = math.random(6)
    keys[i] = kind == 1 and "k" .. i or kind == 2 and i + 0.25 or kind == 3 and {}
      or kind == 4 and -i or kind == 5 and i * ((1 << 6) - 1) << 8
      or ("long"):rep(20) .. i
    values[i] = false
  end
  local function check()
    local n = 0
    for i = 1, count do
      assert(rawget(t, keys[i]) == (values[i] or nil), i)
      if values[i] then n = n + 1 end
    end
    for key, v in pairs(t) do
      assert(v == values[v[1] ] and keys[v[1] ] == key)
      n = n - 1
      if math.random(count) < 4 then  -- some fields are removed while pairs traverses the table
        values[v[1] ] = false
        t[key] = nil
      end
    end
    assert(n == 0)
  end
  local function put(i)
    local v = {i}
    values[i] = v
    t[keys[i] ] = v
  end
  local function drop(i)
    values[i] = false
    if weak:find "v" and math.random(2) == 1 then return end  -- its value dies
    t[keys[i] ] = nil
    if type(keys[i]) == "table" then keys[i] = {} end
  end
  for _ = 1, 40 do
    for _ = 1, count do
      local i = math.random(count)
      if math.random() < fill then if not values[i] then put(i) end
      elseif values[i] then drop(i) end
    end
    if weak:find "v" then collectgarbage() end
    check()
  end]]

describe("a table whose hash part is rehashed in place", function()
  for _, mode in ipairs {"generational", "incremental"} do
    for _, weak in ipairs {"", "v", "k", "kv"} do
      it(("has its contents: %s, mode '%s'"):format(mode, weak), function()
        for seed, size in ipairs {12, 100, 500, fewer(2000)} do
          for _, fill in ipairs {0.3, 0.6, 0.8} do
            local status, text = process.code(PROGRAM, mode, weak, size, fill, seed)
            assert.equal(0, status, text)
          end
        end
      end)
    end
  end
end)
