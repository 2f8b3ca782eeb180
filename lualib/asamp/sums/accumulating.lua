-- SPDX-License-Identifier: MIT
-- Finds containers that accumulate: tables, trees and chains whose objects are not removed. Pure.
--
-- The input is the births of live samples (asamp.sums.births), by two clocks: allocated bytes,
-- and the program's CPU time. So no rule depends on the speed of the machine. A container
-- accumulates if it
--
--   - goes on: it had samples until the end (function goeson), and
--   - keeps its objects: those of the first half are alive as often as those of the second
--     (ofkept), or
--   - grows in spite of removals, as a queue does (ofgrowing).
--
-- The last two are "maybe" if chance may have kept the old objects of few samples (issure), if the
-- program worked at its end without allocating (TAIL), or if the run is too short to know (COARSE).
-- If a fifth of the earlier and three fifths of the later survivors are alive, 1 of 20 containers
-- with 12 survivors in each half keeps its objects by chance, and 1 of 90 is sure (simulated).
--
-- A container that is filled until the end of the program and never emptied looks like a leak.

local births = require "asamp.sums.births"
local holders = require "asamp.sums.holders"

local M = {}

local LEAST, PARTS = births.LEAST, births.PARTS
local COLLECTIONS = 4  -- fewer leave no time for objects to die
local FEW = 4         -- fewest samples of a container that is reported as having too few
-- For goeson: improbability of a stretch without samples, by allocated bytes (STOP) and by CPU
-- time (QUIET), as n of e^-n; and the least share of the CPU time (IDLE).
local STOP, QUIET, IDLE = 7, 3.5, 1 / 10
-- KEPT: how often older objects are alive, relative to newer ones. EARLY: part of the live bytes
-- from the second half; a container filled in the first half has less.
local KEPT, EARLY = 4 / 5, 1 / 4
-- For issure: ratio of shares, and standard errors; 1 of 20 ratios is ERRORS or more too high.
local SURE, ERRORS = 1 / 2, 1.6
-- For ofgrowing: factor of growth of the live heap in each quarter; growth in the second half
-- relative to the first; part of a container's late bytes that the growth must explain; part of
-- the run in which a container must have its first sample.
local GROWTH, EVEN, NET, YOUNG = 1.02, 3 / 4, 1 / 4, 7 / 8
local LEFT = 1 / 2    -- as KEPT, if the walk found nothing; then recent garbage counts as alive
local FREED = 1 / 10  -- share reached by the heap walk below which the program's end has freed
                      -- nearly everything
local LARGE = 1 / 20  -- share of the live samples below which a container is not judged
local NONE = 1 / 8    -- share of a line's survivors below which the first half counts as empty
local DELAY = 1 / 2   -- share of the CPU time before the first object of a container from which it
                      -- was filled late
local START = 1 / 8   -- share of the rate of the whole run that a leak's first quarter has at
                      -- least
local TAIL = 1 / 100  -- share of the CPU time from which a program has worked at its end without
                      -- allocating
local COARSE = 0.16   -- share of the CPU time that the last period between collections may take
local CAUSE = 1 / 2   -- share of the heap's growth from which a container is its cause
local LOADED = 1 / 2  -- kept share of the allocated bytes from which a program mainly loads data
local OWN = 1 / 20    -- share of a container's samples below which a line is ignored

local function add(t, key, n)
  t[key] = (t[key] or 0) + n
end

-- {== tests =================================================================

-- Returns the last part with samples, the number of parts after it, and the longest distance
-- between two parts with samples.
local function stretches(parts)
  local last, longest
  for part = 0, PARTS - 1 do
    if (parts[part] or 0) > 0 then
      longest = math.max(longest or 0, last and part - last or 0)
      last = part
    end
  end
  return last, PARTS - 1 - last, longest
end

-- Returns "leak" if a container had samples until the end of the run, "maybe" if this is
-- doubtful, nil if it has stopped: the time without samples at the end is twice as long as any
-- before (of CPU time all but one), and improbable at a steady rate.
local function goeson(run, c)
  local last, after, longest = stretches(c.parts)
  local first = 0
  while (c.parts[first] or 0) <= 0 do
    first = first + 1
  end
  local missing = c.n * after / (PARTS - first)
  local verdict = after > longest and missing > 2 * STOP and "maybe" or "leak"
  if after > 2 * longest and missing > STOP then
    return nil
  elseif not c.lasts[last] then
    return verdict
  end
  local pauses, before, sum, middle, left = {0, 0}, nil, 0, nil, 0
  for part = 0, last do
    local t = c.lasts[part] and run.worked(c.lasts[part])
    pauses[#pauses + 1] = before and t and t - before or nil
    before, sum = t or before, sum + (c.parts[part] or 0)
    if not middle and t and sum >= c.n / 2 then
      middle, left = t, c.n - sum
    end
  end
  table.sort(pauses, function(a, b) return a > b end)
  local pause, to = pauses[2], run.to  -- other processes may have caused the longest one
  local rest = to - before
  -- at the rate of the later half of the samples: the period of sampling may have grown
  local lacking = before > middle and left * rest / (before - middle) or c.n * rest / to
  if rest <= pause or rest < IDLE / 2 * to or lacking <= QUIET or after / PARTS >= rest / to / 2 then
    return verdict
  end
  local stopped = rest > 2 * pause and rest >= IDLE * to
  return not stopped and (lacking > 2 * QUIET and "maybe" or verdict) or nil
end

-- Returns true if half (DELAY) of the program's CPU time had passed before the lines of a
-- container allocated their first survivor. 'lines': see births.of.
local function isdelayed(run, c, lines)
  local first = math.huge
  for key in pairs(c.keys) do
    for _, time in pairs(lines[key] and lines[key].lasts or {}) do
      first = math.min(first, time)
    end
  end
  return run.worked(first) >= DELAY * run.to
end

-- Returns the share of the allocated bytes that is alive at the end.
local function keptshare(profile)
  local kept, all = 0, 0
  for _, bytes in ipairs(profile.alive.bytes) do
    kept = kept + bytes
  end
  for _, bytes in ipairs(profile.born.bytes) do
    all = all + bytes
  end
  return kept / math.max(all, 1)
end

-- Returns true if a holder (path of references, perhaps cut) is a local variable of a running
-- function that allocated all lines in 'keys'.
local function isofrunning(holder, keys)
  local place = (holder or ""):match '^local ".-" of (.*)$'
  if not place or place:find(holders.ARROW, 1, true) then
    return false
  end
  for key in pairs(keys) do
    local file, _, name = births.lineof(key)
    local whole, start = ("%s (%s"):format(name, file), place:match "^(.*)\u{2026}$"
    if not (start and whole:sub(1, #start) == start) and
       not (place:sub(1, #whole) == whole and place:find("^:?%d*%)$", #whole + 1)) then
      return false
    end
  end
  return true
end

-- Returns two sums: of the values in the parts before 'middle' (nil: middle of the run), and of
-- those from there on.
local function halves(parts, middle)
  local n = {0, 0}
  for part, value in pairs(parts) do
    add(n, part >= (middle or PARTS // 2) and 2 or 1, value)
  end
  return n[1], n[2]
end

-- Returns the part of the run that divides the survivors of a line into earlier and later ones:
-- the middle of the run; if nearly all are of the second half, the middle between the first
-- survivor and the end.
local function middleof(survivors)
  local early, late = halves(survivors)
  if early >= NONE * (early + late) then
    return PARTS // 2
  end
  local first = PARTS // 2
  while first < PARTS - 1 and (survivors[first] or 0) <= 0 do
    first = first + 1
  end
  return (first + PARTS) // 2
end

-- Returns how much less often the earlier survivors of a line are alive than the later ones: 1
-- equally often, 0 never. Arguments are numbers of samples by part: of a container, of all
-- survivors, alive in all containers. Also
-- returns the live samples of both halves, and the survivors of which they are.
local function retention(own, survivors, alive)
  local middle, share, of = middleof(survivors), {}, {}
  local mine, born, all = {halves(own, middle)}, {halves(survivors, middle)}, {halves(alive, middle)}
  for half = 1, 2 do
    of[half] = math.max(born[half] - (all[half] - mine[half]), mine[half], 1)
    share[half] = mine[half] / of[half]
  end
  return share[1] > 0 and share[1] / math.max(share[2], 1e-9) or 0, mine, of
end

-- Returns true if the samples are sufficient to say that earlier survivors are alive at least SURE times as
-- often as later ones: the ratio of the shares, less ERRORS standard errors of its logarithm. 'mine', 'of':
-- live samples and survivors of both halves.
local function issure(mine, of)
  local ratio, variance = 1, 0
  for half = 1, 2 do
    local share = mine[half] / of[half]
    ratio = half == 1 and share or ratio / math.max(share, 1e-9)
    variance = variance + (1 - share) / math.max(mine[half], 1)
  end
  return ratio * math.exp(-ERRORS * math.sqrt(variance)) >= SURE
end

-- Returns the sum of lines: {n, parts, bytes, lasts, keys (set), most (key of the line with the most
-- samples)}.
local function sum(lines)
  local c = {n = 0, parts = {}, bytes = {}, lasts = {}, keys = {}}
  for key, own in pairs(lines) do
    local most = c.most and lines[c.most].n or -1
    c.most = (own.n > most or own.n == most and key < c.most) and key or c.most
    c.n, c.keys[key] = c.n + own.n, true
    for part, n in pairs(own.parts) do
      add(c.parts, part, n)
      c.lasts[part] = own.lasts[part] and math.max(c.lasts[part] or 0, own.lasts[part])
      add(c.bytes, part, own.bytes[part])
    end
  end
  return c
end

-- Returns the growth of the heap in the second half relative to that in the first; 0: it did not
-- grow in each quarter, or its course is unknown.
local function evenness(course)
  for q = 1, 3 do
    if not course or course((q + 1) / 4) < GROWTH * course(q / 4) then
      return 0
    end
  end
  return (course(1) - course(1 / 2)) / (course(1 / 2) - course(0))
end

-- Returns true if the heap did not grow over the second half.
local function level(course)
  return course and course(1) < GROWTH * course(1 / 2)
end

-- Returns the growth of the heap over the second half; infinite: it did not grow. If the course
-- is unknown, returns 'late', an upper limit: the live bytes of the second half.
local function growthof(course, late)
  local growth = course and course(1) - course(1 / 2) or not course and late or 0
  return growth > 0 and growth or math.huge
end

-- Returns true if lines were in use in the first quarter of the run: it has at least START of the
-- samples that a steady rate would give it.
local function isfromstart(parts)
  local early, all = 0, 0
  for part, n in pairs(parts) do
    early, all = early + (part < PARTS // 4 and n or 0), all + n
  end
  return early > 0 and early >= START * all / 4
end

-- Returns the verdict on the lines of a container that keep their objects: "leak", "maybe", "few"
-- (too few samples) or nil. 'born': bytes of the second half that all containers keep.
--
-- A container that has lost 2 of 3 objects of the first half passes with 8 samples (LEAST) in 1
-- of 50 runs, with 16 in 1 of 1,000.
local function ofkept(run, c, course, born)
  local early, late = halves(c.bytes)  -- not samples: periods may differ
  local verdict = c.n >= FEW and not level(course) and goeson(run, c)
  if not verdict then
    return nil
  elseif c.n < LEAST then
    return early > 0 and late > 0 and "few" or nil
  end
  local lower = math.min(early, late) / math.max(early + late, 1)
  return late >= EARLY * (early + late) and isfromstart(c.parts) and verdict or
         (lower >= EARLY / 2 or early < late and late >= CAUSE * growthof(course, born)) and "maybe" or nil
end

-- Returns the verdict on a container that has removals. 'growth': growth of the heap in the
-- second half that no other container explains; 'late': bytes of the second half that this one
-- keeps; 'lines': see births.of.
--
-- A heap of constant size passes in less than 1 of 100 runs.
local function ofgrowing(run, c, course, growth, late, lines)
  local first, survivors = 0, {}
  for key in pairs(c.keys) do
    for part, n in pairs(lines[key] and lines[key].survivors or {}) do
      add(survivors, part, n)
    end
  end
  while first < PARTS and (c.parts[first] or 0) <= 0 do
    first = first + 1
  end
  if c.n < LEAST or first >= YOUNG * PARTS or growth < NET * late or not isfromstart(survivors) then
    return nil
  end
  local verdict, even = goeson(run, c), evenness(course)
  return even >= EVEN and verdict or even >= EVEN / 2 and verdict and "maybe" or nil
end

-- ==}

local function occupied(parts)
  local n = 0
  for _, samples in pairs(parts) do
    n = n + (samples > 0 and 1 or 0)
  end
  return n
end

-- Judges the objects that no heap walk reached and no collection found dead: the end of the
-- program, such as the return of its main function, has freed them. Ignores lines that allocated
-- parts of tables which the walk reached ('tables': set of keys), because the program has emptied
-- these.
local function unreached(run, profile, lines, alive, tables, course, keep)
  local left, reached = 0, 0
  for key, l in pairs(lines) do
    left = left + l.n
    reached = reached + (alive[key] and alive[key].n or 0)
  end
  if reached > FREED * left or evenness(course) < EVEN then
    return
  end
  local kept = {}
  for key, l in pairs(lines) do
    kept[key] = not tables[key] and l.n >= OWN * left and l.n >= (l[1] + l[2]) / 2 and
                retention(l.parts, l.survivors, l.parts) >= LEFT and l or nil
  end
  local c = sum(kept)
  keep(c, ofkept(run, c, course, math.huge), {holder = births.holderof(profile, c.keys), vectors = {}})
end

-- Returns the live samples of each line, {key = {n, parts}}; their number; and the set of the
-- keys of lines that allocated parts of live tables.
local function living(containers)
  local alive, all, tables = {}, 0, {}
  for _, c in ipairs(containers) do
    for key, own in pairs(c.lines) do
      alive[key] = alive[key] or {n = 0, parts = {}}
      alive[key].n = alive[key].n + own.n
      for part, n in pairs(own.parts) do
        add(alive[key].parts, part, n)
      end
      all = all + own.n
    end
    for key in pairs(c.vectors) do
      tables[key] = true
    end
  end
  return alive, all, tables
end

-- Returns the position on the clock of CPU time, from 0 to 1, after which a container had no sample, if the
-- verdict of goeson is that it has stopped; nil: it goes on.
local function stoppedat(run, c)
  local last = 0
  for _, time in pairs(c.lasts) do
    last = math.max(last, time)
  end
  return c.n > 0 and goeson(run, c) ~= "leak" and run.worked(last) / math.max(run.to, 1) or nil
end

-- Returns {holder, n, most, bytes (live), stopped (see stoppedat)} of a container that has stopped and has
-- at least LEAST samples; nil: of another one.
local function loadedin(run, c, holder)
  local bytes, stopped = 0, c.n >= LEAST and stoppedat(run, c)
  for _, n in pairs(stopped and c.bytes or {}) do
    bytes = bytes + n
  end
  return stopped and {holder = holder, n = c.n, most = c.most, bytes = bytes, stopped = stopped} or nil
end

-- Returns the sum of the lines of a container that keep their survivors, that of all lines, and true if the
-- samples of the former are sufficient to be sure of this (issure).
local function keeping(c, lines, alive)
  local kept, every, mine, of = {}, sum(c.lines), {0, 0}, {0, 0}
  for key, own in pairs(c.lines) do
    if own.n >= OWN * every.n and lines[key] then
      local ratio, n, born = retention(own.parts, lines[key].survivors, alive[key].parts)
      if ratio >= KEPT then
        kept[key] = own
        for half = 1, 2 do
          mine[half], of[half] = mine[half] + n[half], of[half] + born[half]
        end
      end
    end
  end
  return sum(kept), every, next(kept) and issure(mine, of)
end

--- Returns the containers that accumulate; nil: the file has no heap walk, or no slices by bytes.
-- Fields:
--
--   - verdict: "leak"; "maybe": also in a run without a major collection, or if the program only
--     loaded data; "few": too few samples
--   - holder: path of references (text); nil: unknown
--   - n: number of live samples
--   - lines: set of keys (births.keyof); most: the one with the most samples
--   - vectors: bytes of parts of the container's tables, by the key of the line
--   - parts, of: number of parts of the run with live samples, and of all parts
--   - stopped: share of the CPU time after which the program did not allocate; nil: none
--
-- Also returns the container with the most live bytes that has stopped: {holder, n, most, bytes,
-- stopped (share of the CPU time at its last sample)}; nil: none.
function M.of(profile)
  local born = births.of(profile)
  if not born then
    return nil
  elseif #profile.collections < COLLECTIONS then
    return {}
  end
  local found, others, run = {}, {}, {}
  run.worked, run.to = births.worked(profile)
  local course = births.course(profile)
  local growth = course and course(1) - course(1 / 2) or 0
  local alive, all, tables = living(born.containers)
  local late, tail, unresolved = 0, births.tail(profile)
  local short, silent, loaded = profile.majors == 0 or unresolved > COARSE, tail >= TAIL, nil
  local loads = keptshare(profile) >= LOADED
  for _, c in ipairs(born.containers) do
    late = late + c.late
  end
  local function keep(c, verdict, container)
    local unsure = short or silent or isdelayed(run, c, born.lines) or
                   loads and container and isofrunning(container.holder, c.keys)
    verdict = verdict == "leak" and unsure and "maybe" or verdict
    if verdict then
      found[#found + 1] = {verdict = verdict, n = c.n, lines = c.keys, most = c.most,
                           parts = occupied(c.parts), of = PARTS,
                           vectors = container and container.vectors or {},
                           holder = container and container.holder,
                           stopped = silent and 1 - tail or nil}
    end
  end
  for _, c in ipairs(born.containers) do
    local kept, every, sure = keeping(c, born.lines, alive)
    if every.n >= LARGE * all then
      local verdict = ofkept(run, kept, course, late)
      verdict = verdict == "leak" and not sure and "maybe" or verdict
      if verdict == "leak" then
        keep(kept, verdict, c)
        growth = growth - c.late
      else
        others[#others + 1] = {container = c, every = every, kept = kept, verdict = verdict}
        local own = loadedin(run, every, c.holder)
        loaded = own and own.bytes > (loaded and loaded.bytes or 0) and own or loaded
      end
    end
  end
  for _, other in ipairs(others) do
    local c = other.container
    local verdict = ofgrowing(run, other.every, course, growth, c.late, born.lines)
    keep(verdict and other.every or other.kept, verdict or other.verdict, c)
  end
  unreached(run, profile, born.lines, alive, tables, course, keep)
  return found, loaded
end

return M
