-- SPDX-License-Identifier: MIT
-- The survival of objects with a nursery of another size (asamp.sums.survival). It depends on the age of
-- objects, and on dead old objects that keep young ones alive. The data are computed from known numbers, so
-- that the right result is known.

local survival = require "asamp.sums.survival"

-- Returns the reader's sums by age for nurseries of these sizes. lives(u, v) returns the surviving share of
-- the objects that were allocated u bytes before one collection and v bytes after the previous one.
local function ages(sizes, lives)
  local function binof(n)
    return n < 4096 and 0 or math.floor(1 + 4 * math.log(n / 4096, 2))
  end
  local list = {first = 4096, doubling = 4}
  for _, n in ipairs(sizes) do
    for u = 512, n, 1024 do
      list[#list + 1] = {behind = binof(u), before = binof(n - u), bytes = 1024,
                         survived = 1024 * lives(u, n - u)}
    end
  end
  return list
end

local function mean(n, lives)
  local sum, count = 0, 0
  for u = 512, n, 1024 do sum, count = sum + lives(u, n - u), count + 1 end
  return sum / count
end

describe("survival", function()
  local function byage(u) return 0.02 + 0.9 * math.exp(-u / 60000) end

  it("of smaller and larger nurseries than one that was seen, by age alone", function()
    local s = survival.of(ages({1 << 20}, byage))
    for _, n in ipairs{128 << 10, 512 << 10, 1 << 20} do
      assert.is_true(math.abs(survival.share(s, n) / mean(n, byage) - 1) < 0.05, n)
    end
    assert.is_true(s.reach >= 1 << 20 and s.reach < 2 << 20)
  end)

  it("includes memory kept by dead old objects, of which smaller nurseries have more", function()
    -- Returns the share of objects that survive, by the age u and the distance v from the last collection in
    -- bytes. Most objects that are allocated within 50 KB after a collection are also stored in old objects,
    -- which keep them alive.
    local function both(u, v)
      return 1 - (1 - byage(u)) * (1 - 0.8 * math.exp(-v / 50000))
    end
    for _, sizes in ipairs{{1 << 20}, {256 << 10, 400 << 10, 600 << 10, 1 << 20}} do
      local s = survival.of(ages(sizes, both))
      for _, n in ipairs{256 << 10, 512 << 10, 1 << 20} do
        assert.is_true(math.abs(survival.share(s, n) / mean(n, both) - 1) < 0.1,
                       n .. " " .. survival.share(s, n) .. " " .. mean(n, both))
      end
    end
  end)

  -- A former bug: at the greatest age there was only one sample. As its object had died, all objects of
  -- that age counted as dead.
  it("goes by more than a few samples where it ends", function()
    local list = ages({512 << 10}, byage)
    local bins = 0
    for _, cell in ipairs(list) do bins = math.max(bins, cell.behind) end
    list[#list + 1] = {behind = bins + 1, before = 0, bytes = 1024, survived = 0}
    local share = survival.share(survival.of(list), 4 << 20)
    assert.is_true(share > 0.015 and share < 0.06, share)
  end)

  it("of nothing says nothing", function()
    assert.is_nil(survival.of({first = 4096, doubling = 4}))
  end)

  -- A former bug: `asamp advise` failed for a profile in which nothing had died, because it had no data for
  -- a curve of mortality.
  it("is all where nothing has died, and of a nursery without a byte", function()
    local s = survival.of(ages({256 << 10}, function() return 1 end))
    for _, n in ipairs{0, 4096, 256 << 10, 8 << 20} do assert.equal(1, survival.share(s, n)) end
    s = survival.of(ages({256 << 10}, function() return 0 end))
    assert.is_true(survival.share(s, 256 << 10) < 1e-9)
    assert.equal(1, survival.share(s, 0))
  end)
end)
