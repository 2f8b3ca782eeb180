-- SPDX-License-Identifier: MIT
-- The distances in bytes between the sample points of the allocation sampler: no byte may be skipped or
-- counted twice, whatever the sizes of allocations are, and random distances must have an exponential
-- distribution. The spec calls the functions without a running sampler.

local points = require "points"

local SEEDS = {1, 2, 3, 0x5EED, -1}

-- Returns a random number generator with its own state, so that a seed determines the whole run.
local function generator(seed)
  local state = seed
  return function(low, high)
    state = state * 6364136223846793005 + 1442695040888963407
    return low + (state >> 33) % (high - low + 1)
  end
end

-- Returns an object that subtracts the size of each allocation from the distance to the next sample point,
-- as the nursery does, and counts the points reached.
local function run(interval)
  local r = {distance = interval:first(), points = 0, bytes = 0}
  function r.allocate(n)
    local passed = 0
    r.bytes = r.bytes + n
    if n < r.distance then
      r.distance = r.distance - n
    else
      passed, r.distance = interval:pass(n - r.distance)
      r.points = r.points + passed
    end
    return passed
  end
  return r
end

-- Returns a random allocation size, distributed like those of programs: mostly small, sometimes many
-- periods long.
local function size(random, period)
  local what = random(1, 10)
  if what <= 6 then return 8 * random(1, 64) end
  if what <= 8 then return 8 * random(1, period // 8 + 1) end
  if what == 9 then return period * random(1, 3) + random(-1, 1) end
  return period * random(1, 40) + random(0, period)
end

describe("fixed intervals", function()
  it("pass n points in T bytes with |n * period - T| < period, at every T", function()
    for period = 64, 64 << 20, 64 do
      if period & (period - 1) == 0 or period == 64 * 3 or period == 64 * 15625 then
        for _, seed in ipairs(SEEDS) do
          local random = generator(seed)
          local r = run(points.interval(period, false, seed))
          for step = 1, 100 do
            r.allocate(size(random, period))
            local off = r.points * period - r.bytes
            if not (math.abs(off) < period and r.distance >= 1 and r.distance <= period) then
              error(("period %d, seed %d, step %d: off by %d, distance %d")
                    :format(period, seed, step, off, r.distance))
            end
          end
        end
      end
    end
  end)

  it("are exactly a period from point to point", function()
    local r = run(points.interval(1000, false, 7))
    local first = r.distance
    local at = {}
    for byte = 1, 20000 do
      if r.allocate(1) > 0 then at[#at + 1] = byte end
    end
    assert.equal(first, at[1])
    for i = 2, #at do assert.equal(1000, at[i] - at[i - 1]) end
    assert.equal(1 + (20000 - first) // 1000, #at)
  end)

  it("do not depend on how the bytes are cut into blocks", function()
    for _, seed in ipairs(SEEDS) do
      local random = generator(seed)
      local one, many = run(points.interval(4096, false, seed)), run(points.interval(4096, false, seed))
      local total = 0
      for _ = 1, 500 do
        local n = size(random, 4096)
        total = total + n
        many.allocate(n)
      end
      one.allocate(total)
      assert.equal(one.points, many.points, "seed " .. seed)
      assert.equal(one.distance, many.distance, "seed " .. seed)
    end
  end)

  it("start anywhere in the first period, with equal probability", function()
    local interval = points.interval(64, false, 4711)
    local seen = {}
    for _ = 1, 64000 do
      local d = interval:first()
      seen[d] = (seen[d] or 0) + 1
    end
    local chi = 0
    for d = 1, 64 do chi = chi + ((seen[d] or 0) - 1000) ^ 2 / 1000 end
    for d in pairs(seen) do assert.is_true(d >= 1 and d <= 64) end
    -- with 63 degrees of freedom, chi square exceeds this limit in 1 of 10^6 runs
    assert.is_true(chi < 130, chi)
  end)

  it("count a block of four exabytes", function()
    local interval = points.interval(64, false, 1)
    local n, distance = interval:pass(points.MAX)
    assert.equal(1 + points.MAX // 64, n)
    assert.equal(64, distance)
    n, distance = interval:pass(points.MAX - 1)
    assert.equal(1 + (points.MAX - 1) // 64, n)
    assert.equal(1, distance)
  end)

  it("as long as memory: the point is in the distance and comes nearer", function()
    local r = run(points.interval(points.MAX, false, 3))
    local first = r.distance
    assert.is_true(first >= 1 and first <= points.MAX)
    for _ = 1, 1000 do r.allocate(1 << 30) end
    assert.equal(0, r.points)
    assert.equal(first - (1000 << 30), r.distance)
    assert.equal(1, (points.interval(points.MAX, false, 3):pass(points.MAX - 1)))
  end)
end)

describe("a change of the period", function()
  it("keeps the sum of bytes / period within one of the points, at every T", function()
    for _, seed in ipairs(SEEDS) do
      local random = generator(seed)
      local period = 1 << random(6, 20)
      local interval = points.interval(period, false, seed)
      local r = run(interval)
      local story, expected = {period}, 0.0
      local changes = 0
      for step = 1, 4000 do
        if random(1, 40) == 1 then
          period = random(64, 1 << random(7, 26))
          story[#story + 1] = period
          r.distance = interval:change(period, r.distance)
          changes = changes + 1
        end
        local n = size(random, period)
        r.allocate(n)
        expected = expected + n / period
        -- Each change of the period rounds the distance to whole bytes. That is an error of up to 1 / period
        -- sample points, and the smallest period is 64.
        if math.abs(r.points - expected) >= 1 + changes / 64 then
          error(("seed %d, step %d, periods %s: %d points for %.3f")
                :format(seed, step, table.concat(story, " "), r.points, expected))
        end
      end
      assert.is_true(changes > 20)
    end
  end)

  it("leaves the same part of a period, between 1 and the whole", function()
    local cases = {  -- each case: old period, distance, new period, resulting distance
      {1000, 500, 2000, 1000}, {1000, 1, 2000, 2}, {2000, 1, 1000, 1},
      {1000, 1000, 64, 64}, {64, 64, points.MAX, points.MAX},
      {points.MAX, points.MAX, 64, 64}, {points.MAX, 1, 64, 1},
      {points.MAX, points.MAX // 2, 64, 32}, {64, 1, points.MAX, points.MAX // 64},
      {100, 33, 100, 33}, {1000, 333, 64, 22}, {64, 63, 1000, 985},
    }
    for _, c in ipairs(cases) do
      local interval = points.interval(c[1], false, 1)
      assert.equal(c[4], interval:change(c[3], c[2]), table.concat(c, " "))
      -- the distance after the next sample point is the new period
      assert.equal(2, (interval:pass(c[3])))
    end
  end)

  it("draws anew where intervals are random: an exponential has no memory", function()
    local interval = points.interval(1 << 20, true, 9)
    local sum = 0
    for _ = 1, 20000 do sum = sum + interval:change(4096, 1) end
    assert.is_true(math.abs(sum / 20000 / 4096 - 1) < 0.03, sum)
  end)
end)

describe("random intervals", function()
  it("are exponential: mean, variance and tail", function()
    for _, seed in ipairs(SEEDS) do
      local period, n = 1 << 16, 40000
      local interval = points.interval(period, true, seed)
      local sum, squares, tail = 0, 0, 0
      for _ = 1, n do
        local d = interval:first()
        assert(d >= 1)
        sum, squares = sum + d, squares + d * d
        if d > 3 * period then tail = tail + 1 end
      end
      local mean = sum / n
      local deviation = math.sqrt(squares / n - mean * mean)
      -- the limits are five standard errors of each statistic
      assert.is_true(math.abs(mean / period - 1) < 5 / math.sqrt(n), "seed " .. seed)
      assert.is_true(math.abs(deviation / period - 1) < 5 * math.sqrt(2) / math.sqrt(n), "seed " .. seed)
      assert.is_true(math.abs(tail / n - math.exp(-3)) < 5 * math.sqrt(math.exp(-3) / n), "seed " .. seed)
    end
  end)

  -- A former bug: random distances between samples were half a byte too long on average. That is 0.8% of the
  -- smallest period, 64 bytes.
  it("have the requested mean also if they are short", function()
    for _, period in ipairs{64, 100, 1000} do
      local n, sum = 4000000, 0
      local interval = points.interval(period, true, period)
      for _ = 1, n do sum = sum + interval:first() end
      assert.is_true(math.abs(sum / n / period - 1) < 5 / math.sqrt(n), period .. ": " .. sum / n)
    end
  end)

  it("pass points of a Poisson process, by one block or by many", function()
    local period = 512
    for blocksize = 0, 2 do
      local bytes = ({64, 100 * period, 4200 * period})[blocksize + 1]
      -- as many runs as are needed to detect an error of one sample point in 4,200
      local n = ({40000, 4000, 200000})[blocksize + 1]
      local counts, r = {}, run(points.interval(period, true, 11 + blocksize))
      local mean = bytes / period
      local sum, squares = 0, 0
      for i = 1, n do
        counts[i] = r.allocate(bytes)
        sum, squares = sum + counts[i], squares + (counts[i] - mean) ^ 2
        assert(r.distance >= 1)
      end
      -- the sum of n Poisson variables has the variance n * mean
      assert.is_true(math.abs(sum - n * mean) < 5 * math.sqrt(n * mean), bytes)
      local deviation = 5 * math.sqrt((2 * mean * mean + mean) / n)
      assert.is_true(math.abs(squares / n - mean) < deviation, bytes)
    end
  end)

  it("cannot be hidden from by a pattern that divides the period", function()
    -- Two allocation sites alternate, one with blocks of 504 bytes and one with blocks of 8. With fixed
    -- intervals of 512 bytes, all sample points are in blocks of one site.
    local function shares(random)
      local r = run(points.interval(512, random, 42))
      local here, there = 0, 0
      for _ = 1, 50000 do
        here, there = here + r.allocate(504), there + r.allocate(8)
      end
      return here, there
    end
    local here, there = shares(false)
    assert.is_true(here == 0 or there == 0)
    here, there = shares(true)
    assert.is_true(math.abs(there / (here + there) - 8 / 512) < 0.003)
  end)

  it("stay in range at the largest period", function()
    local r = run(points.interval(points.MAX, true, 5))
    for _ = 1, 10000 do
      assert.is_true(r.distance >= 1 and r.distance <= points.MAX)
      local n
      n, r.distance = points.interval(points.MAX, true, r.distance):pass(points.MAX)
      assert.is_true(n >= 1 and n < 64)
    end
  end)

  it("of one seed are the same again, of another seed others", function()
    local function draws(seed)
      local interval, list = points.interval(4096, true, seed), {}
      for i = 1, 20 do list[i] = interval:first() end
      return table.concat(list, " ")
    end
    assert.equal(draws(1), draws(1))
    assert.not_equal(draws(1), draws(2))
  end)
end)
