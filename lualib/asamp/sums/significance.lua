-- SPDX-License-Identifier: MIT
-- Tests whether the difference of two sums of samples may be chance.
--
-- The test is the exact test of two Poisson counts (Przyborowski and Wilenski 1940). A sum counts as value /
-- weight observations, where the weight of an observation is variance / value. If both sums estimate the same
-- amount, the probability that an observation belongs to the second one is known.
--
-- If many rows are tested, some differ by chance. So of m rows, the k-th most significant one must have a
-- p-value below k / m of the limit (Benjamini and Hochberg 1995). Rows with too few samples to be significant
-- do not count in m (Tarone 1990).

local M = {}

-- {== distributions =========================================================

-- Returns the logarithm of the gamma function for x > 0: Stirling's series for x >= 10,
-- recurrence below.
local function lgamma(x)
  local shift = 0
  while x < 10 do
    shift = shift - math.log(x)
    x = x + 1
  end
  local y = 1 / (x * x)
  return shift + (x - 0.5) * math.log(x) - x + 0.91893853320467274178 +
         (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y / 1680))) / x
end

local TINY = 1e-300

-- Computes the continued fraction of the incomplete beta function with Lentz's method; arguments as for
-- M.beta.
local function fraction(x, a, b)
  local c, d = 1, 1 - (a + b) * x / (a + 1)
  d = 1 / (math.abs(d) < TINY and TINY or d)
  local h = d
  for m = 1, 100000 do
    for _, n in ipairs{m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                       -(a + m) * (a + b + m) * x /
                       ((a + 2 * m) * (a + 2 * m + 1))} do
      d, c = 1 + n * d, 1 + n / c
      d = 1 / (math.abs(d) < TINY and TINY or d)
      c = math.abs(c) < TINY and TINY or c
      h = h * d * c
    end
    if math.abs(d * c - 1) < 1e-12 then
      break
    end
  end
  return h
end

--- Returns the regularized incomplete beta function; 0 <= x <= 1, a and b > 0.
function M.beta(x, a, b)
  if x <= 0 or x >= 1 then
    return x <= 0 and 0 or 1
  end
  local front = math.exp(lgamma(a + b) - lgamma(a) - lgamma(b) +
                         a * math.log(x) + b * math.log(1 - x))
  if x < (a + 1) / (a + b + 2) then
    return front * fraction(x, a, b) / a
  end
  return 1 - front * fraction(1 - x, b, a) / b
end

--- Returns the two-sided probability that a normal variable deviates by at least z standard
-- deviations.
function M.normal(z)
  z = math.abs(z)
  if z < 2 then  -- sums the series of the error function
    local term, sum, k = z, z, 0
    repeat
      k = k + 1
      term = term * z * z / (2 * k + 1)
      sum = sum + term
    until term < 1e-17 * sum or term == 0
    return 1 - 0.79788456080286535588 * math.exp(-z * z / 2) * sum
  end
  local f = z  -- computes Laplace's continued fraction
  for k = 200, 1, -1 do
    f = z + k / f
  end
  return 0.79788456080286535588 * math.exp(-z * z / 2) / f
end

-- ==}

-- Returns the weight of one observation of a sum: variance / value; 'usual' if one of them is 0.
local function weightof(value, variance, usual)
  return value > 0 and variance > 0 and variance / value or usual
end

--- Tests whether two sums differ. Returns three numbers:
--
--   1. the standard error of b - a
--   2. the p-value of the difference
--   3. the smallest p-value that so few observations can have
--
-- a, b: the sums
-- variancea, varianceb: their variances
-- usuala, usualb: weight of one observation (value per observation), used if the sum or its variance is 0
function M.test(a, variancea, usuala, b, varianceb, usualb)
  local wa = weightof(a, variancea, usuala)
  local wb = weightof(b, varianceb, usualb)
  local na, nb = a / wa, b / wb
  local n, q = na + nb, wa / (wa + wb)
  if n == 0 then
    return 0, 1, 1
  end
  local variance = wa * wb * n
  local deviation = math.sqrt(math.max(variance, variancea + varianceb))
  local least = math.min(1, 2 * math.min(q, 1 - q) ^ n)
  if (b - a) ^ 2 < 0.25 * variance then
    -- The difference is not significant. Most calls return here.
    return deviation, 1, least
  end
  local p
  if b > a then
    p = M.beta(q, nb, na + 1)
  else
    p = M.beta(1 - q, na, nb + 1)
  end
  return deviation, math.min(1, 2 * p), least
end

--- Sets the field 'noise' of each row: true if its change may be chance.
--
-- rows: list of {change, error (standard error of the change), p, least (results of M.test)}
-- sigma: number of standard errors by which a row must change, to be no noise
function M.mark(rows, sigma)
  local limit = M.normal(sigma)
  local order, m = {}, 0
  for i, row in ipairs(rows) do
    order[i] = row
    m = m + (row.least <= limit and 1 or 0)
  end
  table.sort(order, function(x, y) return x.p < y.p end)
  local last = 0
  for k, row in ipairs(order) do
    if row.p <= limit * math.min(k, m) / m then
      last = k
    end
  end
  for k, row in ipairs(order) do
    row.noise = k > last or math.abs(row.change) < sigma * row.error
  end
end

return M
