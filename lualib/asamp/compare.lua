-- SPDX-License-Identifier: MIT
-- Two profiles and their totals in, what grew and what shrank out. Pure.
--
-- Samples are counts of rare events: a number that n samples of weight w make
-- is right to w √n. The difference of two has the standard error
-- √(a² n_a + b² n_b), a and b being the weights; what is less than a few
-- standard errors may be chance. (With fixed gaps, and for rows that are much
-- of the whole, chance does less than that; with blocks larger than the
-- period, more.)

local totals = require "asamp.totals"

local M = {}

-- {== the same file in two profiles =========================================

local function files(t)
  local set = {}
  for _, rows in ipairs{t.functions, t.lines} do
    for _, row in ipairs(rows) do
      set[row.file] = true
    end
  end
  return set
end

-- How many names two paths have in common at their ends.
local function common(a, b)
  local n = 0
  while true do
    local x, y = a:match "([^/]*)$", b:match "([^/]*)$"
    if x == "" or x ~= y then
      return n
    end
    n = n + 1
    a, b = a:sub(1, -#x - 2), b:sub(1, -#y - 2)
  end
end

-- The one of a list of paths that ends most like 'path'; nil when there is
-- none, or several.
local function likest(path, paths)
  local best, most, several
  for _, other in ipairs(paths) do
    local n = common(path, other)
    if n > (most or 0) then
      best, most, several = other, n, false
    elseif n == most then
      several = true
    end
  end
  return not several and best or nil
end

--- Files of a that are called differently in b: {[path in a] = path in b}.
-- Only paths that the other profile lacks are paired, each with the one that
-- ends most like it, if both agree.
function M.samefiles(a, b)
  local ina, inb = files(a), files(b)
  local onlya, onlyb, same = {}, {}, {}
  for path in pairs(ina) do
    onlya[#onlya + 1] = not inb[path] and path or nil
  end
  for path in pairs(inb) do
    onlyb[#onlyb + 1] = not ina[path] and path or nil
  end
  for _, path in ipairs(onlya) do
    local other = likest(path, onlyb)
    if other and likest(other, onlya) == path then
      same[path] = other
    end
  end
  return same
end

-- ==}

-- {== rows ==================================================================

-- Which (file, name) several functions of a profile share.
local function ambiguous(rows, rename, found)
  local seen = {}
  for _, row in ipairs(rows) do
    local key = (rename[row.file] or row.file) .. "\0" .. row.name
    found[key] = found[key] or seen[key]
    seen[key] = true
  end
  return found
end

-- Keys of functions: their line counts only where the name does not tell.
local function functionkey(a, b, same)
  local several = ambiguous(b.functions, {},
                            ambiguous(a.functions, same, {}))
  return function(row, rename)
    local key = (rename[row.file] or row.file) .. "\0" .. row.name
    return several[key] and key .. "\0" .. row.line or key
  end
end

local function linekey(row, rename)
  return (rename[row.file] or row.file) .. ":" .. row.line
end

local function typekey(row)
  return row.name
end

-- The number and the count of samples behind it.
local function measured(row, key, field, weight)
  local sum = row and row[key]
  if not sum then
    return 0, 0
  end
  local n = field == "timesamples" and sum.timesamples
            or field == "survivedbytes" and sum.survived
            or field == "survived" and sum.survived or sum.samples
  return sum[field] * weight, n
end

-- Rows of both profiles, paired by their keys.
local function paired(a, b, keyof, same)
  local pairs_, bykey = {}, {}
  for _, row in ipairs(a) do
    local key = keyof(row, same)
    bykey[key] = {a = row}
    pairs_[#pairs_ + 1] = bykey[key]
  end
  for _, row in ipairs(b) do
    local key = keyof(row, {})
    local pair = bykey[key]
    if not pair then
      pair = {}
      bykey[key] = pair
      pairs_[#pairs_ + 1] = pair
    end
    pair.b = row
  end
  return pairs_
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

-- {name, file, line, native, a, b, change, error, noise} of every pair that
-- has anything; what is no noise first, then the largest change.
local function changes(list, key, field, options)
  local rows = {}
  for _, pair in ipairs(list) do
    local va, na = measured(pair.a, key, field, options.weights[1])
    local vb, nb = measured(pair.b, key, field, options.weights[2])
    va = va * options.scale
    if va ~= 0 or vb ~= 0 then
      local error = math.sqrt((na > 0 and va * va / na or 0) +
                              (nb > 0 and vb * vb / nb or 0))
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
-- of the field is worth in a and in b; nil: 1). Returns {field, scale, a, b
-- (the wholes, a's not scaled), functions, lines, types, classes}.
function M.of(a, b, field, options)
  local weights = options.weights or {1, 1}
  local wa, wb = a.whole[field] * weights[1], b.whole[field] * weights[2]
  local how = {sigma = options.sigma, weights = weights,
               scale = options.scaled and wa > 0 and wb / wa or 1}
  local same = M.samefiles(a, b)
  local key = options.cumulative and "total" or "own"
  local result = {field = field, scale = how.scale, a = wa, b = wb}
  result.functions = changes(paired(a.functions, b.functions,
    functionkey(a, b, same), same), key, field, how)
  result.lines = changes(paired(a.lines, b.lines, linekey, same), key, field,
                         how)
  result.types = changes(paired(a.types, b.types, typekey, same), "own", field,
                         how)
  result.classes = changes(paired(classes(a.types), classes(b.types), typekey,
                                  same), "own", field, how)
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

--- Whether a field may be compared: see M.fields; "survived" needs fates.
function M.fieldof(by, a, b)
  local field = totals.MEASURES[by]
  if field == "survivedbytes" and (a.unit == "samples" or b.unit == "samples")
  then
    field = "survived"
  end
  return a.whole[field] > 0 and b.whole[field] > 0 and field or nil
end

return M
