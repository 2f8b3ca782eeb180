-- SPDX-License-Identifier: MIT
-- Compares two profiles: returns the differences of their functions, lines, types and holders.
--
-- asamp.sums.significance tests whether a difference may be chance. It needs the variance of each sum
-- (measures.variance). For fixed sampling intervals, and for rows with most of the profile's total, this
-- variance is too large: then real differences may count as chance.

local heldpairs = require "asamp.sums.heldpairs"
local measures = require "asamp.sums.measures"
local samecode = require "asamp.sums.samecode"
local significance = require "asamp.sums.significance"

local M = {}

-- {== rows ==================================================================

-- Returns the value of a sum's field, multiplied by 'scale', and the variance of the product. Returns 0, 0 if
-- 'sum' is nil.
local function measured(profile, sum, field, scale)
  if not sum then
    return 0, 0
  end
  return sum[field] * scale,
         measures.variance(profile, sum, field) * scale * scale
end

-- Pairs the rows of two profiles: returns a list of {a, b}; a row without a partner is alone in its pair.
--
-- a, b: lists of rows of the old and the new profile
-- same: the partners: {[row of a] = row of b}
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

-- Pairs the rows of two lists that have the same name. Returns {[row of a] = row of b}.
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
  elseif x.of.name ~= y.of.name then
    return x.of.name < y.of.name
  end
  return (x.of.line or 0) < (y.of.line or 0)
end

-- Returns a table for the function 'tested' about one of the two compared profiles:
--
--   - profile, scale: the parameters
--   - usual: mean value that one sample represents; significance.test uses it if a sum is 0
--
-- whole: sum of all samples of the profile
-- field: field of sums that is compared, such as "bytes"
-- scale: factor by which values are multiplied
local function side(profile, whole, field, scale)
  local value, variance = measured(profile, whole, field, scale)
  return {profile = profile, scale = scale,
          usual = value > 0 and variance > 0 and variance / value or
                  scale * (measures.isbytes(field) and math.max(profile.period or 1, 1) or 1)}
end

-- Tests whether two sums differ. Returns both values, the standard error of their difference, its p-value,
-- and the smallest p-value that so few samples can have (significance.test).
--
-- a, b: data of the two profiles (results of side)
-- suma, sumb: the sums; nil: 0
-- field: field of the sums
local function tested(a, suma, b, sumb, field)
  local va, variancea = measured(a.profile, suma, field, a.scale)
  local vb, varianceb = measured(b.profile, sumb, field, b.scale)
  return va, vb, significance.test(va, variancea, a.usual,
                                   vb, varianceb, b.usual)
end

-- Returns the differences of paired functions, lines and so on, as rows of M.of. Omits pairs whose values are
-- both 0. Significant rows come first, then those whose change is noise; in both parts, the largest change is
-- first. The list has at most options.most rows, and these fields:
--
--   - n: number of all rows
--   - noise: number of all rows whose change is noise
--   - same: true: no value has changed
--
-- list: pairs {a, b} of rows (paired)
-- key: field of the rows to compare: "self" (a sum without callees) or "total" (with callees)
-- field: field of the sum, such as "bytes"
-- a, b: data of the old and the new profile (results of side)
-- options: sigma, most (M.of)
local function changes(list, key, field, a, b, options)
  local rows = {}
  for _, pair in ipairs(list) do
    local va, vb, error, p, least = tested(a, pair.a and pair.a[key], b,
                                           pair.b and pair.b[key], field)
    if va ~= 0 or vb ~= 0 then
      rows[#rows + 1] = {of = pair.b or pair.a, a = va, b = vb, change = vb - va, error = error,
                         p = p, least = least, noise = false}
    end
  end
  significance.mark(rows, options.sigma)
  table.sort(rows, order)
  local kept, most = {n = #rows, noise = 0, same = true}, options.most or #rows
  for i, row in ipairs(rows) do
    local of = row.of
    kept[i] = i <= most and {
      name = of.name, file = of.file, line = of.line, native = of.native,
      a = row.a, b = row.b, change = row.change, error = row.error, p = row.p, noise = row.noise} or nil
    kept.noise = kept.noise + (row.noise and 1 or 0)
    kept.same = kept.same and row.change == 0
  end
  return kept
end

-- ==}

-- Returns a row {name, self} for each class of all types of blocks; the name is "CLASS (TYPE)". 'types':
-- field of totals.of.
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

-- Returns profile.holders, or an empty table of this form if no sample is alive at the end. Returns nil if
-- the holders are unknown.
local function holdersof(profile, totals)
  return profile.holders or measures.hasdeaths(profile) and totals.whole.alive == 0 and
         {step = {}, parent = {}, path = {}, samples = {}, bytes = {}} or nil
end

-- Returns the field 'holders' of M.of: the differences of the paths that keep objects alive at the end.
-- Returns nil if a profile's holders are unknown, or if the field is not one of allocations. The parameters
-- are those of M.of.
local function held(pa, a, pb, b, field, options)
  local ha, hb = holdersof(pa, a), holdersof(pb, b)
  if not (ha and hb) or field == "timesamples" or measures.counted(field) == "survived" then
    return nil
  end
  local by = measures.isbytes(field) and "alivebytes" or "alive"
  local scale = options.scaled and a.whole[by] > 0 and b.whole[by] / a.whole[by] or 1
  local function sums(part)
    return part and {alive = part.samples, alivebytes = part.bytes,
                     alivesquares = part.bytes * part.bytes / part.samples}
  end
  local list = heldpairs.of(ha, hb)
  for _, pair in ipairs(list) do
    pair.a = pair.a and {name = pair.name, self = sums(pair.a)}
    pair.b = pair.b and {name = pair.name, self = sums(pair.b)}
  end
  return changes(list, "self", by, side(pa, a.whole, by, scale), side(pb, b.whole, by, 1), options)
end

-- Returns the seconds that a time sample represents in the profile pa, those in pb, and true. If one of these
-- times is unknown, returns 1, 1 and false, so that numbers of samples are compared.
local function timeweights(pa, pb)
  local a, b = pa.timeperiod or 0, pb.timeperiod or 0
  if a > 0 and b > 0 then
    return a, b, true
  end
  return 1, 1, false
end

-- Returns the total of a field in profile a, the total in b, and the standard error of their difference. The
-- error is 0 if both totals are exact: the files record the allocated bytes, or each sample represents the
-- same number of bytes, because the distances between samples are not random.
--
-- a, b: data of the two profiles (results of side)
-- suma, sumb: sums of all samples in a and in b
-- field: field of these sums, such as "bytes"
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

--- Compares two profiles by one field of sums (totals.lua). In names of fields, a is the old profile and b
-- the new one.
--
--   - field: the parameter
--   - seconds: true: values are seconds
--   - scale: factor of the old profile's values
--   - a, b: the field's total in the profiles, not scaled
--   - error: standard error of the difference of the totals; 0: exact
--   - functions, lines, types, classes, holders: lists of rows (changes); nil: not
--   available. Fields of a row:
--     - name: name of the function, line, type, class or holder
--     - file, line: place of the function or line
--     - native: true: a C function
--     - a, b, change: values of the row in both profiles, and their difference
--     - error: standard error of the change
--     - p: probability of such a change by chance
--     - noise: true: the change may be chance
--
-- pa, a: the old profile and its totals
-- pb, b: the new profile and its totals
-- options: a table:
--
--   - sigma: number of standard errors up to which a change is noise
--   - most: largest number of rows in a list; nil: all rows
--   - scaled: true: scales the old profile's values so that both profiles have the same total
--   - cumulative: true: compares values with callees (total), not without them (self)
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
  local same = samecode.of(a, b)
  local ca, cb = classes(a.types), classes(b.types)
  local function compared(rows, others, partners, which)
    local list = changes(paired(rows, others, partners), which, field, sa, sb, options)
    if #list < list.n then
      collectgarbage()  -- frees the other rows, up to 100 MB, before the next list is made
    end
    return list
  end
  if options.most then
    collectgarbage()  -- frees the tables of samecode.of or of the previous comparison
  end
  return {
    field = field, seconds = seconds, scale = scale, a = wa, b = wb,
    error = error,
    functions = compared(a.functions, b.functions, same.functions, key),
    lines = compared(a.lines, b.lines, same.lines, key),
    types = compared(a.types, b.types, bynames(a.types, b.types), "self"),
    classes = compared(ca, cb, bynames(ca, cb), "self"),
    holders = held(pa, a, pb, b, field, options),
  }
end

--- Returns the reason why the times of the profiles pa and pb cannot be compared, or nil if they can.
function M.clocks(pa, pb)
  local a, b = measures.clock(pa), measures.clock(pb)
  if a and b and a ~= b then
    return ("A has %s time, B %s time"):format(a, b)
  end
end

--- Returns the list of fields of sums by which two profiles can be compared.
--
-- pa, a: one profile and its totals
-- pb, b: the other one and its totals
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

--- Checks whether two profiles can be compared by the measure 'by' (a key of measures.MEASURES): both must
-- record the measure, and at least one value must not be 0. Returns the field of sums for the measure.
-- Otherwise returns nil and the reason, if it is known. The other parameters are those of M.fields.
function M.fieldof(by, pa, a, pb, b)
  local unit = (a.unit == "samples" or b.unit == "samples") and "samples"
               or "bytes"
  local field = measures.field(by, unit)
  local counted = measures.counted(field)
  for _, p in ipairs{pa, pb} do
    if counted == "timesamples" and p.timesamples == 0 or
       counted ~= "timesamples" and p.samples == 0 or
       counted == "survived" and not p.fates or
       counted == "alive" and not measures.hasdeaths(p) then
      return nil
    end
  end
  if field == "timesamples" and M.clocks(pa, pb) then
    return nil, M.clocks(pa, pb)
  end
  return (a.whole[field] > 0 or b.whole[field] > 0) and field or nil
end

return M
