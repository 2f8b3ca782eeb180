-- SPDX-License-Identifier: MIT
--
-- A new key takes an empty node of its chain (lua/vm/reuse.h). The function next returns keys in the order
-- of the nodes, which shows the node that a key took. In a hash part of 8 nodes, the main position of an
-- integer k is k % 7. All keys are larger than any size of an array part.

local function order(t)
  local keys = {}
  for k in next, t do keys[#keys + 1] = k end
  return table.concat(keys, " ")
end

describe("a new key", function()
  local base <const> = 700000

  it("takes the node of a key of its chain that was removed", function()
    local t = {[base + 1] = 1, [base + 2] = 1, [base] = 1, [base + 7] = 1, [base + 14] = 1}
    local expected = order(t)
    for round = 1, 100 do
      local gone, come = base + 7 * round, base + 7 * (round + 2)
      t[gone] = nil
      t[come] = 1
      expected = expected:gsub(tostring(gone), tostring(come))
      assert.equal(expected, order(t))
    end
  end)

  it("leaves an empty node alone that is the main position of a later key", function()
    -- Compares a table with many collisions of random keys to a list of the same entries.
    math.randomseed(11)
    for size = 3, 6 do
      local t, list, n = {}, {}, 0
      for _ = 1, 1 << size do t[{}] = 1 end
      for k in pairs(t) do t[k] = nil end
      for step = 1, 20000 do
        local k = 1000000 + math.random(0, 3 << size) * ((1 << size) - 1) + math.random(0, 2)
        if math.random(2) == 1 and n < (1 << size) - 2 or list[k] then
          if list[k] then
            list[k], t[k], n = nil, nil, n - 1
            if math.random(3) == 1 then list[k], t[k], n = step, step, n + 1 end
          else
            list[k], t[k], n = step, step, n + 1
          end
        end
        if step % 50 == 0 then
          local count = 0
          for key, v in pairs(t) do
            assert(list[key] == v)
            count = count + 1
          end
          assert.equal(n, count)
          for key, v in pairs(list) do assert(t[key] == v) end
        end
      end
    end
  end)

  it("is found by next if an earlier node of its chain has the same key, dead", function()
    -- With 16 nodes, the main position of an integer k is k % 15, and free nodes are taken from node 15
    -- down. One string of 16 has the main position 5; its chain then consists of nodes 5, 13, 11, 12 and
    -- 14.
    local function int(node, i) return 15 * (100000 + i) + node end
    for i = 1, 200 do
      local key = ("key"):rep(20) .. i
      local t = {a = nil, b = nil, c = nil, d = nil, e = nil, f = nil, g = nil, h = nil,
        i = nil, j = nil, k = nil, l = nil, m = nil, n = nil, o = nil, p = nil}
      t[int(0, 0)], t[int(0, 1)] = 1, 1  -- takes node 15
      t[int(5, 0)], t[int(5, 1)] = 1, 1  -- takes node 14
      t[int(5, 2)] = 1                   -- takes node 13
      t[int(5, 2)] = nil
      -- each store in this loop body takes the node of the key that was removed before it
      t[int(13, 0)] = 1
      t[int(13, 1)] = 1                  -- takes node 12
      t[int(13, 2)] = 1                  -- takes node 11
      t[int(13, 2)] = nil
      t[key] = 1                         -- takes the same node again
      t[key] = nil
      -- marks the key of node 11 as dead
      collectgarbage()
      t[int(13, 0)], t[int(13, 1)] = nil, nil
      -- takes node 12, because node 13 is the main position of the node's old key
      t[key] = 1
      local n = 0
      for _ in next, t do
        n = n + 1
        assert(n < 16, i)
      end
      assert.equal(5, n)
    end
  end)

  it("finds every living key of weak tables while others come and go at the same addresses", function()
    for _, mode in ipairs {"k", "v", "kv"} do
      local t, live = setmetatable({}, {__mode = mode}), {}
      for i = 1, 3000 do
        live[i] = {i}
        t[live[i]] = live[i]
      end
      for round = 1, 40 do
        for i = 1, 3000 do t[{}] = {i} end
        local drop = round * 7 % 3000 + 1
        t[live[drop]] = nil
        live[drop] = {drop}
        t[live[drop]] = live[drop]
        for i = 1, 3000, 17 do assert(t[live[i]] == live[i]) end
      end
      collectgarbage()
      local count = 0
      for k, v in pairs(t) do
        assert(k == v)
        count = count + 1
      end
      assert.equal(3000, count)
    end
  end)
end)
