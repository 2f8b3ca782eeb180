-- SPDX-License-Identifier: MIT
-- Advice about the size of the nursery: predicts the cost of other sizes from a profile.
--
-- A prediction for a size has three parts:
--
--   - the share of bytes that survive, from asamp.sums.survival, corrected by the observed collections
--   - the CPU time of a minor collection: a constant, plus a cost per allocated and per tenured byte
--   - the time of major collections, which is proportional to their number
--
-- The error of a prediction includes the difference between the model and the observed collections.

local lifetimes = require "asamp.sums.lifetimes"
local order = require "asamp.sums.order"
local survival = require "asamp.sums.survival"
local totals = require "asamp.sums.totals"

local M = {}

--- Largest nursery, in bytes, that LUA_GC permits: M.setting adds an eighth, and the limit is 1024M.
M.MOST = 910 << 20

-- Limits of predictions:
--
--   - SURE: the observed collections correct the model if they differ from it by more than 1 standard error
--     (near).
--   - ADVISED: a nursery size is recommended if the time that it saves is at least 2 standard errors.
--   - SAMPLES: a prediction needs the bytes of 40 samples.
local SURE, ADVISED, SAMPLES = 1, 2, 40
-- The blocks of a program are large if nurseries are filled 10% beyond their planned size: large blocks then
-- decide when collections run.
local LARGE = 0.1
-- A prediction for a nursery size uses all observed collections. Those with nurseries of similar size have
-- larger weights, from 0 to 1 (nearness).
--
--   - NEXT: the weight is 1 / e if the two sizes differ by the factor 1.22 (e^0.2).
--   - ENOUGH: if the sum of the weights is below 12, the mean of all collections is used instead.
local NEXT, ENOUGH = 0.2, 12
-- Limits that determine the error of predictions:
--
--   - ONESIZE: a run had about one nursery size if the logarithms of its sizes have a standard deviation
--     below 0.3. With M.setting, which varies sizes by an eighth, the deviation is 0.07.
--   - HALF: a run with one nursery size shows little about other sizes. So the error of its predictions
--     includes half of survival.doubt, the uncertainty of the survival model.
--   - OCTAVE: used if the collector chose the nursery sizes. The error of a prediction for a smaller size
--     includes 10% of the tenured bytes for each factor of 2 between this size and their mean. The reason is
--     that a small nursery tenures an unfinished tree together with its dead parts. At a sixth of its mean
--     size, the program binary_trees of bench/load.lua tenures 1.5 times the predicted bytes.
local ONESIZE, HALF, OCTAVE = 0.3, 0.5, 0.1
-- Settings of the robust fit of costs (bybyte; Huber 1964):
--
--   - FAR: measurements that differ from the fit by more than 2 standard deviations have a smaller weight.
--   - ROUNDS: number of iterations.
local FAR, ROUNDS = 2, 5
-- Shares of the time of a minor collection that are assumed before the measurements are used (a prior):
-- {share, standard error of the share}.
--
--   - FIXED: the part that does not depend on bytes. It is small in the programs of bench/advise, which have
--     few roots.
--   - TENURED: the part for tenured bytes.
--
-- The rest is the part for the bytes allocated in the nursery.
local FIXED, TENURED = {0.1, 0.3}, {0.4, 0.25}
-- If a nursery is twice or half as large as the observed ones, the processor's caches make its time uncertain
-- by 5%.
local CACHES = 0.05
-- Limits of two lists of lines. A line needs at least LEAST samples to be in one of them.
--
--   - Nearly all survive: the share LIVE of the line's samples survives, and these are the share WORTH of all
--     bytes that survive.
--   - Nearly all die young: the share DIE of the line's samples dies young, and the line allocates the share
--     WORTH of all bytes.
local LEAST, LIVE, DIE, WORTH = 30, 0.9, 0.99, 0.01
local PAUSES = 5
-- A major collection starts for one of two reasons: the heap has grown, usually by at least 512 KiB
-- (leastgrowth in lua/gc/pace/pace.c), or the program has allocated much. If a run tenured fewer than GROWTH
-- bytes between two major collections, on average, the model assumes the second reason.
local GROWTH = 512 << 10
-- A prediction is compared with new runs of the program (M.verified). It only applies to them if the program
-- still does the work of the profiled run: with the same nursery size, the numbers of minor collections and
-- of tenured bytes must differ by less than 10% from the profile's.
local ALIKE = 0.1

-- {== time ==================================================================

-- Returns the minor collections of the profile. A row has the means of some successive collections:
--
--   - n: number of these collections
--   - planned: planned size of the nursery, bytes
--   - filled: bytes allocated in the nursery
--   - tenured: tenured bytes of one collection
--   - us: CPU time, without slices of major collections
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

-- Returns the weight of an observed collection in a prediction for another nursery size: from 1 for equal
-- sizes down to 0.
--
-- planned: size of the nursery of the collection
-- n: size for the prediction
-- part: the weight is 1 / e if the logarithm of the quotient of both sizes is 'part' or -part
local function nearness(planned, n, part)
  return math.exp(-(math.log(math.max(planned, 1) / n) / part) ^ 2)
end

-- Compares each minor collection with the one before. Returns a list of the differences: {filled, tenured
-- (bytes), us, n (weight)} each. Other influences on the time, such as the size of the heap, are nearly equal
-- in both collections and cancel.
--
-- rows: minor collections (minorsof)
-- us: mean time of a collection
-- mean: {filled, tenured}: mean bytes of a collection
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

-- Estimates the cost of a byte allocated in the nursery, and of a tenured byte:
--
--   - filled: us per allocated byte
--   - tenured: us per tenured byte
--   - cov: covariances of these two estimates: {ff, ft, tt}; f is 'filled', t is 'tenured'
--
-- The method is a ridge regression (least squares with a prior; Hoerl and Kennard 1970): if all collections
-- have equal sizes, only the prior separates the two costs.
--
-- rows: minor collections (minorsof)
-- us: mean time of a collection
-- mean: {filled, tenured}: mean bytes of a collection
local function bybyte(rows, us, mean)
  local list, x, deviation = differences(rows, us, mean), nil, us
  local a, b = us / mean.filled, us / math.max(1, mean.tenured)
  -- The prior of the two costs, from the assumed shares FIXED and TENURED of a collection's time.
  -- a0, b0: expected us per filled and per tenured byte; aa, ab, bb: inverse of their covariance matrix.
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
  -- The cost of the bytes must not exceed the time of the collection.
  if known > us then
    x.filled, x.tenured = x.filled * us / known, x.tenured * us / known
  end
  return x
end

-- Returns the costs of minor collections:
--
--   - us: time of all of them
--   - fixed: us of one collection, without the cost of its bytes
--   - filled, tenured: us per byte allocated in the nursery, and per tenured byte
--   - mean: {filled, tenured}: mean bytes of one collection
--   - cov: covariances {ff, ft, tt} of the estimated costs 'filled' and 'tenured' (bybyte)
--
-- rows: minor collections (minorsof)
-- now: measurements of the profiled run (M.measured)
local function costs(rows, now)
  local all = math.max(0, now.time - now.major) * 1e6
  local us, mean = all / now.minors, {filled = now.filled / now.minors, tenured = now.tenured / now.minors}
  local x = bybyte(rows, math.max(us, 1e-3), mean)
  x.us, x.mean = all, mean
  x.fixed = us - x.filled * mean.filled - x.tenured * mean.tenured
  return x
end

-- Predicts the time in us, and its standard error, of all minor collections with another nursery size.
--
-- x: costs of minor collections (costs)
-- now: measurements of the profiled run (M.measured)
-- minors: number of minor collections with that size
-- tenured: bytes that they tenure
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

--- Returns measurements of the collector in the profiled run, or nil if the profile lacks data.
--
--   - allocated, tenured: bytes
--   - share: tenured / allocated
--   - minors, majors: numbers of collections
--   - time, major: CPU seconds of all collections, and of major ones
--   - nursery: mean size, bytes
--   - filled: bytes allocated in all nurseries
--   - over: mean bytes by which a nursery exceeds its planned size
--   - held: largest reserved size of the heap, bytes
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

-- Returns the model from which predictions are made, or nil if the profile has too few samples.
--
--   - now: measurements of the profiled run (M.measured)
--   - s: model of survival by age (survival.of)
--   - rows: minor collections (minorsof)
--   - known: for each row, the bytes that one collection tenures according to the model
--   - expected: bytes that all collections together tenure according to the model
--   - factor: bytes that the collector tenured, divided by the bytes that survived according to the samples
--   - cost: costs of minor collections (costs)
--   - chosen: true: the collector chose the nursery sizes
--   - doubted: factor, 0 to 1, of survival.doubt, the uncertainty of the survival model. The product is a
--     part of the error of a prediction
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

-- Compares the model with the collections whose nurseries had about n bytes. Returns three numbers:
--
--   1. a factor for the predicted tenured bytes: the tenured bytes of these collections, divided by those
--      that the model expects
--   2. the standard error of this factor
--   3. the mean number of bytes by which these nurseries exceed their planned size
--
-- The factor is corrected for chance:
--
--   - There are fewer than ENOUGH such collections: all three numbers are those of all collections.
--   - The collector chose the sizes itself (b.chosen): the factor and the excess are those of all
--     collections. The error is at least the part of the difference between both factors that is not due to
--     chance.
--   - Otherwise: the factor is that of all collections plus this part of the difference (positive-part
--     James-Stein estimator).
--
-- b: the model (result of basis)
-- n: size of the nursery, bytes
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

-- Returns the mean number of bytes by which a major collection starts too late: half of the bytes between two
-- minor collections, because only these check whether it must start.
--
-- rows: minor collections (minorsof)
-- field: "filled" or "tenured": the bytes that are counted
local function lateness(rows, field)
  local bytes, squares = 0, 0
  for _, r in ipairs(rows) do
    bytes, squares = bytes + r.n * r[field], squares + r.n * r[field] ^ 2
  end
  return squares / math.max(1, bytes) / 2
end

-- Returns two values: the predicted time of major collections, divided by the observed one; and the
-- uncertainty of this quotient.
--
-- b: the model (result of basis)
-- minors, tenured: predicted number of minor collections, and the bytes that they tenure
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
  if b.chosen then
    unsure = unsure + OCTAVE * math.max(0, math.log(minors / now.minors, 2)) * tenured
  end
  if size > s.reach then
    -- With a larger nursery than all observed ones, objects reach a greater age before their first
    -- collection. Their mortality at such an age is unknown. Half of the bytes that survived the largest
    -- observed nursery are expected to die, with an error of the same size.
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

--- Predicts the collector's work in a run with another nursery size. Returns nil if the profile has too few
-- samples. Fields of the result:
--
--   - nursery: the parameter n
--   - minors: number of minor collections
--   - tenured, tenurederror: bytes, and their error
--   - time, timeerror: CPU seconds of all collections, and their error
--   - held: largest reserved size of the heap, bytes
--   - beyond: true: n is above all observed sizes
--
-- Errors are standard errors, plus allowances for effects that the model does not include.
--
-- n: size of the nursery, bytes
function M.predict(profile, n)
  local b = basis(profile)
  return b and predict(b, n)
end

--- Returns the advice, or nil if the profile has too little data.
--
--   - now: measurements of the profiled run (M.measured)
--   - sizes: predictions (M.predict) for 6 sizes, powers of 2 from about a quarter of the present one to 8
--     times of it
--   - classes, lines: results of lifetimes.classes and lifetimes.lines
--   - live: lines whose objects nearly all survive
--   - die: lines whose objects nearly all die young. Fields of a line in 'live' or 'die':
--     - file, line, name: the line's file, number and function
--     - samples, bytes: allocated samples and bytes whose survival is known
--     - survived, survivedbytes: samples and bytes that survived
--     - alivebytes: bytes alive at the end
--     - share, error: share of the samples that survived, and its standard error
--   - pauses: rows for the PAUSES longest pauses. Fields of a row:
--     - time: time of the pause, seconds since the start
--     - us: length of the pause
--     - major: true: the pause of a major collection
--     - slice: true: the pause was mostly a slice of a major collection
--     - tenured: mean tenured bytes of a collection
--     - inuse: bytes in use after the pause
--     - alone: true: the row is a single collection; else several are merged
--     - remembered: number of scanned objects of the remembered set
--     - stacks: number of scanned stack slots
--     - weak: number of visited entries of weak tables
--     - listed: number of visited threads and objects with finalizers
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

--- Returns the value of LUA_GC for nurseries of about n bytes. Sizes vary by an eighth, because a single size
-- could stay in step with a loop of the program. 'tuning': the present value of LUA_GC, whose other words are
-- kept, or nil if there is none.
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

-- Summarizes several runs of the same program:
--
--   - tenured: median of the tenured bytes
--   - minors: median number of minor collections
--   - time: shortest time in seconds, which is the best estimate, because other load only makes a run longer
--   - most: longest time in seconds
--
-- runs: measurements of each run (M.measured)
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

--- Compares a prediction with new runs. All times are in seconds.
--
--   - nursery: the parameter n, bytes
--   - setting: the parameter, the value of LUA_GC for this size
--   - runs: number of runs with this value
--   - predicted: the prediction (M.predict), with times scaled to the machine's present speed
--   - before, measured: summaries (ofruns) of the runs with the old and with the new size
--   - recorded: time in the profile
--   - alike: true: runs with the old size differ from the profile by less than the share ALIKE
--
-- before, after: new runs with the profile's size and with n bytes, made alternately (results of M.measured)
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

--- Returns the prediction for the nursery size to recommend, or nil if there is none. A size must save at
-- least 10% of the collector's time, and at least ADVISED standard errors of the prediction. Sizes above all
-- observed ones are ignored. Returns nil, too, if large blocks decide when collections run.
--
-- advice: result of M.of
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
