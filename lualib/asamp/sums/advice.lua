-- SPDX-License-Identifier: MIT
-- What a profile says about the collector. Pure: a profile in, predictions and rows out.
--
-- Another nursery. A nursery of N bytes meets an object that was born when u bytes of it
-- were left; u lies anywhere in (0, N). So of what is allocated there survives the mean of
-- S(u) over (0, N), where S(u) is the share of objects that live longer than u. The profile
-- has S: of each sample the bytes that were allocated between its birth and the collection
-- that decided it (the reader's 'ages'), and its fate. That holds for any N up to the
-- largest u that was seen; beyond, S lies between what it was there and the share that is alive
-- at the end: the middle is taken, and the half of what that leaves open is error. So a run
-- with a large nursery tells of all smaller ones.
-- The widths of steps of u are measured, too: bytes by collections.
-- What the core counted as tenured, over what samples say of the same run, is one more factor.
--
-- Time. A minor collection costs a fixed part and a part for what it tenures: both by least
-- squares over the collections of the profile. What remains, the major ones' time, goes with
-- the bytes tenured, which is what makes them due.

local lifetimes = require "asamp.sums.lifetimes"
local totals = require "asamp.sums.totals"

local M = {}

-- Samples of a bin that say something.
local ENOUGH = 20
-- A line's samples; shares at which they nearly all live, or die; parts of the whole.
local LEAST, LIVE, DIE, WORTH = 30, 0.9, 0.99, 0.01
local PAUSES = 5

-- {== survival ==============================================================

-- S as steps: {from, to, share, variance}, as far as bins have enough; and what is beyond.
local function steps(profile)
  local list, period = {}, profile.period
  local open
  for _, bin in ipairs(profile.ages or {}) do
    -- bins with few samples go together
    if not open then
      local from = #list == 0 and 0 or list[#list].to
      open = {from = from, to = from, bytes = 0, survived = 0, squares = 0}
    end
    open.to = open.to + bin.bytes / bin.collections
    open.bytes, open.survived = open.bytes + bin.bytes, open.survived + bin.survived
    open.squares = open.squares + bin.squares
    if open.bytes >= ENOUGH * period then
      local p = open.survived / open.bytes
      open.share = p
      open.variance = math.max(p * (1 - p), 1e-4) * open.squares / open.bytes ^ 2
      list[#list + 1], open = open, nil
    end
  end
  return list
end

-- The share of allocated bytes that survives in a nursery of n bytes, and its error.
local function survival(s, n)
  local sum, variance, open = 0, 0, 0
  for _, step in ipairs(s.list) do
    local width = math.min(step.to, n) - step.from
    if width > 0 then
      sum = sum + width * step.share
      variance = variance + width ^ 2 * step.variance
    end
  end
  if n > s.reach then
    sum = sum + (s.tail + s.floor) / 2 * (n - s.reach)
    open = (s.tail - s.floor) / 2 * (n - s.reach)
  end
  return sum / n, math.sqrt(variance) / n + open / n
end

local function survivals(profile)
  local list = steps(profile)
  if #list < 2 then
    return nil
  end
  local tail, width = 0, 0
  for i = math.max(1, #list - 3), #list do
    tail, width = tail + list[i].share * (list[i].to - list[i].from),
                  width + list[i].to - list[i].from
  end
  local alive, bytes = profile.survivedbytes - profile.laterbytes, profile.bytes
  local s = {list = list, reach = list[#list].to, tail = tail / width}
  s.floor = math.min(s.tail, bytes > 0 and alive / bytes or 0)
  return s
end

-- ==}

-- {== time ==================================================================

-- What a minor collection costs: microseconds, and of these for each byte tenured.
local function costs(profile)
  local n, x, y, xx, xy, time, tenured, minors = 0, 0, 0, 0, 0, 0, 0, 0
  for _, c in ipairs(profile.collections) do
    if not c.major then
      -- a span of several counts as so many at its mean
      local u, v = c.tenured / c.n, c.duration / c.n
      n, x, y = n + c.n, x + c.n * u, y + c.n * v
      xx, xy = xx + c.n * u * u, xy + c.n * u * v
      time, tenured, minors = time + c.duration, tenured + c.tenured, minors + c.n
    end
  end
  if n == 0 then
    return nil
  end
  local d = n * xx - x * x
  local byte = d > 1e-9 and (n * xy - x * y) / d or 0
  byte = math.max(0, math.min(byte, x > 0 and y / x or 0))
  return {fixed = (y - byte * x) / n, byte = byte, told = minors}
end

-- ==}

-- {== lines, pauses =========================================================

local function linesof(profile)
  local _, _, nearest = totals.linerows(profile)
  local rows, byline = {}, {}
  local sites = profile.sites
  for i, node in ipairs(sites.node) do
    local line = nearest[node]
    local kind = profile.kinds[sites.kind[i]]
    if line and not kind.time and kind.name ~= "native" then
      local row = byline[line]
      if not row then
        row = {file = line.file, line = line.line, name = line.name, samples = 0, bytes = 0,
               survived = 0, survivedbytes = 0, alivebytes = 0}
        byline[line], rows[#rows + 1] = row, row
      end
      row.samples = row.samples + sites.samples[i] - sites.undecided[i]
      row.bytes = row.bytes + sites.bytes[i] - sites.undecidedbytes[i]
      row.survived = row.survived + sites.survived[i]
      row.survivedbytes = row.survivedbytes + sites.survivedbytes[i]
      row.alivebytes = row.alivebytes + sites.survivedbytes[i] - sites.laterbytes[i]
    end
  end
  local live, die = {}, {}
  for _, row in ipairs(rows) do
    local n = row.samples
    if n >= LEAST then
      row.share = row.survived / n
      row.error = math.max(math.sqrt(row.share * (1 - row.share) / n), 1 / n)
      if row.share >= LIVE and row.survivedbytes >= WORTH * profile.survivedbytes then
        live[#live + 1] = row
      elseif 1 - row.share >= DIE and row.bytes >= WORTH * profile.bytes then
        die[#die + 1] = row
      end
    end
  end
  local function by(key)
    return function(a, b)
      if a[key] ~= b[key] then
        return a[key] > b[key]
      end
      return a.file .. a.line < b.file .. b.line
    end
  end
  table.sort(live, by "survivedbytes")
  table.sort(die, by "bytes")
  return live, die
end

local function pausesof(profile)
  local list = {}
  for _, c in ipairs(profile.collections) do
    list[#list + 1] = {time = c.time / 1e6, us = math.max(c.minorpause or 0, c.majorpause or 0),
      major = (c.majorpause or 0) >= (c.minorpause or 0), tenured = c.tenured // c.n,
      inuse = c.inuse, alone = c.n == 1}
  end
  table.sort(list, function(a, b)
    if a.us ~= b.us then
      return a.us > b.us
    end
    return a.time < b.time
  end)
  return table.move(list, 1, math.min(#list, PAUSES), 1, {})
end

-- ==}

--- What the collector did: {allocated, minors, nursery (mean), tenured, share (of what was
-- allocated), time, major (of it; seconds), held}. nil: the file does not tell.
function M.measured(profile)
  local c = profile.course
  if not c or not profile.allocated or profile.minors < 2 or not profile.fates then
    return nil
  end
  local cost = costs(profile)
  if not cost then
    return nil
  end
  local time = c.pauses.total / 1e6
  local minor = math.min(time, (cost.fixed * cost.told + cost.byte * c.tenured) / 1e6)
  return {allocated = profile.allocated, minors = profile.minors,
          nursery = profile.allocated // profile.minors, tenured = c.tenured,
          share = c.tenured / profile.allocated, time = time, major = time - minor,
          held = c.peak.held, cost = cost}
end

--- What a nursery of n bytes would do: {nursery, minors, tenured, tenurederror, time,
-- timeerror (seconds), held}. Errors are one standard error, and what is not known.
function M.predict(profile, n)
  local now, s = M.measured(profile), survivals(profile)
  if not now or not s then
    return nil
  end
  local sampled, squares = 0, 0
  for _, bin in ipairs(profile.ages) do
    sampled = sampled + bin.survived
    squares = squares + bin.squares * bin.survived / bin.bytes
  end
  local factor = sampled > 0 and now.tenured / (sampled * now.allocated / profile.bytes) or 1
  local share, off = survival(s, n)
  local minors = now.allocated / n
  local tenured = math.min(share * factor, 1) * now.allocated
  local error = math.sqrt((off * factor * now.allocated) ^ 2 +
    (sampled > 0 and squares / sampled ^ 2 * tenured ^ 2 or 0))
  -- minor collections that have no record of their own cost as those that have
  local told = now.cost.told / now.minors
  local minor = (now.cost.fixed * minors * told + now.cost.byte * tenured) / 1e6
  local ratio = now.tenured > 0 and tenured / now.tenured or 1
  return {nursery = n, minors = minors, tenured = tenured, tenurederror = error,
          time = minor + now.major * ratio,
          timeerror = (now.cost.byte * error / 1e6) +
            (now.tenured > 0 and now.major * error / now.tenured or 0),
          held = math.max(0, now.held + n - now.nursery), beyond = n > s.reach}
end

--- {now (M.measured's), sizes = {M.predict's of sizes around the present one}, live, die
-- (lines whose objects nearly all survive, or die young: {file, line, name, samples, bytes,
-- survived, survivedbytes, alivebytes, share (that survives), error}), pauses (the longest:
-- {time, us, major, tenured, inuse, alone}), classes (lifetimes.classes)}; nil: the file does not
-- tell enough.
function M.of(profile)
  local now = M.measured(profile)
  if not now or not survivals(profile) then
    return nil
  end
  local sizes = {}
  local round = 1 << math.floor(math.log(now.nursery, 2) + 0.5)
  for k = -2, 3 do
    local n = math.tointeger(k < 0 and round >> -k or round << k)
    sizes[#sizes + 1] = M.predict(profile, n)
  end
  local live, die = linesof(profile)
  return {now = now, sizes = sizes, live = live, die = die, pauses = pausesof(profile),
          classes = lifetimes.classes(profile) or {}}
end

--- The size that is worth a change: by the least time, where that is less by more than its
-- error and a tenth; or nil.
function M.best(advice)
  local best
  for _, p in ipairs(advice.sizes) do
    if p.time + p.timeerror < 0.9 * advice.now.time and (not best or p.time < 0.95 * best.time) then
      best = p
    end
  end
  return best
end

return M
