-- SPDX-License-Identifier: MIT
-- The profiler's list of surviving samples, compared with a model in Lua. Each sample leaves the list
-- exactly once, when it has died. The list reports deaths as lengths of runs of alive and dead samples.

local points = require "points"
local story = require "spec.support.story"

describe("samples that survived", function()
  it("are reported dead in the order of their addition, and once", function()
    local f = points.followed()
    for owner = 8, 80, 8 do assert.is_true(f:add(owner, 0)) end
    assert.same({1, 2, 6, 1}, f:deaths{[16] = true, [24] = true, [80] = true})
    assert.same({}, f:deaths{[16] = true, [80] = true})
    assert.same({0, 7}, f:deaths{[8] = true, [32] = true, [40] = true, [48] = true,
                                 [56] = true, [64] = true, [72] = true})
    assert.same({}, f:deaths{[8] = true})
  end)

  it("die when they are freed by hand, though their owner lives", function()
    local f = points.followed()
    f:add(8, 1000)
    f:add(8, 2000)
    f:add(0, 3000)
    assert.equal(3, f:watched())
    assert.is_true(f:freed(2000))
    assert.is_false(f:freed(2000))
    assert.same({1, 1}, f:deaths{})
    assert.is_true(f:freed(3000))
    assert.same({1, 1}, f:deaths{})
    assert.equal(1, f:watched())
  end)

  it("live on in a block that has been resized, as far as it keeps them", function()
    local f = points.followed()
    f:add(8, 1000)
    f:add(8, 2000)
    assert.is_true(f:resized(1000, 2000, 64, 128))
    assert.is_false(f:freed(1000))
    assert.same({}, f:deaths{})
    assert.equal(1, f:watched())
    assert.is_true(f:freed(2000))
    assert.same({0, 2}, f:deaths{})
    for _ = 1, 8000 do f:add(8, 1000) end
    assert.is_true(f:resized(1000, 3000, 4096, 1024))
    local runs, dead = f:deaths{}, 0
    for i = 2, #runs, 2 do dead = dead + runs[i] end
    assert.is_true(dead > 6000 - 4 * 39 and dead < 6000 + 4 * 39, dead)
    assert.is_true(f:resized(3000, 3000, 1024, 1024))
    assert.equal(1, f:watched())
    assert.is_true(f:freed(3000))
    assert.same({0, 8000 - dead}, f:deaths{})
  end)

  it("are found by their address when others before them have gone", function()
    local f = points.followed()
    for i = 1, 100 do f:add(8 * i, 1000 * i) end
    local dead = {}
    for i = 1, 99 do dead[8 * i] = true end
    assert.same({0, 99}, f:deaths(dead))
    assert.is_false(f:freed(1000))
    assert.is_true(f:freed(100000))
    assert.same({0, 1}, f:deaths{})
    assert.equal(0, f:watched())
  end)

  it("are as many as there is room for", function()
    local f = points.followed()
    for i = 1, points.MOST do assert(f:add(8 * i, 0)) end
    assert.is_false(f:add(8, 0))
    assert.is_false(f:add(0, 1000))
    assert.equal(0, f:watched())
    assert.same({9, 1}, f:deaths{[80] = true})
    assert.is_true(f:add(0, 1000))
    assert.is_false(f:add(8, 0))
  end)

  it("behave as the model over random actions", function()
    for seed = 1, 12 do
      math.randomseed(seed)
      local random = math.random
      local addresses, at = ({4, 50, 2000})[seed % 3 + 1], {}
      for i = 1, addresses do at[i] = 8 * random(1, 1 << 44) end
      local f, list, same = points.followed(), {}, story(seed)
      -- Calls change(s) for each sample s of the block. Returns true if the block has a sample.
      local function each(block, change)
        local found = false
        for _, s in ipairs(list) do
          if s.block == block then
            found = true
            change(s)
          end
        end
        return found
      end
      for _ = 1, 2000 do
        local what, block = random(1, 100), at[random(1, addresses)]
        local owner = 8 * random(0, 20)
        -- adds a sample; the same block may already have samples, as a block that grows does
        if what <= 25 then
          list[#list + 1] = {owner = owner, block = block}
          same("add " .. owner .. " " .. block, true, f:add(owner, block))
        elseif what <= 55 then
          owner = owner + 8
          list[#list + 1] = {owner = owner}
          same("add " .. owner, true, f:add(owner, 0))
        elseif what <= 70 then
          local to = at[random(1, addresses)]
          local was = each(block, function(s) s.block = to end)
          same("resized " .. block .. " " .. to, was, f:resized(block, to, 8, 16))
        elseif what <= 90 then
          local was = each(block, function(s) s.block, s.dead = nil, true end)
          same("freed " .. block, was, f:freed(block))
        else
          local dead, stay, expected, alive, died = {}, {}, {}, 0, 0
          for o = 8, 168, 8 do dead[o] = random(1, 9) == 1 or nil end
          for _, s in ipairs(list) do
            if s.dead or s.owner ~= 0 and dead[s.owner] then died = died + 1
            else
              if died > 0 then
                expected[#expected + 1] = alive .. " " .. died
                alive, died = 0, 0
              end
              alive, stay[#stay + 1] = alive + 1, s
            end
          end
          if died > 0 then expected[#expected + 1] = alive .. " " .. died end
          list = stay
          same("deaths", table.concat(expected, " "), table.concat(f:deaths(dead), " "))
          local n, blocks = 0, {}
          for _, s in ipairs(list) do
            if s.block and not blocks[s.block] then n, blocks[s.block] = n + 1, true end
          end
          same("watched", n, f:watched())
        end
      end
    end
  end)
end)
