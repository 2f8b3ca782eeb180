-- SPDX-License-Identifier: MIT
-- Statistics of lists of numbers. Pure functions. Every list must have at least one number; those of
-- geomean must be positive.

local stats = {}

-- Returns the median: the middle number, or the mean of the two middle ones.
function stats.median(values)
  assert(#values > 0, "median of an empty list")
  local sorted = table.move(values, 1, #values, 1, {})
  table.sort(sorted)
  local half = #sorted // 2
  if #sorted % 2 == 1 then return sorted[half + 1] end
  return (sorted[half] + sorted[half + 1]) / 2
end

-- Returns the smallest and the largest number.
function stats.range(values)
  assert(#values > 0, "range of an empty list")
  return math.min(table.unpack(values)), math.max(table.unpack(values))
end

function stats.geomean(values)
  assert(#values > 0, "geometric mean of an empty list")
  local sum = 0
  for _, value in ipairs(values) do
    assert(value > 0, "geometric mean of a value that is not positive")
    sum = sum + math.log(value)
  end
  return math.exp(sum / #values)
end

-- Returns the list of the quotients numerators[i] / denominators[i]. For lists with one number per round,
-- each quotient compares two runs that followed each other.
function stats.ratios(numerators, denominators)
  assert(#numerators == #denominators, "lists of different lengths")
  local out = {}
  for i, value in ipairs(numerators) do out[i] = value / denominators[i] end
  return out
end

return stats
