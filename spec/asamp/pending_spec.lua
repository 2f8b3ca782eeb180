-- SPDX-License-Identifier: MIT
-- The list of undecided samples, compared with a model in Lua: every sample must get its outcome
-- exactly once, in order, and samples of blocks that were freed explicitly are dead.

local points = require "points"
local story = require "spec.support.story"

-- Returns the model: a list of samples that is searched from the first one.
local function newmodel()
  local m = {samples = {}}
  function m.add(owner, block)
    m.samples[#m.samples + 1] = {owner = owner, block = block}
  end
  function m.freed(block)
    local found = false
    for _, s in ipairs(m.samples) do
      if s.block == block then s.block, s.died, found = 0, true, true end
    end
    return found
  end
  function m.resized(from, to)
    local found = false
    for _, s in ipairs(m.samples) do
      if s.block == from then s.block, found = to, true end
    end
    return found
  end
  function m.fates(dead)
    local list = {}
    for i, s in ipairs(m.samples) do
      list[i] = (s.died or dead[s.owner]) and "0" or "1"
    end
    m.samples = {}
    return table.concat(list)
  end
  function m.watched()
    local n, blocks = 0, {[0] = true}
    for _, s in ipairs(m.samples) do
      if not blocks[s.block] then n, blocks[s.block] = n + 1, true end
    end
    return n
  end
  return m
end

describe("samples without a fate", function()
  it("get it in the order in which they came, and once", function()
    local p = points.pending()
    for owner = 8, 80, 8 do assert.is_true(p:add(owner, 0)) end
    assert.equal("1011111111", p:fates{[16] = true})
    assert.equal("", p:fates{[24] = true})
    p:add(8, 0)
    assert.equal("1", p:fates{})
  end)

  it("have died when they were freed by hand, whatever their owner does", function()
    local p = points.pending()
    p:add(8, 1000)
    p:add(0, 2000)
    p:add(0, 3000)
    assert.is_true(p:freed(2000))
    assert.is_false(p:freed(2000))
    assert.is_true(p:freed(1000))
    assert.equal("001", p:fates{})
  end)

  it("live on in a block that has been resized, as far as it keeps them", function()
    local p = points.pending()
    p:add(0, 1000)
    -- when a block grows, its new sample is added before the block's old address is freed
    p:add(0, 3000)
    assert.is_true(p:resized(1000, 3000, 64, 128))
    assert.is_false(p:resized(1000, 3000, 64, 128))
    p:add(0, 4000)
    assert.equal(2, p:watched())
    assert.is_true(p:freed(3000))
    assert.equal("001", p:fates{})
    for _ = 1, 8000 do p:add(8, 1000) end
    p:add(8, 5000)
    assert.is_true(p:resized(1000, 1000, 4096, 1024))
    assert.is_true(p:resized(5000, 5000, 1024, 1024))
    assert.equal(2, p:watched())
    local fates = p:fates{}
    local _, left = fates:sub(1, 8000):gsub("1", "")
    assert.is_true(left > 2000 - 4 * 39 and left < 2000 + 4 * 39, left)
    assert.equal("1", fates:sub(-1))
  end)

  it("share an owner", function()
    local p = points.pending()
    p:add(8, 0)
    p:add(8, 1000)
    p:add(8, 2000)
    p:add(0, 3000)
    assert.equal("0001", p:fates{[8] = true})
  end)

  it("are watched until their fate is known", function()
    local p = points.pending()
    assert.is_false(p:freed(1000))
    p:add(0, 1000)
    p:add(8, 0)
    assert.equal(1, p:watched())
    p:fates{}
    assert.equal(0, p:watched())
    assert.is_false(p:freed(1000))
  end)

  it("may lie where another one died, again and again", function()
    -- Addresses are reused immediately. Deleted slots must not fill the index of samples. If a new sample
    -- has the address of an earlier one, it must not receive the outcome of the earlier one.
    local p = points.pending()
    local expected = {}
    for i = 1, 5000 do
      p:add(0, 4096)
      if i % 5 == 0 then
        expected[i] = "1"
        break
      end
      assert.is_true(p:freed(4096))
      expected[i] = "0"
    end
    assert.equal(table.concat(expected), p:fates{})
    for _ = 1, 5000 do
      p:add(0, 4096)
      assert.is_true(p:freed(4096))
    end
    assert.equal(0, p:watched())
    assert.equal(("0"):rep(5000), p:fates{})
  end)

  it("may lie anywhere, one after the other", function()
    -- Every slot of the index has been in use before, so that none is marked as empty. A search for a
    -- missing block must still end.
    local p = points.pending()
    p:add(0, 8)
    for i = 1, 5000 do
      p:add(0, i * 0x9E3779B97F8)
      assert.is_true(p:freed(i * 0x9E3779B97F8))
    end
    assert.is_false(p:freed(16))
    assert.equal("1" .. ("0"):rep(5000), p:fates{})
  end)

  it("are never owned by nobody's death", function()
    local p = points.pending()
    p:add(0, 0)
    assert.equal("1", p:fates{[0] = true})
  end)

  it("behave as the model over random actions", function()
    for seed = 1, 12 do
      math.randomseed(seed)
      local random = math.random
      -- few addresses are reused often, and many make the index grow
      local addresses, at = ({4, 50, 3000})[seed % 3 + 1], {}
      for i = 1, addresses do at[i] = 8 * random(1, 1 << 44) end
      local p, m, same = points.pending(), newmodel(), story(seed)
      for _ = 1, addresses < 3000 and 3000 or 6000 do
        local what, block = random(1, 100), at[random(1, addresses)]
        local owner = 8 * random(0, 20)
        if what <= 30 then  -- adds a sample; a block that grows has several samples
          m.add(owner, block)
          same("add " .. owner .. " " .. block, true, p:add(owner, block))
        elseif what <= 50 then
          m.add(owner, 0)
          same("add " .. owner, true, p:add(owner, 0))
        elseif what <= 65 then
          local to = at[random(1, addresses)]
          same("resized " .. block .. " " .. to, m.resized(block, to), p:resized(block, to, 8, 16))
        elseif what <= 98 then
          same("freed " .. block, m.freed(block), p:freed(block))
        elseif addresses < 3000 or what == 100 then
          local dead = {}
          for o = 8, 160, 8 do dead[o] = random(1, 3) == 1 or nil end
          same("watched", m.watched(), p:watched())
          same("fates", m.fates(dead), p:fates(dead))
        end
      end
      same("watched", m.watched(), p:watched())
      same("fates", m.fates{}, p:fates{})
    end
  end)
end)
