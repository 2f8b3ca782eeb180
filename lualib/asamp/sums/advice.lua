-- SPDX-License-Identifier: MIT
-- What a profile says about the collector. Pure: a profile in, predictions and rows out.
--
-- Another nursery. asamp.sums.survival says what share of it survives. A nursery is filled
-- with a little more than its size, for a collection waits for the block that finds no room;
-- and with more than samples count, for a vector that grows is new memory as a whole. How
-- much more, the collections of the profile tell. A factor corrects the result: what the core
-- counted as tenured, over what samples say of the same run; of the whole run or, where that
-- makes a difference, of nurseries of about that size. The error is how far the same prediction
-- is off for each collection of the profile, for programs have phases, of which there may be few.
-- Where LUA_GC has not said the sizes, the collector has chosen them by what survived before:
-- then nurseries of about that size say nothing of others of that size, and how much they differ
-- is error, as is what ages and births are not told apart by. Where blocks are large beside the
-- nursery, collections come when they do, and what survives depends on that, not on ages: that as
-- much survives at another size as now is as likely then, no size is advised, and the difference
-- is error.
--
-- Time. A minor collection costs a part that is always the same (roots), one for what the
-- nursery was filled with (lines, strings that died, samples), and one for what survives. What
-- all of them took together is known, so another size is told from it by the first and the last
-- part alone: more collections, or other survivors. These are found by least squares over
-- collections that follow each other, for costs drift as the heap grows; and by Bayes's rule,
-- for where sizes hardly differ nothing tells them apart (ridge regression: Hoerl and Kennard
-- 1970). It is CPU time, without waits for a processor. Slices of major collections in the pauses
-- of minor ones are the major ones', whose time goes with their number. The bytes tenured make
-- them due, or, where these are too few for that, the bytes allocated. A minor collection finds
-- that they are: late by a part of what it tenures, or was filled with (inspection paradox: half
-- the mean square by the mean). With smaller nurseries major collections follow each other that
-- much closer.

local lifetimes = require "asamp.sums.lifetimes"
local order = require "asamp.sums.order"
local survival = require "asamp.sums.survival"
local totals = require "asamp.sums.totals"

local M = {}

--- The largest size of which M.setting is what LUA_GC takes: that is up to 1024M.
M.MOST = 910 << 20

-- Standard errors that a difference needs to count, and one that is advised; samples that a
-- prediction needs.
local SURE, ADVISED, SAMPLES = 1, 2, 40
-- Collections that come this part of a nursery behind its end come when large blocks do.
local LARGE = 0.1
-- How near in size a nursery has to be (as a logarithm) to say what one tenures, and how many
-- such collections that takes.
local NEXT, ENOUGH = 0.2, 12
-- Differences of more than so many of their deviations count by their root alone (Huber 1964).
local FAR, ROUNDS = 2, 5
-- The shares of what a collection costs before the profile is looked at, fixed and by what is
-- tenured, each with its standard error: roots are few in the programs of bench/advise.
local FIXED, TENURED = {0.1, 0.3}, {0.4, 0.25}
-- What caches change, as a part of the time for twice the size.
local CACHES = 0.05
-- A line is listed with so many samples (LEAST) and this part of all in Lua's heap (WORTH); LIVE and
-- DIE: shares from which on its objects nearly all live, or die.
local LEAST, LIVE, DIE, WORTH = 30, 0.9, 0.99, 0.01
local PAUSES = 5
-- Bytes that a heap has to grow by before that makes a major collection due (MIN_GROWTH of
-- lua/gc/pace.c); those that follow each other closer come by the bytes allocated.
local GROWTH = 512 << 10
-- Runs that have this part more or less collections or bytes tenured than the profile are not like it.
local ALIKE = 0.1

-- {== time ==================================================================

-- The minor collections of the profile: {planned, filled, tenured (bytes), us (CPU time without
-- slices of major ones), n = so many, each at their mean}.
local function minorsof(profile)
  local rows = {}
  for _, c in ipairs(profile.collections) do
    if not c.major then
      local n = c.n + (c.left or 0)
      rows[#rows + 1] = {us = (c.processor - (c.slices or 0)) / n, n = n, planned = c.planned / n,
                         filled = c.charged / n, tenured = c.tenured / n}
    end
  end
  return rows
end

-- The weight, 0 to 1, of a nursery of 'planned' bytes in what is said of one of n bytes.
local function nearness(planned, n, part)
  return math.exp(-(math.log(math.max(planned, 1) / n) / part) ^ 2)
end

-- What collections that follow each other say of the cost of bytes, 'a' of one that is filled
-- and 'b' of one that is tenured: {filled, tenured, us, n (weight)}, with us = a * filled + b *
-- tenured but for chance. Two of them share what else makes costs higher or lower.
local function differences(rows, us, mean)
  local list = {}
  for i = 2, #rows do
    local a, b = rows[i - 1], rows[i]
    if a.us + b.us > 0 then
      local d = 2 * (b.us - a.us) / (a.us + b.us)
      list[#list + 1] = {filled = b.filled - a.filled - d * ((a.filled + b.filled) / 2 - mean.filled),
                         tenured = b.tenured - a.tenured - d * ((a.tenured + b.tenured) / 2 - mean.tenured),
                         us = d * us, n = a.n * b.n / (a.n + b.n)}
    end
  end
  return list
end

-- What a byte costs that a nursery is filled with, and one that is tenured, of collections that
-- take 'us' on average: {filled, tenured, cov = their covariances}. 'mean': of what they were
-- filled with, and tenured.
local function bybyte(rows, us, mean)
  local list, x, deviation = differences(rows, us, mean), nil, us
  local a, b = us / mean.filled, us / math.max(1, mean.tenured)
  -- The inverse of what is known before: the matrix of covariances of the two shares, in bytes.
  local v, w = TENURED[2] ^ 2, TENURED[2] ^ 2 + FIXED[2] ^ 2
  local det = w * v - v * v
  local aa, ab, bb = v / det / (a * a), v / det / (a * b), w / det / (b * b)
  local a0, b0 = (1 - FIXED[1] - TENURED[1]) * a, TENURED[1] * b
  for _ = 1, ROUNDS do
    local xx, xy, yy, xu, yu, squares = 0, 0, 0, 0, 0, 0
    for _, d in ipairs(list) do
      local off = x and math.abs(d.us - x.filled * d.filled - x.tenured * d.tenured) * math.sqrt(2 * d.n) or 0
      local weight = off > FAR * deviation and d.n * FAR * deviation / off or d.n
      xx, xy = xx + weight * d.filled ^ 2, xy + weight * d.filled * d.tenured
      yy = yy + weight * d.tenured ^ 2
      xu, yu = xu + weight * d.filled * d.us, yu + weight * d.tenured * d.us
      squares = squares + math.min(off, FAR * deviation) ^ 2
    end
    if x and #list > 0 then
      deviation = math.max(math.sqrt(squares / #list), us / 1000)
    end
    local s = deviation * deviation
    local p, q, r = xx / s + aa, yy / s + bb, xy / s + ab
    local u, t = xu / s + aa * a0 + ab * b0, yu / s + ab * a0 + bb * b0
    local d = p * q - r * r
    x = {filled = (q * u - r * t) / d, tenured = (p * t - r * u) / d,
         cov = {ff = q / d, ft = -r / d, tt = p / d}}
  end
  x.filled, x.tenured = math.max(0, x.filled), math.max(0, x.tenured)
  local known = x.filled * mean.filled + x.tenured * mean.tenured
  if known > us then  -- nothing costs less than nothing
    x.filled, x.tenured = x.filled * us / known, x.tenured * us / known
  end
  return x
end

-- What minor collections cost: {us (all), fixed (of one), and what bybyte says}.
local function costs(rows, now)
  local all = math.max(0, now.time - now.major) * 1e6
  local us, mean = all / now.minors, {filled = now.filled / now.minors, tenured = now.tenured / now.minors}
  local x = bybyte(rows, math.max(us, 1e-3), mean)
  x.us, x.mean = all, mean
  x.fixed = us - x.filled * mean.filled - x.tenured * mean.tenured
  return x
end

-- The microseconds of so many minor collections that tenure so many bytes, all of which are
-- filled with what they are filled with now; and their standard error.
local function costof(x, now, minors, tenured)
  local more, most = minors - now.minors, tenured - now.tenured
  local byfilled, bytenured = -x.mean.filled * more, most - x.mean.tenured * more
  local v = byfilled ^ 2 * x.cov.ff + 2 * byfilled * bytenured * x.cov.ft + bytenured ^ 2 * x.cov.tt
  return math.max(0, x.us + x.fixed * more + x.tenured * most), math.sqrt(math.max(0, v))
end

-- ==}

-- {== lines, pauses =========================================================

local function linesof(profile)
  local _, _, nearest = totals.linerows(profile)
  local rows, byline, bytes, survivedbytes = {}, {}, 0, 0
  local sites = profile.sites
  for i, node in ipairs(sites.node) do
    local line = nearest[node]
    local kind = profile.kinds[sites.kind[i]]
    local counts = not kind.time and kind.name ~= "native"
    if counts then
      bytes, survivedbytes = bytes + sites.bytes[i], survivedbytes + sites.survivedbytes[i]
    end
    if line and counts then
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
      if row.share >= LIVE and row.survivedbytes >= WORTH * survivedbytes then
        live[#live + 1] = row
      elseif 1 - row.share >= DIE and row.bytes >= WORTH * bytes then
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
      major = (c.majorpause or 0) >= (c.minorpause or 0), slice = c.n == 1 and not c.major and
        2 * (c.slices or 0) > c.processor, tenured = c.tenured // c.n,
      inuse = c.inuse, alone = c.n == 1, remembered = c.remembered or 0, stacks = c.stacks or 0,
      weak = c.weak or 0, listed = c.listed or 0}
  end
  table.sort(list, order.by("-us", "time"))
  return table.move(list, 1, math.min(#list, PAUSES), 1, {})
end

-- ==}

--- What the collector did: {allocated, minors, nursery (mean), tenured, share (of what was
-- allocated), time, major (of it; seconds of CPU time), majors (so many), held, filled (bytes of
-- all nurseries), over (bytes that one had above its size), large (many of which are of blocks
-- that are large beside it)}. nil: the file does not tell.
function M.measured(profile)
  local c = profile.course
  if not c or not profile.allocated or profile.minors < 2 or not profile.fates or
     c.charged == 0 then
    return nil
  end
  return {allocated = profile.allocated, minors = profile.minors, majors = profile.majors,
          nursery = profile.allocated // profile.minors, tenured = c.tenured,
          share = c.tenured / profile.allocated, time = c.processor / 1e6,
          major = c.majorprocessor / 1e6, held = c.peak.held, filled = c.charged,
          over = (c.charged - c.planned) / profile.minors,
          large = c.charged - c.planned > LARGE * c.planned}
end

-- What all predictions of a profile have in common: now, s, factor (by it more is tenured than
-- samples say); nil: it does not tell enough.
local function basis(profile)
  local now, s = M.measured(profile), survival.of(profile.ages or {})
  if not now or not s or s.bytes < SAMPLES * profile.period then
    return nil
  end
  local rows = minorsof(profile)
  local b = {now = now, s = s, rows = rows, known = {}, expected = 0, cost = costs(rows, now),
             chosen = not (profile.tuning or ""):find "nursery=",
             factor = s.mean > 0 and now.tenured / (s.mean * now.allocated) or 1}
  for i, r in ipairs(b.rows) do
    b.known[i] = survival.share(s, r.filled) * r.filled * b.factor * now.allocated / now.filled
    b.expected = b.expected + r.n * b.known[i]
  end
  return #rows > 0 and b or nil
end

-- How far the model is off for nurseries of about n bytes, by those that the profile has:
-- the factor by which more is tenured than expected; its standard error, which is no less than
-- what all collections scatter by, for these may have none of a few that tenure much; the bytes
-- by which the nurseries were filled beyond their size. Programs have rhythms, collectors thresholds
-- that no model knows. What chance explains is not taken for a difference (the positive part
-- of James and Stein's estimator).
local function near(b, n)
  local scatter = 0
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
  local count, all, allerror = sums(function() return 1 end)
  for i, r in ipairs(b.rows) do
    scatter = scatter + r.n * (r.tenured - b.known[i]) ^ 2 / #b.rows
  end
  scatter = math.sqrt(scatter) * count / math.max(1, b.expected)
  local weights, some, unsure, over = sums(function(r) return nearness(r.planned, n, NEXT) end)
  if weights < ENOUGH then
    return all, allerror, b.now.over
  end
  unsure = math.max(unsure, scatter / math.sqrt(weights))
  local difference = some / all - 1
  local kept = difference == 0 and 0 or math.max(0, 1 - (SURE * unsure / difference) ^ 2)
  if b.chosen then
    return all, math.max(allerror, math.abs(all * kept * difference)), b.now.over
  end
  return all * (1 + kept * difference), unsure, over
end

-- The bytes, filled or tenured, by which a major collection begins late with the nurseries of the
-- profile.
local function lateness(rows, what)
  local bytes, squares = 0, 0
  for _, r in ipairs(rows) do
    bytes, squares = bytes + r.n * r[what], squares + r.n * r[what] ^ 2
  end
  return squares / math.max(1, bytes) / 2
end

-- By how much more major collections cost where so many minor ones tenure so many bytes; and what
-- of that nobody can be sure of.
local function majorratio(b, minors, tenured)
  local now, plain = b.now, tenured / math.max(1, b.now.tenured)
  if now.tenured == 0 then
    return 1, 0
  elseif now.majors == 0 then
    return plain, 0
  end
  local what = now.tenured / now.majors < GROWTH and "filled" or "tenured"
  local all = what == "filled" and now.filled or tenured
  local apart, each = now[what] / now.majors, all / minors
  local closer = math.max(apart - lateness(b.rows, what) + each / 2,
                          math.min(apart, math.max(each, GROWTH)))
  local ratio = all / now[what] * apart / closer
  return ratio, math.abs(ratio - plain) / 2
end

local function predict(b, n)
  local now, s = b.now, b.s
  local factor, unlike, over = near(b, n)
  local size = math.max(4096, n + over)
  local minors = now.filled / size
  local tenured = math.min(survival.share(s, size) * b.factor * factor, 1) * now.allocated
  local unsure = unlike * tenured
  if b.chosen then
    unsure = unsure + survival.doubt(s, size) * b.factor * factor * now.allocated
  end
  if size > s.reach then
    -- nobody has seen how much dies at this age: half is taken for dead, the other half for error
    local rest = (1 - s.reach / size) * (1 - s.byage[s.bins]) * now.allocated * b.factor / 2
    tenured, unsure = tenured - rest, unsure + rest
  end
  if now.large then
    unsure = unsure + math.abs(now.share * now.allocated - tenured)
  end
  local minor, off = costof(b.cost, now, minors, tenured)
  local ratio, doubt = majorratio(b, minors, tenured)
  local major = now.major
  local caches = CACHES * math.abs(math.log(size * now.minors / now.filled, 2)) * minor
  return {nursery = n, minors = minors, tenured = tenured, tenurederror = unsure,
          time = minor / 1e6 + major * ratio,
          timeerror = math.sqrt(off ^ 2 + (b.cost.tenured * unsure) ^ 2 + caches ^ 2 +
              (1e6 * major * doubt) ^ 2) / 1e6 +
            (now.tenured > 0 and major * unsure / now.tenured or 0),
          held = math.max(0, now.held + n - now.nursery), beyond = size > s.reach}
end

--- What a nursery of n bytes would do: {nursery, minors, tenured, tenurederror, time,
-- timeerror (seconds), held}. Errors are one standard error, and what is not known.
function M.predict(profile, n)
  local b = basis(profile)
  return b and predict(b, n)
end

--- {now (M.measured's), sizes = {M.predict's of sizes around the
-- present one}, live, die (lines whose objects nearly all survive, or die young: {file, line,
-- name, samples, bytes, survived, survivedbytes, alivebytes, share (that survives), error}),
-- pauses (the longest: {time, us, major, slice (of a major one, behind a minor), tenured, inuse,
-- alone, and what it looked at besides what it found alive: remembered (slots and objects written
-- to), stacks (slots), weak (entries of weak tables), listed (of the collector's lists: threads,
-- objects with finalizers)}), classes (lifetimes.classes), lines (lifetimes.lines)}; nil: the file
-- does not tell enough.
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
-- meet it at the same places each time, which no prediction knows of. 'tuning': what it says now,
-- or nil; its other words stay.
function M.setting(n, tuning)
  local low, high, unit = n * 7 // 8, n * 9 // 8, ""
  if low % 1024 == 0 and high % 1024 == 0 then
    low, high, unit = low // 1024, high // 1024, "K"
  end
  local words = {}
  for word in (tuning or ""):gmatch "[^,]+" do
    if not word:find "^nursery=" then words[#words + 1] = word end
  end
  words[#words + 1] = ("nursery=%d%s-%d%s"):format(math.max(low, unit == "" and 4096 or 4), unit,
                                                   high, unit)
  return table.concat(words, ",")
end

-- Of runs of the same program (M.measured's): the median of what they tenured, and the least time
-- and the most, for what else the machine does can only make them longer.
local function ofruns(runs)
  local tenured, times, minors = {}, {}, {}
  for i, run in ipairs(runs) do
    tenured[i], times[i], minors[i] = run.tenured, run.time, run.minors
  end
  table.sort(tenured)
  table.sort(times)
  table.sort(minors)
  local middle = (#runs + 1) // 2
  return {tenured = tenured[middle], minors = minors[middle], time = times[1], most = times[#times]}
end

--- What was predicted of nurseries of n bytes, beside runs with them ('after') and with those of
-- the profile ('before', as many; M.measured's), in turn: {nursery, setting, runs (so many),
-- predicted (M.predict's, the times as long as the machine is now slower than it was when it made
-- the profile), before, measured (each {tenured, minors, time (the least), most}), recorded
-- (the time of the profile), alike (false: the runs before are not like the profile)}.
function M.verified(profile, n, setting, before, after)
  local b = M.measured(profile)
  local predicted, was, is = M.predict(profile, n), ofruns(before), ofruns(after)
  local slower = b.time > 0 and was.time / b.time or 1
  predicted.time, predicted.timeerror = predicted.time * slower, predicted.timeerror * slower
  is.nursery = after[1].allocated // after[1].minors
  return {nursery = n, setting = setting, runs = #after, predicted = predicted, before = was,
          measured = is, recorded = b.time,
          alike = math.abs(was.minors / b.minors - 1) < ALIKE and
                  math.abs(was.tenured / math.max(1, b.tenured) - 1) < ALIKE}
end

--- The size, of those that were seen, with the least time, if that is less than now by ADVISED
-- standard errors and by a tenth; else nil.
function M.best(advice)
  local best
  for _, p in ipairs(advice.now.large and {} or advice.sizes) do
    if not p.beyond and p.time + ADVISED * p.timeerror < advice.now.time and
       p.time < 0.9 * advice.now.time and (not best or p.time < 0.95 * best.time) then
      best = p
    end
  end
  return best
end

return M
