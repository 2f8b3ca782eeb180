-- SPDX-License-Identifier: MIT
-- Checks limits of a profile, and increases of bytes between two profiles. Fields of a check:
--
--   - name: name of the check, such as "max-peak"
--   - ok: true: the check does not fail
--   - value, limit: the value, and the largest value that does not fail
--   - unit: "bytes" if the value is in bytes; nil: it is a number of leaks
--   - error: standard error of the value; 0: exact
--   - blame: the line or function with most of the value (row of the totals), or nil
--   - found: only if the value is an estimate: smallest value that fails in 9 of 10 runs
--   - before, sigma, needed: only of a comparison: the earlier value, the difference in standard errors, and
--     the difference that fails
--   - maybe, few, unjudged: only of the check "no-leak", reasons why a leak may have been missed: an
--     uncertain leak, lines with too few samples (both from asamp.sums.leaks), and the data that the profile
--     lacks
--
-- If the exact number of allocated bytes is known, a row's bytes are its share of the samples times that
-- number. This reduces the error.

local compare = require "asamp.sums.compare"
local measures = require "asamp.sums.measures"
local paths = require "asamp.sums.paths"
local significance = require "asamp.sums.significance"

local M = {}

--- An estimate fails if it exceeds a limit, or another estimate, by at least 3 standard errors.
M.SIGMA = 3

-- A check detects a value in 9 of 10 runs if the true value is this number of standard errors above the
-- smallest estimate that fails (90% quantile of the normal distribution).
local POWER = 1.2816

local LARGEST = 3  -- number of lines for which the check computes the smallest increase that it finds

local PERIOD = 64  -- smallest sampling period of a session, bytes

local CHANCE = 1e-5  -- probability of a false alarm in one comparison of two profiles

--- Returns the number of standard errors by which one of m compared rows must differ to fail. It grows with
-- m, so that a false alarm in any row has the probability CHANCE.
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

-- Returns the row with the largest 'self' value of a field, or nil if all are 0.
local function most(rows, field)
  local best
  for _, row in ipairs(rows) do
    if row.self[field] > 0 and (not best or row.self[field] > best.self[field]) then
      best = row
    end
  end
  return best
end

-- Returns the smallest x >= low for which f(x) is true, or math.huge if there is none. f must be true for all
-- larger x.
local function smallest(low, f)
  local high = low + 1
  for _ = 1, 60 do
    if f(high) then break end
    low, high = high, 2 * high
  end
  if not f(high) then return math.huge end
  for _ = 1, 60 do
    local mid = (low + high) / 2
    if f(mid) then high = mid else low = mid end
  end
  return high
end

-- Returns the check of a value in bytes against a limit. An estimate fails if it exceeds the limit by more
-- than SIGMA standard errors.
--
-- name: name of the check
-- value: the value
-- error: its standard error; 0: the value is exact
-- limit: largest value that does not fail
-- blame: the line or function with most of the value, or nil
-- errorof: function from an estimate to its standard error (result of 'estimated'), with which the field
-- 'found' of the check is computed: the smallest value that fails in 9 of 10 runs. nil: 'found' is not
-- computed
local function limited(name, value, error, limit, blame, errorof)
  return {name = name, value = value, error = error, limit = limit, unit = "bytes", blame = blame,
          ok = value - M.SIGMA * error <= limit,
          found = errorof and smallest(limit, function(x)
            return x - (M.SIGMA + POWER) * errorof(x) >= limit
          end)}
end

-- Returns a function that maps the bytes of a sum, estimated from samples, to the standard error of the
-- estimate. This is the parameter 'errorof' of the function 'limited'.
--
-- weight: bytes that a sample represents
-- exact: exact number of bytes that the run allocated; nil: unknown. A known number makes the error smaller,
-- because the sum is a share of it
-- value: bytes of the sum in this profile
local function estimated(weight, exact, value)
  return function(x)
    return math.sqrt(x * weight * (exact and 1 - x / math.max(exact + x - value, x) or 1))
  end
end

-- Returns the number of samples of equal weight that would give the total of a profile with the same relative
-- error. 'whole': the sum of all samples.
local function samplesof(profile, whole)
  local variance = measures.variance(profile, whole, "bytes")
  return variance > 0 and whole.bytes ^ 2 / variance or 1
end

local function deviation(profile, sum, field)
  return math.sqrt(math.max(0, measures.variance(profile, sum, field)))
end

-- Returns the bytes of a sum and their standard error. With the exact total, the bytes are the sum's share of
-- all samples times this total.
--
-- whole: the sum of all samples
-- sum: the sum
-- exact: exact number of allocated bytes; nil: unknown
local function share(profile, whole, sum, exact)
  if not exact or whole.bytes == 0 then
    return sum.bytes, deviation(profile, sum, "bytes")
  end
  local p, n = sum.bytes / whole.bytes, samplesof(profile, whole)
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
  local weight = (exact or totals.whole.bytes) / samplesof(profile, totals.whole)
  local check = limited("max-line " .. wanted.text, value, error, wanted.bytes, found,
                        totals.whole.samples > 0 and estimated(weight, exact, value) or nil)
  check.missing = not found or nil
  return check
end

--- Returns the checks of one profile. Fields of 'o' (nil: no such check):
--
--   - allocated, peak, alive: limits in bytes
--   - lines: limits of lines: a list of {file, line, bytes, text}
--   - leaks: likely leaks (asamp.sums.leaks), which must have no rows; false: leaks cannot be judged
--   - lacks: the reason why leaks cannot be judged
--   - cut: true: parts of the profile are excluded, so its exact totals do not apply
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
    local found = o.leaks or {rows = {}}
    local first, last = found.rows[1], found.rows[#found.rows]
    list[#list + 1] = {name = "no-leak", ok = not first, value = last and last.group or 0, limit = 0,
                       error = 0, blame = first, maybe = found.maybe and found.maybe[1],
                       few = found.few, unjudged = not o.leaks and o.lacks or nil}
  end
  return list
end

--- Compares the bytes of a line in two profiles, as estimated shares of exact totals. Returns four numbers:
--
--   1. the bytes in the first profile
--   2. the bytes in the second profile
--   3. their difference in standard errors
--   4. the standard error of the difference, on the assumption that the bytes are equal
--
-- a, b: number of the line's samples in the first and in the second profile
-- na, nb: number of all samples of each profile
-- A, B: exact number of bytes that each run allocated
function M.difference(a, na, A, b, nb, B)
  local x, y = a / na * A, b / nb * B
  local same = (a + b) / (na / A + nb / B)
  local p, q = math.min(same / A, 1), math.min(same / B, 1)
  local error = math.sqrt(A * A * p * (1 - p) / na + B * B * q * (1 - q) / nb)
  return x, y, error > 0 and (y - x) / error or y > x and math.huge or 0, error
end

--- Returns the smallest increase of a line, in percent, that fails in 9 of 10 comparisons.
--
-- p: the line's share of the baseline's bytes
-- n: number of samples of the baseline
-- needed, tolerance: an increase fails above this number of standard errors and this percentage
-- exact: true: the exact numbers of allocated bytes are known
function M.least(p, n, needed, tolerance, exact)
  local k = p * n
  return 100 * smallest(0, function(r)
    local B = 1 + p * r
    local q, nb = p * (1 + r) / B, n * B
    local before, after = k, k * (1 + r)  -- variances of the line's samples in the baseline and the profile
    local error = math.sqrt(before + after)
    if exact then
      error = n * select(4, M.difference(k, n, 1, q * nb, nb, B))
      before, after = k * (1 - p), k * (1 + r) * (1 - q)
    end
    local factor = 1 + tolerance / 100
    return k * r - needed * error >= POWER * math.sqrt(before + after) and
           k * (1 + r - factor) >= POWER * math.sqrt(before * factor ^ 2 + after)
  end)
end

-- Returns the sampling period with which a comparison would detect that a line allocates more by twice the
-- tolerance. This is the longest such period that is a power of 2. Returns nil if the present period detects
-- this increase, if no period does, or if the present period is unknown.
--
-- p: the line's share of the baseline's bytes
-- n: number of samples of the baseline
-- needed, tolerance: an increase fails above this number of standard errors and this percentage
-- exact: true: the exact numbers of allocated bytes are known
local function periodfor(profile, p, n, needed, tolerance, exact)
  local period = profile.period or 0
  local now = period
  while M.least(p, n, needed, tolerance, exact) > 2 * tolerance do
    if period <= PERIOD then return nil end
    local half = 1 << (math.ceil(math.log(period, 2)) - 1)
    period, n = half, n * period / half
  end
  return period > 0 and period < now and period or nil
end

-- Returns the smallest increases that a comparison with a baseline detects in 9 of 10 runs, of the total and
-- of the largest lines. This is the second result of M.changes.
--
-- rows: lines of the comparison; this function changes their order
-- profile: the baseline
-- whole, n: sum of all samples of the baseline, and their number
-- check: the check of the total bytes
-- needed: number of standard errors above which the increase of a line fails
-- exact: true: the exact numbers of allocated bytes are known
local function sight(rows, profile, whole, n, check, needed, exact)
  local list = {}
  table.sort(rows, function(x, y) return x.a > y.a end)
  for i = 1, math.min(LARGEST, #rows) do
    local p = rows[i].a / whole.bytes
    if p <= 0 then break end
    list[i] = {blame = rows[i], share = p, least = M.least(p, n, needed, check.tolerance, exact),
               period = periodfor(profile, p, n, needed, check.tolerance, exact)}
  end
  return {all = exact and check.tolerance or M.least(1, n, M.needed(1), check.tolerance), lines = list}
end

-- Sets the field 'moved' of the checks of lines. It is true if other lines of the same function allocated
-- less instead, so that at least half of the increase is offset. A program may allocate in another line only
-- because `pairs` visits keys in another order.
--
-- checks: the checks; the first one is about the total, and has no such field
-- lines: all lines of the comparison
local function mark(checks, lines)
  local change = {}
  local function keyof(row)
    return (row.file or "") .. "\0" .. (row.name or "")
  end
  for _, row in ipairs(lines) do
    change[keyof(row)] = (change[keyof(row)] or 0) + row.b - row.a
  end
  -- The first check is about the total, and is left out.
  for i = 2, #checks do
    local row = checks[i].blame
    checks[i].moved = change[keyof(row)] <= (row.b - row.a) / 2
  end
end

--- Compares a profile with a baseline. Returns two values.
--
-- The first one is the list of checks: of the total, and of each line that fails. The field 'moved' of the
-- check of a line is true if other lines of the same function allocated less instead.
--
-- The second one has the smallest increases that this comparison detects in 9 of 10 runs:
--
--   - all: smallest increase of the total, percent
--   - lines: a row for each of the LARGEST largest lines. Fields of a row:
--     - blame: row of the line
--     - share: the line's share of the total (0 to 1)
--     - least: smallest increase of the line, percent
--     - period: sampling period with which an increase of twice the tolerance would be detected; nil: the
--       present period detects it, or none does
--
-- pa, a: the baseline and its totals
-- pb, b: the profile and its totals
-- tolerance: percent
-- cut: true: parts of the profiles are excluded, so their exact totals do not apply
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
  mark(list, result.lines)
  return list, sight(result.lines, pa, a.whole, na, whole, needed, A and B and true)
end

return M
