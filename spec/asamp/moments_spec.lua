-- SPDX-License-Identifier: MIT
-- The buffers that pass ticks (time samples) from the signal handler to the program
-- (asamp/sample/moments.h). Whatever ticks are added, no period of the clock may be lost without being
-- counted.

local signals = require "signals"

local HEAD = 5  -- number of words before the frames in the record of a tick

local function addresses(n, first)
  local list = {}
  for i = 1, n do list[i] = first + i end
  return list
end

local function total(list)
  local n = 0
  for _, e in ipairs(list) do n = n + e[1] end
  return n
end

describe("moments", function()
  it("come out as they went in, oldest first, once", function()
    local m = signals.moments()
    local expected = {}
    for i = 1, 100 do
      expected[i] = {i, i % 3, i % 2, addresses(i % 7, 1000 * i)}
      m:add(table.unpack(expected[i]))
    end
    assert.same(expected, m:take())
    assert.same({}, m:take())
    m:add(table.unpack(expected[1]))
    assert.same({expected[1]}, m:take())
    assert.equal(0, m:lost())
  end)

  it("are stored one by one until a buffer is half full; then equal ones become one", function()
    local m = signals.moments()
    local one = addresses(95, 0)
    local half = signals.WORDS // 2 // (HEAD + 95) + 1
    for _ = 1, half do m:add(1, 1, 0, one) end
    for _ = 1, 10000 do m:add(2, 1, 0, one) end
    m:add(1, 1, 0, addresses(95, 1))
    m:add(1, 1, 1, one)
    m:add(1, 2, 0, one)
    local list = m:take()
    assert.equal(half + 3, #list)
    assert.equal(20001, list[1][1])
    assert.equal(0, m:lost())
  end)

  it("add to one of their frame when a buffer is full, and are lost when it has none", function()
    local m = signals.moments()
    local n = 0
    for i = 1, 2 * signals.WORDS // (HEAD + 20) do
      m:add(1, 7, 0, addresses(20, 100 * i))
      n = n + 1
    end
    m:add(5, 8, 0, addresses(20, 0))
    local list = m:take()
    assert.is_true(#list <= signals.WORDS // (HEAD + 20))
    assert.equal(n, total(list))
    assert.equal(5, m:lost())
  end)

  -- A former bug: a tick with 1,024 native frames, longer than half of a small buffer, was written beyond
  -- the end of the buffer.
  it("stay within a small buffer, whose half is shorter than the longest tick", function()
    local m = signals.moments(signals.FEW)
    m:add(1, 1, 0, addresses(signals.FEW // 2 - HEAD, 0))
    m:add(1, 1, 0, addresses(1024, 1))
    m:add(1, 2, 0, addresses(1024, 1))
    local list = m:take()
    assert.equal(1, #list)
    assert.equal(2, list[1][1])
    assert.equal(1, m:lost())
  end)

  it("keep their sum, whatever comes in whatever order", function()
    for seed = 1, 20 do
      math.randomseed(seed)
      local m = signals.moments()
      local added, taken = 0, 0
      for _ = 1, 3000 do
        local count = math.random(1, 9)
        m:add(count, math.random(1, 3), math.random(0, 2), addresses(math.random(0, 200), math.random(1, 50)))
        added = added + count
        if math.random() < 0.002 then taken = taken + total(m:take()) end
      end
      taken = taken + total(m:take())
      assert.equal(added, taken + m:lost(), "seed " .. seed)
    end
  end)
end)
