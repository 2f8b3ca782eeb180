-- SPDX-License-Identifier: MIT
-- The rules by which `asamp check` compares profiles with limits and with each other (asamp.sums.gates),
-- and how often chance alone makes a check fail.

local gates = require "asamp.sums.gates"
local show = require "asamp.show.gates"

-- Returns a pseudo-random number from 0 to 1. The sequence is the same in each run of this spec.
local state = 42
local function random()
  state = state * 6364136223846793005 + 1442695040888963407
  return (state >> 11) / (1 << 53)
end

-- Returns a random number with a Poisson distribution: by multiplication if the mean is small, otherwise by
-- the normal distribution.
local function poisson(mean)
  if mean > 60 then
    local r = math.sqrt(-2 * math.log(1 - random())) * math.cos(2 * math.pi * random())
    return math.max(0, math.floor(mean + math.sqrt(mean) * r + 0.5))
  end
  local limit, n, p = math.exp(-mean), 0, random()
  while p > limit do
    n, p = n + 1, p * random()
  end
  return n
end

-- The numbers of samples by line of three recorded profiles: luacheck on Penlight's modules (the 60
-- lines with the most samples), pl.pretty on a large table, and pl.List, pl.stringx and
-- pl.template.
local PROFILES = {
  {105, 45, 32, 29, 24, 24, 21, 21, 20, 18, 17, 16, 15, 14, 13, 13, 12, 12, 12, 11, 11, 10, 10, 9, 8, 8, 8,
   7, 7, 7, 7, 6, 6, 6, 6, 6, 6, 6, 6, 6, 5, 5, 5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3, 3, 3},
  {148, 116, 106, 70, 65, 34, 27, 26, 21, 16, 16, 15, 11, 6, 5, 5, 5, 4, 4, 3, 2, 2, 1, 1, 1},
  {195, 92, 89, 25, 25, 20, 13, 6, 5, 4, 4, 4, 4, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1},
}

local GB = 1 << 30

-- Simulates a run: draws the number of samples of each line from a Poisson distribution. 'means' has the mean
-- for each line. Returns the list of the numbers, and their sum.
local function resampled(means)
  local counts, sum = {}, 0
  for i, mean in ipairs(means) do
    counts[i] = poisson(mean)
    sum = sum + counts[i]
  end
  return counts, sum
end

-- Compares two runs by the rules of gates. Returns the number of a line that differs, or nil. a, b: number
-- of samples of each line; na, nb: their sums; A, B: the bytes of the runs.
local function differs(a, na, A, b, nb, B)
  local needed = gates.needed(#a)
  for i = 1, #a do
    if a[i] + b[i] > 0 then
      local x, y, sigma = gates.difference(a[i], na, A, b[i], nb, B)
      if y > x * 1.05 and sigma > needed then return i end
    end
  end
end

describe("a comparison with a baseline #plain", function()
  -- The runs are simulated from the counts of three recorded profiles. check_spec.lua compares three pairs
  -- of recorded runs.
  it("finds nothing in 10,000 comparisons of equal runs", function()
    local failed = 0
    for run = 1, 10000 do
      local means = PROFILES[run % #PROFILES + 1]
      local a, na = resampled(means)
      local b, nb = resampled(means)
      failed = failed + (differs(a, na, GB, b, nb, GB) and 1 or 0)
    end
    assert.equal(0, failed)
  end)

  it("finds 10% more of a line that is most of a run of 1 GB", function()
    local found = 0
    for _ = 1, 200 do
      local means = {1843, 102, 51, 30, 22}  -- the first line has 90% of the samples
      local a, na = resampled(means)
      means[1] = means[1] * 1.1
      local b, nb = resampled(means)
      found = found + (differs(a, na, GB, b, nb, GB * 1.09) == 1 and 1 or 0)
    end
    assert.is_true(found >= 199, found)
  end)

  it("finds the increase that it names in 9 of 10 runs, and half of it in fewer", function()
    for _, share in ipairs{0.1, 0.5, 0.8} do
      local function found(percent)
        local n = 0
        for _ = 1, 400 do
          local means = {2048 * share, 2048 * (1 - share)}
          local a, na = resampled(means)
          means[1] = means[1] * (1 + percent / 100)
          local b, nb = resampled(means)
          n = n + (differs(a, na, GB, b, nb, GB * (1 + share * percent / 100)) == 1 and 1 or 0)
        end
        return n
      end
      local least = gates.least(share, 2048, gates.needed(2), 5, true)
      local n = found(least)
      -- 360 are expected, with a tolerance of 4 standard errors
      assert.is_true(n >= 335 and n <= 385, n)
      assert.is_true(found(least / 2) < 200)
    end
  end)

  it("needs as many standard errors as there are rows", function()
    assert.is_true(gates.needed(1) > 4.3 and gates.needed(1) < 4.5)
    assert.is_true(gates.needed(100) > 5.2 and gates.needed(100) < 5.4)
  end)
end)

describe("the text of a check", function()
  -- A former bug: of data that a program had loaded once, the check said that they grow.
  it("says of a container that stopped growing that it did", function()
    local check = {name = "no-leak", ok = true, value = 0, limit = 0, maybe = {holder = "_G"}}
    assert.equal("no likely leak, but _G grows; a longer run would show whether it is a leak",
                 show.text(check))
    check.maybe.stopped = 0.4
    assert.equal("no likely leak: _G grew, but not until the end of the run", show.text(check))
  end)
end)
