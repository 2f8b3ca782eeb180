-- SPDX-License-Identifier: MIT
-- Two profiles and their totals in, what grew and what shrank out. Pure.
--
-- Samples are counts of rare events: a number that n samples of weight w make
-- is right to w √n. The difference of two has the standard error
-- √(a² n_a + b² n_b), a and b being the weights; what is less than a few
-- standard errors may be chance. (With fixed gaps, and for rows that are much
-- of the whole, chance does less than that; with blocks larger than the
-- period, more.)

local samecode = require "asamp.samecode"
local totals = require "asamp.totals"

local M = {}

-- {== rows ==================================================================

-- The number and the count of samples behind it.
local function measured(row, key, field, weight)
  local sum = row and row[key]
  if not sum then
    return 0, 0
  end
  return sum[field] * weight, sum[totals.counted(field)]
end

-- Rows of both profiles: {a =, b =}, one of them nil where 'same' ({[row of
-- a] = row of b}) has no partner. Nobody is a partner twice.
local function paired(a, b, same)
  local list, taken = {}, {}
  for _, row in ipairs(a) do
    local other = same[row]
    if other and taken[other] then
      other = nil
    end
    list[#list + 1] = {a = row, b = other}
    taken[other or row] = true
  end
  for _, row in ipairs(b) do
    list[#list + 1] = not taken[row] and {b = row} or nil
  end
  return list
end

-- Partners by name.
local function bynames(a, b)
  local byname, same = {}, {}
  for _, row in ipairs(b) do
    byname[row.name] = row
  end
  for _, row in ipairs(a) do
    same[row] = byname[row.name]
  end
  return same
end

local function order(x, y)
  if x.noise ~= y.noise then
    return y.noise
  elseif math.abs(x.change) ~= math.abs(y.change) then
    return math.abs(x.change) > math.abs(y.change)
  elseif x.name ~= y.name then
    return x.name < y.name
  end
  return (x.line or 0) < (y.line or 0)
end

-- Standard error of the difference of va and vb, made by so many samples.
local function errorof(va, na, vb, nb)
  return math.sqrt((na > 0 and va * va / na or 0) +
                   (nb > 0 and vb * vb / nb or 0))
end

-- {name, file, line, native, a, b, change, error, noise} of every pair that
-- has anything; what is no noise first, then the largest change.
local function changes(list, key, field, options)
  local rows = {}
  for _, pair in ipairs(list) do
    local va, na = measured(pair.a, key, field, options.weights[1])
    local vb, nb = measured(pair.b, key, field, options.weights[2])
    va = va * options.scale
    if va ~= 0 or vb ~= 0 then
      local error = errorof(va, na, vb, nb)
      local of = pair.b or pair.a
      rows[#rows + 1] = {
        name = of.name, file = of.file, line = of.line, native = of.native,
        class = of.class, a = va, b = vb, change = vb - va, error = error,
        noise = math.abs(vb - va) < options.sigma * error}
    end
  end
  table.sort(rows, order)
  return rows
end

-- ==}

-- Types and classes as rows of one list each.
local function classes(types)
  local rows, byname = {}, {}
  for _, type in ipairs(types) do
    for _, class in ipairs(type.classes) do
      local name = class.name .. " (" .. type.name .. ")"
      byname[name] = {name = name, own = class.own}
      rows[#rows + 1] = byname[name]
    end
  end
  return rows
end

--- Fields that two profiles can be compared by.
function M.fields(a, b)
  local list = {}
  for _, field in ipairs(b.measures) do
    for _, other in ipairs(a.measures) do
      list[#list + 1] = field == other and field or nil
    end
  end
  return list
end

--- Compares totals 'a' and 'b' by a field. 'options': sigma (standard errors
-- that are noise), scaled (true: a's numbers are scaled so that both amount
-- to the same), cumulative (true: totals instead of own), weights (what one
-- of the field is worth in a and in b; nil: 1), even (true: samples came at
-- even distances, so that their whole number is exact). Returns {field, scale,
-- a, b (the wholes, a's not scaled), error (of their difference), functions,
-- lines, types, classes}.
function M.of(a, b, field, options)
  local weights = options.weights or {1, 1}
  local wa, na = measured({own = a.whole}, "own", field, weights[1])
  local wb, nb = measured({own = b.whole}, "own", field, weights[2])
  local how = {sigma = options.sigma, weights = weights,
               scale = options.scaled and wa > 0 and wb / wa or 1}
  local key = options.cumulative and "total" or "own"
  local files = samecode.files(a, b)
  local functions = samecode.functions(a.functions, b.functions, files)
  local lines = samecode.lines(a.lines, b.lines, functions, files)
  local ca, cb = classes(a.types), classes(b.types)
  local function compared(rows, others, same, which)
    return changes(paired(rows, others, same), which, field, how)
  end
  local result = {
    field = field, scale = how.scale, a = wa, b = wb,
    error = options.even and 0 or errorof(wa, na, wb, nb),
    functions = compared(a.functions, b.functions, functions, key),
    lines = compared(a.lines, b.lines, lines, key),
    types = compared(a.types, b.types, bynames(a.types, b.types), "own"),
    classes = compared(ca, cb, bynames(ca, cb), "own"),
  }
  return result
end

--- What one sample of time is worth in each: seconds when both files tell,
-- else 1. Second result: are these seconds?
function M.timeweights(pa, pb)
  local a, b = pa.timeperiod or 0, pb.timeperiod or 0
  if a > 0 and b > 0 then
    return {a, b}, true
  end
  return {1, 1}, false
end

--- Whether the sum of a field is exact: every n-th byte was sampled, or every
-- n-th nanosecond.
function M.even(field, pa, pb)
  return field == "timesamples" or (field == "bytes" or field == "samples")
         and not pa.random and not pb.random
end

--- The field of a measure, if both have any of it.
function M.fieldof(by, a, b)
  local unit = (a.unit == "samples" or b.unit == "samples") and "samples"
               or "bytes"
  local field = totals.field(by, unit)
  return a.whole[field] > 0 and b.whole[field] > 0 and field or nil
end

return M
