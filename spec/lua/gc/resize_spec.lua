-- SPDX-License-Identifier: MIT
-- Big old tables grow, shrink and lose entries while young values are stored into them. When a value moves
-- to a new vector, its remembered slot must move with it (luaN_resized). Weak values are cleared slot by
-- slot.
-- A former bug: a new key that makes a table grow may be stored in the new array part, where luaH_newkey
-- does not check it. The value of such a key was not remembered, and the next minor collection freed it.

local process = require "spec.support.process"


local PROGRAM = [[
  local mode, weak, nursery, seed = ...
  math.randomseed(seed)
  collectgarbage(mode)
  collectgarbage("nursery", nursery)
  local mt = weak ~= "" and {__mode = weak} or nil
  local held, t = {}, setmetatable({}, mt)
  local function key()
    local kind = math.random(4)
    return kind == 1 and math.random(500) or kind == 2 and "k" .. math.random(400)
      or kind == 3 and math.random() or math.random(20000)
  end
  for i = 1, 30000 do
    local k = key()
    if math.random(3) == 1 then t[k], held[k] = nil, nil
    else
      local v = {k}
      t[k], held[k] = v, v
      t[-i] = weak:find "v" and {} or nil  -- dies at once
    end
    if i % 7000 == 0 then t, held = setmetatable({}, mt), {} end
    if i % 499 == 0 then
      for at, v in pairs(held) do assert(t[at] == v and v[1] == at, at) end
    end
  end
  collectgarbage()
  for at, v in pairs(t) do assert(held[at] == v, at) end
  for at, v in pairs(held) do assert(t[at] == v, at) end
]]

describe("big tables that are resized while they hold young objects", function()
  for _, mode in ipairs {"generational", "incremental"} do
    for _, weak in ipairs {"", "v", "k", "kv"} do
      it(("lose nothing: %s, mode '%s'"):format(mode, weak), function()
        for seed, nursery in ipairs {2000, 20000, 100000} do
          local status, text = process.code(PROGRAM, mode, weak, nursery, seed)
          assert.equal(0, status, text)
        end
      end)
    end
  end
end)

-- A former bug, also of upstream: the whole table was counted and copied for every few new keys, however
-- large it was. This happened if the table had nearly as many keys as nodes, or few nodes and a large array
-- part.
describe("a big table that keys come to and go from", function()
  local function bytes(count, fields, keys)
    local status, text = process.code([[
      local count, fields, keys = ...
      local t = {}
      for i = 1, count do t[i] = true end
      for i = 1, fields do t[i + 0.5] = true end
      local before = collectgarbage("statistics").allocated
      for i = 1, keys do
        t[-i - 0.5] = true
        t[i + 0.5] = nil
        t[-i + 0.5 - fields] = nil
      end
      io.write(collectgarbage("statistics").allocated - before)]], count, fields, keys)
    assert.equal(0, status, text)
    return tonumber(text)
  end

  it("is not copied for every few of them", function()
    for _, free in ipairs {0, 1, 3, 100} do
      -- the limit is above the 3 MiB of one more vector, and below the bytes of many copies
      local n = bytes(0, (1 << 15) - free, 20000)
      assert.is_true(n < 8 << 20, n)
    end
  end)

  it("gets a hash part that is in proportion to its array part", function()
    local n = bytes(300000, 4, 4000)
    assert.is_true(n > 300000 // 16 * 24 and n < 2 << 20, n)
  end)

  it("has as many nodes as upstream's when it only grows, or is small", function()
    -- reading the number of bytes allocates up to 8 KiB itself
    assert.is_true(bytes(300000, 4, 0) < 8192)
    assert.is_true(bytes(0, 100, 20) < 8192)
  end)

  it("becomes small again", function()
    local status, text = process.code [[
      local t = {}
      for i = 1, 1 << 17 do t[i + 0.5] = true end
      for i = 1, 1 << 17 do t[i + 0.5] = nil end
      collectgarbage()
      local before = collectgarbage("count")
      for i = 1, 200000 do t[-i - 0.5], t[20 - i - 0.5] = true, nil end
      collectgarbage()
      assert(before - collectgarbage("count") > 3000)]]
    assert.equal(0, status, text)
  end)
end)
