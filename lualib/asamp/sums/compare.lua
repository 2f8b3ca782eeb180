-- SPDX-License-Identifier: MIT
-- Two profiles and their totals in, what grew and what shrank out. Pure.
--
-- Every sum has a variance (measures.variance), by which asamp.sums.significance tells
-- what may be chance. (With fixed intervals, and for rows that are much of the whole,
-- chance does less than that.)

local heldpairs = require "asamp.sums.heldpairs"
local measures = require "asamp.sums.measures"
local samecode = require "asamp.sums.samecode"
local significance = require "asamp.sums.significance"

local M = {}

-- {== rows ==================================================================

-- A sum's number, each sample being worth 'scale', and its variance.
local function measured(profile, sum, field, scale)
  if not sum then
    return 0, 0
  end
  return sum[field] * scale,
         measures.variance(profile, sum, field) * scale * scale
end

-- Rows of both profiles as pairs {a =, b =}. 'same' ({[row of a] = row of b}) names partners;
-- of a row without one, or whose partner is taken, the other half is nil.
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

-- One of the two profiles: {profile, scale (what one of the field is worth), usual (the mean
-- weight of its observations; without any that of a sample)}.
local function side(profile, whole, field, scale)
  local value, variance = measured(profile, whole, field, scale)
  return {profile = profile, scale = scale,
          usual = value > 0 and variance > 0 and variance / value or
                  scale * (measures.isbytes(field) and math.max(profile.period or 1, 1) or 1)}
end

-- The numbers of a pair of sums, and the test of their difference: a, b, error,
-- p, least (as of significance.test).
local function tested(a, suma, b, sumb, field)
  local va, variancea = measured(a.profile, suma, field, a.scale)
  local vb, varianceb = measured(b.profile, sumb, field, b.scale)
  return va, vb, significance.test(va, variancea, a.usual,
                                   vb, varianceb, b.usual)
end

-- {name, file, line, native, class, a, b, change, error, p, noise} of every pair
-- that has anything; what is no noise first, then the largest change.
local function changes(list, key, field, a, b, sigma)
  local rows = {}
  for _, pair in ipairs(list) do
    local va, vb, error, p, least = tested(a, pair.a and pair.a[key], b,
                                           pair.b and pair.b[key], field)
    if va ~= 0 or vb ~= 0 then
      local of = pair.b or pair.a
      rows[#rows + 1] = {
        name = of.name, file = of.file, line = of.line, native = of.native,
        class = of.class, a = va, b = vb, change = vb - va, error = error,
        p = p, least = least}
    end
  end
  significance.mark(rows, sigma)
  table.sort(rows, order)
  for _, row in ipairs(rows) do
    row.least = nil
  end
  return rows
end

-- ==}

-- Types and classes as rows of one list each.
local function classes(types)
  local rows, byname = {}, {}
  for _, kind in ipairs(types) do
    for _, class in ipairs(kind.classes) do
      local name = class.name .. " (" .. kind.name .. ")"
      byname[name] = {name = name, self = class.self}
      rows[#rows + 1] = byname[name]
    end
  end
  return rows
end

-- What holds what is alive at the end, where both files tell it, as rows; nil: they do
-- not, or the field is none of allocations. Of bytes, or samples, as the field is.
local function held(pa, a, pb, b, field, options)
  if not (pa.holders and pb.holders) or field == "timesamples" or
     measures.counted(field) == "survived" then
    return nil
  end
  local by = measures.isbytes(field) and "alivebytes" or "alive"
  local scale = options.scaled and a.whole[by] > 0 and b.whole[by] / a.whole[by] or 1
  local function sums(part)
    return part and {alive = part.samples, alivebytes = part.bytes,
                     alivesquares = part.bytes * part.bytes / part.samples}
  end
  local list = heldpairs.of(pa.holders, pb.holders)
  for _, pair in ipairs(list) do
    pair.a = pair.a and {name = pair.name, self = sums(pair.a)}
    pair.b = pair.b and {name = pair.name, self = sums(pair.b)}
  end
  return changes(list, "self", by, side(pa, a.whole, by, scale), side(pb, b.whole, by, 1),
                 options.sigma)
end

-- What one sample of time is worth in each: seconds when both files tell, else
-- 1. Third result: are these seconds?
local function timeweights(pa, pb)
  local a, b = pa.timeperiod or 0, pb.timeperiod or 0
  if a > 0 and b > 0 then
    return a, b, true
  end
  return 1, 1, false
end

-- The wholes of both and the error of their difference: 0 where both are known
-- exactly, as the files tell them or because every n-th byte was sampled.
local function wholes(a, suma, b, sumb, field)
  local pa, pb = a.profile, b.profile
  if field == "bytes" and pa.allocated and pb.allocated then
    return pa.allocated, pb.allocated, 0
  end
  local va, vb, error = tested(a, suma, b, sumb, field)
  local even = (field == "bytes" or field == "samples") and
               not pa.random and not pb.random
  return va, vb, even and 0 or error
end

--- Compares profiles 'pa' and 'pb' with their totals 'a' and 'b' by a field.
-- 'options': sigma (standard errors that are noise), scaled (true: a's numbers
-- are scaled so that both amount to the same), cumulative (true: totals instead
-- of self). Returns {field, seconds (true: of time, in seconds), scale, a, b (the
-- wholes, a's not scaled), error (of their difference; 0: it is exact),
-- functions, lines, types, classes, holders (of what is alive at the end, by path; nil:
-- not told)}, the last five being lists of rows {name, file, line, native, class, a, b,
-- change, error (standard error of the change), p (how likely chance alone makes such a
-- change), noise}.
function M.of(pa, a, pb, b, field, options)
  local unita, unitb, seconds = 1, 1, nil
  if field == "timesamples" then
    unita, unitb, seconds = timeweights(pa, pb)
  end
  local sa = side(pa, a.whole, field, unita)
  local sb = side(pb, b.whole, field, unitb)
  local wa, wb, error = wholes(sa, a.whole, sb, b.whole, field)
  local scale = options.scaled and wa > 0 and wb / wa or 1
  sa = side(pa, a.whole, field, unita * scale)
  local key = options.cumulative and "total" or "self"
  local files = samecode.files(a, b)
  local functions = samecode.functions(a.functions, b.functions, files)
  local lines = samecode.lines(a.lines, b.lines, functions, files)
  local ca, cb = classes(a.types), classes(b.types)
  local function compared(rows, others, same, which)
    return changes(paired(rows, others, same), which, field, sa, sb,
                   options.sigma)
  end
  return {
    field = field, seconds = seconds, scale = scale, a = wa, b = wb,
    error = error,
    functions = compared(a.functions, b.functions, functions, key),
    lines = compared(a.lines, b.lines, lines, key),
    types = compared(a.types, b.types, bynames(a.types, b.types), "self"),
    classes = compared(ca, cb, bynames(ca, cb), "self"),
    holders = held(pa, a, pb, b, field, options),
  }
end

--- Why two profiles' time cannot be compared; nil: it can.
function M.clocks(pa, pb)
  local a, b = measures.clock(pa), measures.clock(pb)
  if a and b and a ~= b then
    return ("A has %s time, B %s time"):format(a, b)
  end
end

--- Fields that two profiles can be compared by.
function M.fields(pa, a, pb, b)
  local list = {}
  for _, field in ipairs(b.measures) do
    for _, other in ipairs(a.measures) do
      list[#list + 1] = field == other and
        not (field == "timesamples" and M.clocks(pa, pb)) and field or nil
    end
  end
  return list
end

--- The field of a measure, if both can have any of it and one of them does;
-- nil and, if there is more to say than that, why not.
function M.fieldof(by, pa, a, pb, b)
  local unit = (a.unit == "samples" or b.unit == "samples") and "samples"
               or "bytes"
  local field = measures.field(by, unit)
  local counted = measures.counted(field)
  for _, p in ipairs{pa, pb} do
    if counted == "timesamples" and p.timesamples == 0 or
       counted ~= "timesamples" and p.samples == 0 or
       counted == "survived" and not p.fates or
       counted == "alive" and not measures.tellsdeaths(p) then
      return nil
    end
  end
  if field == "timesamples" and M.clocks(pa, pb) then
    return nil, M.clocks(pa, pb)
  end
  return (a.whole[field] > 0 or b.whole[field] > 0) and field or nil
end

return M
