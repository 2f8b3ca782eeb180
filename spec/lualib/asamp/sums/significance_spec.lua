-- SPDX-License-Identifier: MIT
-- The test of significance in comparisons of profiles. Profiles with a known distribution are written, read
-- and compared, and the functions of the test are checked directly.

local compare = require "asamp.sums.compare"
local gen = require "profilegen"
local reader = require "profiler.reader"
local significance = require "asamp.sums.significance"
local totals = require "asamp.sums.totals"

-- Returns two random functions with their own state, so that the order of the specs does not matter: one
-- returns a number from 0 to 1, the other a number with a Poisson distribution.
local function generator(seed)
  local state = seed
  local function unit()
    state = state * 6364136223846793005 + 1442695040888963407
    return ((state >> 11) + 0.5) * 0x1p-53
  end
  -- Returns a random number with a Poisson distribution, as a count of exponential intervals.
  local function poisson(mean)
    local n, left = -1, mean
    repeat
      n, left = n + 1, left + math.log(unit())
    until left < 0
    return n
  end
  return unit, poisson
end

local ROWS = 2000

-- Writes a profile of a program with ROWS functions; body(p, i) writes the samples of the i-th function.
-- Returns the profile as read.
local function profile(options, body)
  local path = os.tmpname()
  options.path, options.plain, options.random = path, true, true
  local p = assert(gen.open(options))
  p:name(8, "main chunk", 0, "@app.lua")
  for i = 1, ROWS do
    p:name(8 * i + 8, "f" .. i, 10 * i, ("@m%d.lua"):format(i // 20))
    body(p, i)
  end
  assert(p:close())
  local read = assert(reader.read(path))
  return read
end

-- Compares the rows of functions of two profiles. Returns the number of rows, the root mean square of
-- change / error, and the number of rows that count as changed.
local function compared(a, b, field)
  local result = compare.of(a, totals.of(a), b, totals.of(b), field, {sigma = 3})
  local sum, changes = 0, 0
  for _, row in ipairs(result.functions) do
    sum = sum + (row.change / row.error) ^ 2
    changes = changes + (row.noise and 0 or 1)
  end
  return #result.functions, math.sqrt(sum / #result.functions), changes
end

describe("equal programs", function()
  -- Checks that a root mean square is 1. For 2,000 rows its standard error is 0.016 (1 / √(2 · 2000)).
  local function like(z)
    assert.near(1, z, 0.06)
  end

  it("do not differ in time, whatever number of ticks a stack represents", function()
    local unit, poisson = generator(1)
    local function run()
      return profile({timeperiod = 1000000}, function(p, i)
        for _ = 1, poisson(1 + i % 20) do
          p:time{8 * i + 8, 10 * i, 8, 1, count = unit() < 0.8 and 4 or 1 + unit() * 9 // 1 | 0}
        end
      end)
    end
    local a, b = run(), run()
    local n, z, changes = compared(a, b, "timesamples")
    assert.is_true(n > 0.95 * ROWS)
    like(z)
    assert.equal(0, changes)
    -- Without these fields, as in a former bug, each timer period of a sample counts as an independent
    -- observation.
    a.sites.timesquares, b.sites.timesquares = nil, nil
    n, z, changes = compared(a, b, "timesamples")
    assert.is_true(z > 2)
    assert.is_true(changes > n / 100)
  end)

  it("do not differ in bytes, of blocks of any size", function()
    local _, poisson = generator(2)
    local function run()
      return profile({period = 1 << 16}, function(p, i)
        -- even i: one block of up to 20 sampling periods of 64 KiB, with a sample for each period on average
        if i % 2 == 0 then
          local n = poisson(1 + i % 20)
          if n > 0 then p:sample{8 * i + 8, 10 * i, 8, 1, size = (1 + i % 20) << 16, count = n} end
        else
          for _ = 1, poisson(1 + i % 20) do p:sample{8 * i + 8, 10 * i, 8, 1, size = 64} end
        end
      end)
    end
    local n, z, changes = compared(run(), run(), "bytes")
    assert.is_true(n > 0.95 * ROWS)
    like(z)
    assert.equal(0, changes)
  end)

  it("do not differ in bytes of which a part was sampled by another period", function()
    local _, poisson = generator(3)
    local function run()
      local half = function(p, i, mean)
        for _ = 1, poisson(mean) do p:sample{8 * i + 8, 10 * i, 8, 1, size = 64} end
      end
      return profile({period = 1 << 10}, function(p, i)
        p:period(1 << 10)
        half(p, i, 4 * (i % 10))
        p:period(1 << 12)
        half(p, i, 5 + i % 10)
      end)
    end
    local _, z, changes = compared(run(), run(), "bytes")
    like(z)
    assert.equal(0, changes)
  end)

  it("do not differ when one was sampled ten times as often", function()
    local _, poisson = generator(4)
    local function run(period)
      return profile({period = period}, function(p, i)
        for _ = 1, poisson((1 + i % 8) * 10240 / period) do
          p:sample{8 * i + 8, 10 * i, 8, 1, size = 64}
        end
      end)
    end
    local _, z, changes = compared(run(1024), run(10240), "bytes")
    assert.is_true(z < 1.06)
    assert.equal(0, changes)
  end)
end)

describe("programs that differ", function()
  it("do so in the rows that have changed, and in hardly another", function()
    local _, poisson = generator(5)
    local function run(factor)
      return profile({period = 1 << 16}, function(p, i)
        for _ = 1, poisson(i % 10 == 0 and 50 * factor or 50) do
          p:sample{8 * i + 8, 10 * i, 8, 1, size = 64}
        end
      end)
    end
    local a, b = run(1), run(2)
    local result = compare.of(a, totals.of(a), b, totals.of(b), "bytes", {sigma = 3})
    local right, wrong = 0, 0
    for _, row in ipairs(result.functions) do
      if not row.noise then
        if row.line % 100 == 0 then right = right + 1 else wrong = wrong + 1 end
      end
    end
    -- the expected number is 200; the limit is a little more than four standard errors below it
    assert.is_true(right > 120, right)
    assert.is_true(wrong <= 3, wrong)
  end)
end)

describe("the test", function()
  it("knows the normal distribution", function()
    for z, p in pairs{[0] = 1, [1] = 0.31731050786291, [1.96] = 0.0499957902964409,
                      [3] = 0.00269979606326019, [6] = 1.97317529007540e-9} do
      assert.near(1, significance.normal(z) / p, 1e-9)
      assert.equal(significance.normal(z), significance.normal(-z))
    end
    assert.near(1, significance.normal(2 - 1e-9) / significance.normal(2), 1e-7)
  end)

  it("knows the binomial distribution", function()
    -- Returns the probability of at least k of n successes with the probability q, as a sum.
    local function tail(q, k, n)
      local sum, term = 0, (1 - q) ^ n
      for i = 0, n do
        sum = sum + (i >= k and term or 0)
        term = term * (n - i) / (i + 1) * q / (1 - q)
      end
      return sum
    end
    for _, case in ipairs{{0.5, 9, 9}, {0.5, 3, 20}, {0.1, 6, 30}, {0.9, 40, 41},
                          {0.01, 1, 300}, {0.5, 130, 200}} do
      local q, k, n = table.unpack(case)
      assert.near(1, significance.beta(q, k, n - k + 1) / tail(q, k, n), 1e-9)
    end
    assert.near(0.5, significance.beta(0.5, 1e6, 1e6), 1e-6)
  end)

  it("has an error, a likelihood and the least likelihood of two sums", function()
    local error, p, least = significance.test(0, 0, 10, 90, 900, 10)
    assert.near(30, error, 1e-9)
    assert.near(2 / 512, p, 1e-12)
    assert.near(2 / 512, least, 1e-12)
    assert.same({0, 1, 1}, {significance.test(0, 0, 1, 0, 0, 1)})
    -- 0 observations of weight 1,000 against 512 observations of weight 1: the difference may be chance
    error, p = significance.test(0, 0, 1000, 512, 512, 1)
    assert.is_true(p > 0.5 and error > 512)
  end)

  it("is as strict as sigma with one row, stricter with many rows", function()
    local function marked(n, p, least)
      local rows = {{change = 5, error = 1, p = p, least = 0}}
      for i = 2, n do rows[i] = {change = 0, error = 1, p = 1, least = least} end
      significance.mark(rows, 3)
      return rows[1].noise
    end
    assert.is_false(marked(1, 0.0026, 0))
    assert.is_true(marked(1, 0.0028, 0))
    assert.is_true(marked(10, 0.0026, 0))
    assert.is_false(marked(10, 0.00026, 0))
    -- the other rows have so few samples that their p-value cannot be below 0.5
    assert.is_false(marked(10, 0.0026, 0.5))
    local rows = {{change = 2.9, error = 1, p = 0, least = 0}}
    significance.mark(rows, 3)
    assert.is_true(rows[1].noise)
    significance.mark({}, 3)
  end)
end)
