-- SPDX-License-Identifier: MIT
-- What a profile says about the collector. Pure: a profile in, predictions and rows out.
--
-- Another nursery. asamp.sums.survival says what share of it survives. A nursery is filled
-- with a little more than its size, for a collection waits for the block that finds no room;
-- and with more than samples count, for a vector that grows is new memory as a whole. How
-- much more, the collections of the profile tell. A factor corrects the result: what the core
-- counted as tenured, over what samples say of the same run; of the whole run or, where that
-- makes a difference, of nurseries of about that size. The error is how far the same
-- prediction is off for each collection of the profile, for programs have phases, of which
-- there may be few.
--
-- Time. A minor collection costs a part that is always the same (roots), one for what the
-- nursery was filled with (strings that died, samples), and one for what survives. The three
-- are found by least squares over the collections of the profile: those of about that size if
-- there are enough, for caches bend the line. It is CPU time, without waits for a processor.
-- The major ones' time goes with the bytes tenured, which is what makes them due.

local lifetimes = require "asamp.sums.lifetimes"
local order = require "asamp.sums.order"
local survival = require "asamp.sums.survival"
local totals = require "asamp.sums.totals"

local M = {}

-- Nurseries that differ by less than this part tell nothing of what their size costs.
local DIFFER = 0.1
-- Standard errors that a difference needs to count; samples that a prediction needs.
local SURE, SAMPLES = 1, 40
-- How near in size a nursery has to be (as a logarithm) to say what one costs, and how many
-- such collections that takes (ENOUGH); NEXT: how near, to say what is tenured.
local NEAR, ENOUGH, NEXT = 0.35, 12, 0.2
-- A line is listed with so many samples (LEAST) and this part of the whole (WORTH); LIVE and
-- DIE: shares from which on its objects nearly all live, or die.
local LEAST, LIVE, DIE, WORTH = 30, 0.9, 0.99, 0.01
local PAUSES = 5

-- {== time ==================================================================

-- The solution of least squares of y by three numbers of which none costs less than
-- nothing: that of the subset that fits best.
local function leastsquares(rows, unknown)
  local best, least = {0, 0, 0}, math.huge
  for subset = 1, 7 do
    local which = {}
    for k = 1, 3 do
      if subset >> (k - 1) & 1 == 1 and not (unknown and unknown[k]) then which[#which + 1] = k end
    end
    local m = {}  -- the normal equations
    for i, a in ipairs(which) do
      m[i] = {}
      for j, b in ipairs(which) do
        m[i][j] = 0
        for _, r in ipairs(rows) do m[i][j] = m[i][j] + r.n * r[a] * r[b] end
      end
      m[i][#which + 1] = 0
      for _, r in ipairs(rows) do m[i][#which + 1] = m[i][#which + 1] + r.n * r[a] * r.y end
    end
    local solved = true
    for i = 1, #which do
      if math.abs(m[i][i]) < 1e-9 then solved = false break end
      for k = 1, #which do
        if k ~= i then
          local f = m[k][i] / m[i][i]
          for j = i, #which + 1 do m[k][j] = m[k][j] - f * m[i][j] end
        end
      end
    end
    local x = {0, 0, 0}
    for i, a in ipairs(which) do
      x[a] = solved and m[i][#which + 1] / m[i][i] or -1
    end
    if #which > 0 and math.min(x[1], x[2], x[3]) >= 0 then
      local sum = 0
      for _, r in ipairs(rows) do
        sum = sum + r.n * (r.y - x[1] * r[1] - x[2] * r[2] - x[3] * r[3]) ^ 2
      end
      if sum < least then best, least = x, sum end
    end
  end
  return best
end

-- The minor collections of the profile: {1, bytes the nursery was filled with, bytes tenured
-- (both in MB), y = microseconds, n = so many, each at their mean; planned, filled, tenured
-- (bytes)}.
local function minorsof(profile)
  local rows = {}
  for _, c in ipairs(profile.collections) do
    if not c.major then
      rows[#rows + 1] = {1, c.charged / c.n / 1e6, c.tenured / c.n / 1e6, y = c.processor / c.n,
                         n = c.n, planned = c.planned / c.n, filled = c.charged / c.n,
                         tenured = c.tenured / c.n}
    end
  end
  return rows
end

-- The weight, 0 to 1, of a nursery of 'planned' bytes in what is said of one of n bytes.
local function nearness(planned, n, part)
  return math.exp(-(math.log(math.max(planned, 1) / n) / part) ^ 2)
end

-- What a minor collection of a nursery of n bytes costs, in microseconds: 'fixed' always,
-- 'filled' for each byte of the nursery, 'byte' for each byte tenured; 'open': how much of it
-- the profile cannot tell from fixed cost.
local function costs(rows, n)
  local near, weight, x, xx, least = {}, 0, 0, 0, math.huge
  for _, r in ipairs(rows) do
    local w = r.n * nearness(r.planned, n, NEAR)
    near[#near + 1] = {1, r[2], r[3], y = r.y, n = w}
    weight = weight + w
  end
  if weight < ENOUGH then
    near, weight = rows, 0
    for _, r in ipairs(rows) do weight = weight + r.n end
  end
  for _, r in ipairs(near) do
    x, xx = x + r.n * r[2], xx + r.n * r[2] * r[2]
    least = math.min(least, r.y)
  end
  x, xx = x / weight, xx / weight
  local varied = xx - x * x > (DIFFER * x) ^ 2
  local cost = leastsquares(near, not varied and {true})
  local open = 0
  if not varied and x > 0 then
    open = math.min(least, cost[2] * x) / 2
    cost[1], cost[2] = open, cost[2] - open / x
  end
  return {fixed = cost[1], filled = cost[2] / 1e6, byte = cost[3] / 1e6, open = open}
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
  table.sort(live, order.by("-survivedbytes", "file", "line"))
  table.sort(die, order.by("-bytes", "file", "line"))
  return live, die
end

local function pausesof(profile)
  local list = {}
  for _, c in ipairs(profile.collections) do
    list[#list + 1] = {time = c.time / 1e6, us = math.max(c.minorpause or 0, c.majorpause or 0),
      major = (c.majorpause or 0) >= (c.minorpause or 0), tenured = c.tenured // c.n,
      inuse = c.inuse, alone = c.n == 1, remembered = c.remembered or 0, stacks = c.stacks or 0,
      weak = c.weak or 0, listed = c.listed or 0}
  end
  table.sort(list, order.by("-us", "time"))
  return table.move(list, 1, math.min(#list, PAUSES), 1, {})
end

-- ==}

--- What the collector did: {allocated, minors, nursery (mean), tenured, share (of what was
-- allocated), time, major (of it; seconds of CPU time), held, filled (bytes of all nurseries),
-- over (bytes that one had above its size)}. nil: the file does not tell.
function M.measured(profile)
  local c = profile.course
  if not c or not profile.allocated or profile.minors < 2 or not profile.fates or
     c.charged == 0 then
    return nil
  end
  return {allocated = profile.allocated, minors = profile.minors,
          nursery = profile.allocated // profile.minors, tenured = c.tenured,
          share = c.tenured / profile.allocated, time = c.processor / 1e6,
          major = c.majorprocessor / 1e6, held = c.peak.held, filled = c.charged,
          over = (c.charged - c.planned) / profile.minors}
end

-- What all predictions of a profile have in common: now, s, factor (by it more is tenured than
-- samples say); nil: it does not tell enough.
local function basis(profile)
  local now, s = M.measured(profile), survival.of(profile.ages or {})
  if not now or not s or s.bytes < SAMPLES * profile.period then
    return nil
  end
  local b = {now = now, s = s, rows = minorsof(profile), known = {}, told = 0,
             factor = s.mean > 0 and now.tenured / (s.mean * now.allocated) or 1}
  for i, r in ipairs(b.rows) do
    b.told = b.told + r.n
    b.known[i] = survival.share(s, r.filled) * r.filled * b.factor * now.allocated / now.filled
  end
  return b.told > 0 and b or nil
end

-- How far the model is off for nurseries of about n bytes, by those that the profile has:
-- the factor by which more is tenured than expected; its standard error; the bytes by which
-- the nurseries were filled beyond their size. Programs have rhythms, collectors thresholds
-- that no model knows. What chance explains is not taken for a difference (the positive part
-- of James and Stein's estimator).
local function near(b, n)
  local function sums(weigh)
    local weights, tenured, expected, squares, over = 0, 0, 0, 0, 0
    for i, r in ipairs(b.rows) do
      local w = weigh(r)
      weights, over = weights + r.n * w, over + w * r.n * (r.filled - r.planned)
      tenured, expected = tenured + w * r.n * r.tenured, expected + w * r.n * b.known[i]
      squares = squares + (w * r.n * (r.tenured - b.known[i])) ^ 2
    end
    return weights, tenured / math.max(1, expected), math.sqrt(squares) / math.max(1, expected),
           over / math.max(1e-9, weights)
  end
  local _, all, allerror = sums(function() return 1 end)
  local weights, some, unsure, over = sums(function(r) return nearness(r.planned, n, NEXT) end)
  if weights < ENOUGH then
    return all, allerror, b.now.over
  end
  local difference = some / all - 1
  local kept = difference == 0 and 0 or math.max(0, 1 - (SURE * unsure / difference) ^ 2)
  return all * (1 + kept * difference), unsure, over
end

local function predict(b, n)
  local now, s = b.now, b.s
  local factor, off, over = near(b, n)
  local size = math.max(4096, n + over)
  local minors = now.filled / size
  local tenured = math.min(survival.share(s, size) * b.factor * factor, 1) * now.allocated
  local unsure = off * tenured
  if size > s.reach then
    -- nobody has seen how much dies at this age: half is taken for dead, the other half for error
    local rest = (1 - s.reach / size) * (1 - s.byage[s.bins]) * now.allocated * b.factor / 2
    tenured, unsure = tenured - rest, unsure + rest
  end
  local cost = costs(b.rows, n)
  -- minor collections that have no record of their own cost as those that have
  local told = b.told / now.minors
  local minor = ((cost.fixed * minors + cost.filled * now.filled) * told +
                 cost.byte * tenured) / 1e6
  local ratio = now.tenured > 0 and tenured / now.tenured or 1
  return {nursery = n, minors = minors, tenured = tenured, tenurederror = unsure,
          time = minor + now.major * ratio,
          timeerror = (cost.byte * unsure + cost.open * math.abs(minors - now.minors) * told) / 1e6 +
            (now.tenured > 0 and now.major * unsure / now.tenured or 0),
          held = math.max(0, now.held + n - now.nursery), beyond = size > s.reach}
end

--- What a nursery of n bytes would do: {nursery, minors, tenured, tenurederror, time,
-- timeerror (seconds), held}. Errors are one standard error, and what is not known.
function M.predict(profile, n)
  local b = basis(profile)
  return b and predict(b, n)
end

--- {now (M.measured's), sizes = {M.predict's of sizes around the present one}, live, die
-- (lines whose objects nearly all survive, or die young: {file, line, name, samples, bytes,
-- survived, survivedbytes, alivebytes, share (that survives), error}), pauses (the longest:
-- {time, us, major, tenured, inuse, alone, and what it looked at besides what it found alive:
-- remembered (slots and objects written to), stacks (slots), weak (entries of weak tables),
-- listed (of the collector's lists: threads, objects with finalizers)}), classes
-- (lifetimes.classes), lines (lifetimes.lines)}; nil: the file does not tell enough.
function M.of(profile)
  local b = basis(profile)
  if not b then
    return nil
  end
  local now, sizes = b.now, {}
  local round = 1 << math.floor(math.log(now.nursery, 2) + 0.5)
  for k = -2, 3 do
    local n = math.tointeger(k < 0 and round >> -k or round << k)
    sizes[#sizes + 1] = predict(b, n)
  end
  local live, die = linesof(profile)
  return {now = now, sizes = sizes, live = live, die = die, pauses = pausesof(profile),
          classes = lifetimes.classes(profile) or {}, lines = lifetimes.lines(profile) or {}}
end

--- What LUA_GC is to say for nurseries of about n bytes: sizes from an eighth less to an
-- eighth more. Of one size alone they may be in step with what a program makes in turn, and
-- meet it at the same places each time, which no prediction knows of.
function M.setting(n)
  local low, high, unit = n * 7 // 8, n * 9 // 8, ""
  if low % 1024 == 0 and high % 1024 == 0 then
    low, high, unit = low // 1024, high // 1024, "K"
  end
  return ("nursery=%d%s-%d%s"):format(math.max(low, unit == "" and 4096 or 4), unit, high, unit)
end

--- The size, of those that were seen, with the least time, if that is less than now by more
-- than its error and by a tenth; else nil.
function M.best(advice)
  local best
  for _, p in ipairs(advice.sizes) do
    if not p.beyond and p.time + p.timeerror < 0.9 * advice.now.time and
       (not best or p.time < 0.95 * best.time) then
      best = p
    end
  end
  return best
end

return M
