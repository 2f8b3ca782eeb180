-- SPDX-License-Identifier: MIT
-- Limits on a profile, and on the bytes that one allocates more than another: totals in, the checks with
-- their results out. Pure.
--
-- A check: {name, ok, value, limit, error (standard error of the value; 0: it is exact), unit
-- ("bytes", or nil: a count), blame (a row of the totals, or nil), and of a comparison 'before',
-- 'sigma' (standard errors that the difference exceeds) and 'needed' (those that it had to)}.
--
-- Where a profile has the exact number of bytes allocated, a row's bytes are its share of the
-- samples times that number: n random samples of which the share is p have the standard error
-- sqrt(p (1 - p) / n), which is less than that of their number, much less for a row that is most
-- of the whole. Two profiles whose totals are known are compared by that.
--
-- Of m rows that do not differ the one that differs most by chance does so the more the larger m
-- is. So a row has to differ by as many standard errors as chance exceeds in all m rows together
-- once in 100,000 comparisons (Bonferroni), and by 3 at least.

local compare = require "asamp.sums.compare"
local measures = require "asamp.sums.measures"
local paths = require "asamp.sums.paths"
local significance = require "asamp.sums.significance"

local M = {}

--- Standard errors by which an estimate exceeds a limit, or another estimate, at least.
M.SIGMA = 3

local CHANCE = 1e-5  -- of a false alarm in one comparison of two profiles

--- Standard errors by which one of m rows has to differ.
function M.needed(m)
  local low, high = M.SIGMA, 40
  for _ = 1, 60 do
    local mid = (low + high) / 2
    if significance.normal(mid) * math.max(m, 1) > CHANCE then
      low = mid
    else
      high = mid
    end
  end
  return high
end

-- The row that has most of a field itself; nil: none has any.
local function most(rows, field)
  local best
  for _, row in ipairs(rows) do
    if row.self[field] > 0 and (not best or row.self[field] > best.self[field]) then
      best = row
    end
  end
  return best
end

-- A check of a value against a limit; an estimate has to exceed it by SIGMA errors.
local function limited(name, value, error, limit, blame)
  return {name = name, value = value, error = error, limit = limit, unit = "bytes", blame = blame,
          ok = value - M.SIGMA * error <= limit}
end

local function deviation(profile, sum, field)
  return math.sqrt(math.max(0, measures.variance(profile, sum, field)))
end

-- Bytes of a sum with their error: its share of the exact total, if that is known and no part of
-- the profile was left out.
local function share(profile, whole, sum, exact)
  if not exact or whole.bytes == 0 then
    return sum.bytes, deviation(profile, sum, "bytes")
  end
  local p = sum.bytes / whole.bytes
  local variance = measures.variance(profile, whole, "bytes")
  local n = variance > 0 and whole.bytes ^ 2 / variance or 1
  return p * exact, exact * math.sqrt(math.max(p * (1 - p), 0) / n)
end

local function ofline(profile, totals, exact, wanted)
  local sum, found = {bytes = 0, samples = 0, bytesquares = 0}, nil
  for _, row in ipairs(totals.lines) do
    if row.line == wanted.line and paths.names(wanted.file, row.file) then
      for field in pairs(sum) do
        sum[field] = sum[field] + row.self[field]
      end
      found = row
    end
  end
  local value, error = share(profile, totals.whole, sum, exact)
  local check = limited("max-line " .. wanted.text, value, error, wanted.bytes, found)
  check.missing = not found or nil
  return check
end

--- Checks of one profile. 'o': allocated, peak, alive (bytes), lines ({{file, line, bytes,
-- text}, ...}), leaks (the result of asamp.sums.leaks; false: it has none), cut (true: parts
-- are left out, so exact numbers do not hold). nil: not wanted.
function M.limits(profile, totals, o)
  local list, whole = {}, totals.whole
  local exact = not o.cut and profile.allocated or nil
  if o.allocated then
    list[#list + 1] = limited("max-allocated", exact or whole.bytes,
      exact and 0 or deviation(profile, whole, "bytes"), o.allocated, most(totals.lines, "bytes"))
  end
  if o.peak then
    list[#list + 1] = limited("max-peak", profile.course.peak.inuse, 0, o.peak,
                              most(totals.lines, "alivebytes") or most(totals.lines, "bytes"))
  end
  if o.alive then
    list[#list + 1] = limited("max-alive", whole.alivebytes, deviation(profile, whole, "alivebytes"),
                              o.alive, most(totals.lines, "alivebytes"))
  end
  for _, wanted in ipairs(o.lines or {}) do
    list[#list + 1] = ofline(profile, totals, exact, wanted)
  end
  if o.leaks ~= nil then
    local rows = o.leaks and o.leaks.rows or {}
    list[#list + 1] = {name = "no-leak", ok = #rows == 0, value = #rows, limit = 0, error = 0,
                       blame = rows[1]}
  end
  return list
end

--- The difference of two shares of exact totals: 'a' of 'na' samples of the total A, 'b' of 'nb'
-- of B. Returns the bytes of both and by how many standard errors the second is larger than the
-- first, each standard error as it is if both are the same amount.
function M.difference(a, na, A, b, nb, B)
  local x, y = a / na * A, b / nb * B
  local same = (a + b) / (na / A + nb / B)
  local p, q = math.min(same / A, 1), math.min(same / B, 1)
  local error = math.sqrt(A * A * p * (1 - p) / na + B * B * q * (1 - q) / nb)
  return x, y, error > 0 and (y - x) / error or y > x and math.huge or 0, error
end

-- How many samples the whole of a profile is worth.
local function samplesof(profile, whole)
  local variance = measures.variance(profile, whole, "bytes")
  return variance > 0 and whole.bytes ^ 2 / variance or 1
end

--- Checks of profile 'pb' with totals 'b' against the baseline 'pa' with 'a': the whole, and
-- each line that may allocate more. 'tolerance': percent. 'cut': as of M.limits. The rows that
-- are within the limits are left out.
function M.changes(pa, a, pb, b, tolerance, cut)
  local result = compare.of(pa, a, pb, b, "bytes", {sigma = M.SIGMA})
  local A, B = not cut and pa.allocated, not cut and pb.allocated
  local whole = {name = "baseline", unit = "bytes", before = A or a.whole.bytes,
                 value = B or b.whole.bytes, error = A and B and 0 or result.error}
  local function judge(check)
    local change = check.value - check.before
    check.sigma = check.sigma or check.error > 0 and change / check.error or
                  change > 0 and math.huge or 0
    check.percent = check.before > 0 and 100 * change / check.before or math.huge
    check.limit, check.tolerance = check.before * (1 + tolerance / 100), tolerance
    check.ok = not (check.value > check.limit and check.sigma > check.needed)
    return check
  end
  whole.needed = whole.error > 0 and M.needed(1) or 0
  local list = {judge(whole)}
  local needed, na, nb = M.needed(#result.lines), samplesof(pa, a.whole), samplesof(pb, b.whole)
  local worst
  for _, row in ipairs(result.lines) do
    local check = {name = "baseline", unit = "bytes", before = row.a, value = row.b,
                   error = row.error, needed = needed, blame = row}
    if A and B then
      check.before, check.value, check.sigma, check.error =
        M.difference(row.a / a.whole.bytes * na, na, A, row.b / b.whole.bytes * nb, nb, B)
    end
    judge(check)
    if not worst or check.value - check.before > worst.value - worst.before then
      worst = check
    end
    list[#list + 1] = not check.ok and check or nil
  end
  whole.blame = worst and worst.blame
  return list
end

return M
