-- SPDX-License-Identifier: MIT
-- Advice about the size of the nursery: predictions from a profile.
--
-- A prediction for a size has three parts. The surviving share is from asamp.sums.survival, corrected by
-- the collections of the profile (near). The CPU time of a minor collection is a constant, plus a
-- cost per filled and per surviving byte (bybyte). The time of major collections is proportional to their
-- number (M.predict).
--
-- Errors include the deviation of the same prediction from each collection of the profile.

local lifetimes = require "asamp.sums.lifetimes"
local order = require "asamp.sums.order"
local survival = require "asamp.sums.survival"
local totals = require "asamp.sums.totals"

local M = {}

--- The largest size for which M.setting returns a valid LUA_GC: its upper limit is 1024M.
M.MOST = 910 << 20

-- Least differences, in standard errors. SURE: of prediction and measurement, to correct the model. ADVISED:
-- of the times of two sizes, to recommend one (M.best). SAMPLES: fewest samples for a prediction.
local SURE, ADVISED, SAMPLES = 1, 2, 40
-- If nurseries exceed their planned size by more than this share, large blocks decide when collections run.
local LARGE = 0.1
-- A prediction for a size weights the observed nurseries by their similarity in size (nearness). NEXT: width
-- of the weight, a natural logarithm of sizes. ENOUGH: least sum of weights.
local NEXT, ENOUGH = 0.2, 12
-- ONESIZE: a run had about one nursery size if the logarithms of its sizes have a standard deviation below
-- this (0.07 with M.setting). HALF: a prediction for such a run adds this part of survival.doubt to its
-- error.
local ONESIZE, HALF = 0.3, 0.5
-- FAR: residuals above this multiple of the deviation are weighted down (Huber 1964). ROUNDS:
-- iterations of the fit.
local FAR, ROUNDS = 2, 5
-- Prior for the cost of a minor collection, each as {share of the collection's time, standard error}. FIXED:
-- the constant part, small as in the programs of bench/advise, which have few roots. TENURED: the part for
-- tenured bytes.
local FIXED, TENURED = {0.1, 0.3}, {0.4, 0.25}
-- Uncertainty of the cost because of the processor's caches: share of the time per factor of 2 between a
-- size and the observed one.
local CACHES = 0.05
-- A line with at least LEAST samples is listed in two cases: the share LIVE of its samples survives, and
-- these are the share WORTH of all surviving bytes; or the share DIE dies young, and the line has the share
-- WORTH of all bytes.
local LEAST, LIVE, DIE, WORTH = 30, 0.9, 0.99, 0.01
local PAUSES = 5
-- Growth of the heap, in bytes, that makes a major collection due (MIN_GROWTH in lua/gc/pace/pace.c). If the
-- heap grew by less since the previous one, allocated bytes made the major collection due.
local GROWTH = 512 << 10
-- Runs differ from the profile if their number of minor collections or tenured bytes differ by this part.
local ALIKE = 0.1

-- {== time ==================================================================

-- Returns rows for the minor collections of the profile; a row has the means of n successive ones: {planned
-- (size of the nursery), filled (bytes allocated in it), tenured (bytes), us (CPU time without slices of
-- major collections), n}.
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

-- Returns the weight, 0 to 1, of a nursery of 'planned' bytes in an estimate for n bytes. 'part': width
-- of the weight, as NEXT.
local function nearness(planned, n, part)
  return math.exp(-(math.log(math.max(planned, 1) / n) / part) ^ 2)
end

-- Returns the differences of successive collections: {filled, tenured, us, n (weight)}. Differences
-- cancel other influences on the cost, such as the size of the heap.
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

-- Fits the costs in us of a byte allocated in the nursery (filled) and of a tenured byte by ridge regression
-- (least squares with a prior; Hoerl and Kennard 1970): collections of equal size do not determine them.
-- 'us', 'mean': a collection's mean time, and mean filled and tenured bytes. Returns {filled, tenured (us
-- per byte), cov (covariances)}.
local function bybyte(rows, us, mean)
  local list, x, deviation = differences(rows, us, mean), nil, us
  local a, b = us / mean.filled, us / math.max(1, mean.tenured)
  -- aa, ab, bb: inverse of the prior's covariance matrix; a0, b0: its means. The units are us per filled
  -- byte (a) and per tenured byte (b), converted from the shares FIXED and TENURED.
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
  if known > us then  -- the cost of the bytes must not exceed the time of the collection
    x.filled, x.tenured = x.filled * us / known, x.tenured * us / known
  end
  return x
end

-- Returns the costs of minor collections: {us (time of all), fixed (us of one without the cost of bytes),
-- mean ({filled, tenured}: mean bytes of one), filled, tenured (us per byte), cov (covariances)}. Filled
-- bytes are those allocated in the nursery. 'now': result of M.measured.
local function costs(rows, now)
  local all = math.max(0, now.time - now.major) * 1e6
  local us, mean = all / now.minors, {filled = now.filled / now.minors, tenured = now.tenured / now.minors}
  local x = bybyte(rows, math.max(us, 1e-3), mean)
  x.us, x.mean = all, mean
  x.fixed = us - x.filled * mean.filled - x.tenured * mean.tenured
  return x
end

-- Predicts the time in us, and its standard error, of 'minors' minor collections that tenure 'tenured' bytes
-- in all and fill as many as the profile's. 'x': result of costs; 'now': of M.measured.
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

--- Returns the measurements of the collector; nil: the profile lacks data. Fields:
--
--   - allocated, tenured (bytes), share (tenured of allocated)
--   - minors, majors (numbers), time, major (CPU seconds: all; of major collections)
--   - nursery (mean size), filled (bytes allocated in all nurseries), over (mean bytes above a nursery's
--     size)
--   - held (largest reserved size of the heap, bytes)
--   - large: true: large blocks decide when collections run, so survival does not depend on age
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

local function isonesize(rows)
  local n, sum, squares = 0, 0, 0
  for _, r in ipairs(rows) do
    local log = math.log(math.max(r.filled, 1))
    n, sum, squares = n + r.n, sum + r.n * log, squares + r.n * log * log
  end
  return squares / n - (sum / n) ^ 2 < ONESIZE ^ 2
end

-- Returns the data for a profile's predictions; nil: too few. Fields include now (M.measured), s
-- (survival.of), factor (tenured bytes divided by their estimate from samples).
local function basis(profile)
  local now, s = M.measured(profile), survival.of(profile.ages or {})
  if not now or not s or s.bytes < SAMPLES * profile.period then
    return nil
  end
  local rows = minorsof(profile)
  local b = {now = now, s = s, rows = rows, known = {}, expected = 0, cost = costs(rows, now),
             chosen = not (profile.tuning or ""):find "nursery=",
             factor = s.mean > 0 and now.tenured / (s.mean * now.allocated) or 1}
  b.doubted = b.chosen and 1 or #rows > 0 and isonesize(rows) and HALF or 0
  for i, r in ipairs(b.rows) do
    b.known[i] = survival.share(s, r.filled) * r.filled * b.factor * now.allocated / now.filled
    b.expected = b.expected + r.n * b.known[i]
  end
  return #rows > 0 and b or nil
end

-- Returns how collections with nurseries of about n bytes deviate from the model b (basis): tenured bytes
-- divided by the expected ones, the standard error of this quotient, and the mean bytes by which nurseries
-- exceed their planned sizes. The quotient is that of all collections, plus the part of the difference from
-- it that chance does not explain (positive-part James-Stein estimator).
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

-- Returns the mean delay of a major collection after it is due, in bytes of 'what' ("filled" or "tenured").
-- Only minor collections detect that it is due, so it is half of a minor collection's bytes (mean weighted
-- by bytes). 'rows': result of minorsof.
local function lateness(rows, what)
  local bytes, squares = 0, 0
  for _, r in ipairs(rows) do
    bytes, squares = bytes + r.n * r[what], squares + r.n * r[what] ^ 2
  end
  return squares / math.max(1, bytes) / 2
end

-- Returns the factor by which the time of major collections grows if 'minors' collections tenure
-- 'tenured' bytes, and its uncertainty.
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
  if b.doubted > 0 then
    unsure = unsure + b.doubted * survival.doubt(s, size) * b.factor * factor * now.allocated
  end
  if size > s.reach then
    -- Mortality at this age was not observed: predicts that half of the bytes die, with that half as error.
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

--- Predicts a run with a nursery of n bytes: {nursery (n), minors (number), tenured, tenurederror (bytes),
-- time, timeerror (seconds of all collections), held (reserved bytes), beyond (true: n is above all observed
-- sizes)}. Errors are standard errors plus allowances for unknown effects.
function M.predict(profile, n)
  local b = basis(profile)
  return b and predict(b, n)
end

--- Returns the advice; nil: the profile has too little data. Fields:
--
--   - now: of M.measured
--   - sizes: M.predict for sizes around the present one
--   - live, die: lines whose objects nearly all survive, or die young: {file, line, name, samples,
--     bytes, survived, survivedbytes, alivebytes, share (that survives), error}
--   - pauses: the PAUSES longest: {time (seconds), us, major (true: of a major collection), slice (true:
--     mostly a slice of a major collection), tenured, inuse (bytes), alone (true: the row is a single
--     collection); numbers of scanned items: remembered (objects), stacks (slots), weak (entries of
--     weak tables), listed (threads, objects with finalizers)}
--   - classes, lines: results of lifetimes.classes and lifetimes.lines
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

--- Returns the value of LUA_GC for nurseries of about n bytes. Sizes vary by an eighth: a single size could
-- stay in step with a loop of the program. 'tuning': the present value, whose other words are kept, or nil.
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

-- Combines runs of the same program (M.measured): medians of tenured bytes and minor collections, the
-- shortest and the longest time. The shortest is the best estimate: other load only makes a run longer.
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

--- Compares a prediction with new runs, lists of results of M.measured: 'after' with nurseries of n bytes,
-- 'before' with those of the profile, run alternately. Times are in seconds. Fields of the result:
--
--   - nursery (n), setting, runs (number of runs 'after')
--   - predicted: M.predict, with times scaled to the machine's present speed
--   - before, measured (of 'after'): {tenured (bytes), minors (collections), time (shortest), most
--     (longest)}
--   - recorded: time in the profile
--   - alike: true: the runs 'before' differ from the profile by less than the share ALIKE, in minor
--     collections and in tenured bytes
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

--- Returns the predicted size with the shortest time, if it is shorter than the present one by
-- ADVISED standard errors and by a tenth; else nil. Ignores sizes beyond the observed ones.
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
