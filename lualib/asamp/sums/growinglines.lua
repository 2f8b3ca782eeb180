-- SPDX-License-Identifier: MIT
-- Decides whether a line leaks, from its samples by time slice. The line's sums are a row of
-- asamp.sums.keptlines. There are three tests:
--
--   - steady: the line keeps objects from most of the session
--   - grows: the line keeps a table that grew until late in the session
--   - stopped: the line has stopped allocating, so it is no leak

local keptlines = require "asamp.sums.keptlines"

local M = {}

local FEW = keptlines.FEW

--- Fewest kept samples of a likely leak.
M.LEAST = 12
--- A leak must keep bytes from the second half of the run that are at least 5% of the growth: the bytes by
-- which the live heap grew from the second to the last quarter of the run.
M.WORTH = 1 / 20
-- The survivors of a line from the second half of the run have at most 1.5 times as many bytes as the growth.
-- This limit only applies if the profile does not record which survivors died later.
local ROOM = 3 / 2
-- A line may leak if it keeps enough of the objects that it allocated:
--
--   - SURVIVED: at least half of their bytes. This is only required if the file does not record which
--     survivors died later.
--   - PARTS: objects from at least 75% of the time slices.
--   - LATE: at least 40% of the kept bytes are from the second half of the run.
local SURVIVED, PARTS, LATE = 1 / 2, 3 / 4, 2 / 5
-- A line that keeps at least 90% of its bytes may leak even if it keeps less than the share WORTH of the
-- growth. This rule only applies if the file records which survivors died later.
local ALL = 9 / 10
-- A line has stopped allocating if its rate at the end of the run is below 25% of its mean rate.
local SLOWER = 1 / 4
-- If the heap grows evenly, a line may leak if it keeps objects from half of the time slices, instead of the
-- share PARTS. The reason is a growing queue, which has removed its oldest objects.
local SOME = 1 / 2
-- Limits for a growing table (grows). Each time a table grows, a larger vector replaces its old one. So the
-- last vectors of a line show whether it keeps such a table:
--
--   - STEPS: the line allocated vectors in at least 3 time slices.
--   - LAST: of the vectors that it allocated in the last of these slices, it keeps at least FEW samples,
--     which have at least 25% of the bytes of all its vectors.
local STEPS, LAST = 3, 1 / 4

-- Returns true if a line keeps objects throughout the session. Three conditions must be met: the line keeps
-- objects from at least the share 'most' of the session, enough bytes from its second half (LATE), and some
-- bytes from its last quarter.
--
-- row: row of the line (keptlines.rows)
-- all: bytes that the line keeps
-- clock: sampled bytes by time slice (result of keptlines.clock)
-- at: function that maps a time slice to its end and its length, both as shares of the session (0 to 1); nil:
-- the slice is ignored
-- most: share of the session from which the line must keep objects
local function spread(row, all, clock, at, most)
  local covered, late, last, variance = 0, 0, 0, 0
  for part, bytes in pairs(row.bytesin) do
    local passed, own = at(part)
    if row.inpart[part] > 0 and passed then
      covered = covered + own
      local islate = passed - own / 2 >= 1 / 2
      late = late + (islate and bytes or 0)
      variance = variance + (islate and bytes * clock.squares[part] / clock.parts[part] or 0)
      last = last + (islate and passed > 3 / 4 + 1e-9 and bytes or 0)
    end
  end
  return covered >= most - 1e-9 and late + math.sqrt(variance) >= LATE * all and last > 0
end

--- Returns true if a line keeps enough bytes, and if it allocated them throughout the run. There are two
-- tests for the second condition, and one is enough:
--
--   - The kept bytes are from most time slices.
--   - The kept bytes are from slices with most of the sampled bytes. This test does not apply to a flight
--     recorder.
--
-- row: row of the line (keptlines.rows)
-- n: number of the time slices that count (keptlines.busy)
-- busy: map from these slices to their numbers (keptlines.busy)
-- growth: bytes by which the heap grew
-- proved: true: the file shows which survivors died later
-- ring: true: the file is from a flight recorder. The bytes of its first slice are ignored, because they
-- include older objects
-- straight: true: the heap grows evenly. Then fewer slices are enough, because a growing queue has removed
-- its first elements
-- clock: sampled bytes by time slice (result of keptlines.clock)
function M.steady(row, n, busy, growth, proved, ring, straight, clock)
  local parts, all, passed = 0, 0, {}
  for part, bytes in pairs(row.bytesin) do
    all = all + (ring and part == 0 and 0 or bytes)
    parts = parts + (row.inpart[part] > 0 and busy[part] and 1 or 0)
  end
  local sum, total = 0, 0
  for part in pairs(busy) do
    total = total + (clock.parts[part] or 0)
  end
  for part = 0, clock.n - 1 do
    sum = sum + (busy[part] and clock.parts[part] or 0)
    passed[part] = sum / math.max(total, 1)
  end
  row.parts, row.of = parts, n
  if row.kept < M.LEAST or not (spread(row, all, clock, function(part)
      return busy[part] and (busy[part] + 1) / n, 1 / n
    end, straight and SOME or PARTS) or not ring and spread(row, all, clock, function(part)
      return busy[part] and passed[part], (clock.parts[part] or 0) / math.max(total, 1)
    end, PARTS)) then
    return false
  end
  return (row.late >= M.WORTH * growth or proved and row.keptbytes >= ALL * row.bytes) and
         (proved or row.keptbytes >= SURVIVED * row.bytes and row.late <= ROOM * growth)
end

--- Returns true if a line has stopped allocating: its rate at the end of the run is below the share SLOWER of
-- its earlier rate. The earlier rate is that of the bytes that the line keeps. There are two tests, and one
-- is enough: rates per unit of time, and rates per sampled byte of the program.
--
-- Must not be called for a flight recorder. Its first time slice contains older objects, so the earlier rate
-- would be too high.
--
-- row: row of the line (keptlines.rows)
-- n: only the first n time slices count
-- bins: profile.bins: the samples by time slice
-- clock: sampled bytes by time slice (result of keptlines.clock)
-- ran: set of time slices in which the program ran
-- time: map from time slice to its number of time samples
function M.stopped(row, n, bins, clock, ran, time)
  local from, ntail, before, tail = math.max(n < bins.n and n or 0, bins.n * 3 // 4), 0, 0, 0
  for part in pairs(ran) do
    ntail = ntail + (part >= from and 1 or 0)
    tail = tail + (part >= from and time[part] or 0)
  end
  for part, samples in pairs(time) do
    before = before + (part < n and samples or 0)
  end
  local after, late, early, all = 0, 0, 0, 0
  for part, bytes in pairs(row.sampled) do
    after = after + (part >= from and bytes or 0)
    late = late + (part >= clock.from and bytes or 0)
  end
  for part, bytes in pairs(row.bytesin) do
    early, all = early + (part < clock.from and bytes or 0), all + bytes
  end
  local bytime = all * math.min(ntail / n, before > 0 and tail / before or 1)
  local bybytes = clock.before > 0 and early * (clock.all - clock.before) / clock.before or 0
  local few, fewlast = FEW * keptlines.period(clock, from), FEW * keptlines.period(clock, clock.from)
  return bytime > 0 and bytime >= few and after < SLOWER * bytime or
         bybytes > 0 and bybytes >= fewlast and late < SLOWER * bybytes
end

--- Returns four numbers about the vectors that a line allocated:
--
--   1. the number of samples
--   2. the number of kept samples
--   3. the number of time slices in which the line allocated vectors
--   4. the last of these slices
function M.vectors(row)
  local made, kept, steps, last = 0, 0, 0, -1
  for part, samples in pairs(row.vector.made) do
    made, steps, last = made + samples, steps + 1, math.max(last, part)
    kept = kept + row.vector.kept[part]
  end
  return made, kept, steps, last
end

--- Replaces the numbers in the row of a line by those of its vectors alone.
--
-- row: row of the line (keptlines.rows)
-- made, kept: number of samples of vectors, and of kept ones
-- steps: number of time slices in which the line allocated vectors
-- n: number of all time slices
function M.reduce(row, made, kept, steps, n)
  for _, key in ipairs{"survived", "survivedbytes", "keptbytes", "types"} do
    row[key] = row.vector[key]
  end
  row.samples, row.kept, row.late = made, kept, row.keptbytes
  row.parts, row.of = steps, n
end

--- Returns true if a line keeps the vectors (array or hash parts) of a table that grew until late in the run.
-- In this case, replaces the numbers in the line's row by those of the vectors alone (M.reduce).
--
-- row: row of the line (keptlines.rows)
-- n: number of time slices
function M.grows(row, n)
  local made, kept, steps, last = M.vectors(row)
  local latest = row.vector.kept[last] or 0
  if steps < STEPS or last < n * 2 // 5 or latest < FEW or row.vector.bytes[last] < LAST * row.vector.all then
    return false
  end
  M.reduce(row, made, kept, steps, n)
  return true
end

return M
