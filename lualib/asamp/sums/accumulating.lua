-- SPDX-License-Identifier: MIT
-- Finds containers that accumulate: tables, trees and chains whose objects are not removed.
--
-- The input is the time at which each live sample was allocated (asamp.sums.births). It is measured in
-- allocated bytes and in CPU time, so no rule depends on the speed of the machine. The run is divided into
-- PARTS parts with equally many allocated bytes. A container accumulates in two cases:
--
--   - It has samples until the end (goeson), and it keeps its objects: those of the first half of the run are
--     alive as often as those of the second half (ofkept).
--   - It grows in spite of removals, as a queue does (ofgrowing).
--
-- The verdict is "maybe" if the container may be a cache that is full (isreplacing), if the program worked at
-- its end without allocating (TAIL), or if the run is too short to find that out (COARSE).
--
-- A container that is filled until the end of the program and never emptied has the verdict "leak", too.

local births = require "asamp.sums.births"
local holders = require "asamp.sums.holders"

local M = {}

local LEAST, PARTS = births.LEAST, births.PARTS
-- Least number of live samples with which a container (a table, tree or chain with live objects) has a
-- verdict. With FEW to LEAST - 1 samples (4 to 7), the verdict is at most "few": too few samples to decide
-- whether the container accumulates.
local FEW = 4
-- Limits of the two tests that find out whether a container has stopped receiving objects (goeson). Both
-- count missing samples: the samples that are expected after the container's last one, at its earlier rate.
--
--   - STOP: the first test needs 7 missing samples in the bytes allocated after the last sample. The
--     probability that chance leaves out 7 expected samples is e^-7.
--   - QUIET: the second test needs 3.5 missing samples in the CPU time after the last sample.
--   - IDLE: for the second test, this CPU time must be at least 10% of the run's.
local STOP, QUIET, IDLE = 7, 3.5, 1 / 10
-- Limits for a container that keeps its objects (ofkept):
--
--   - KEPT: a line keeps its objects in the container if the older ones are alive at least 80% as often as
--     the newer ones (retention).
--   - LATE: the verdict "leak" needs at least 25% of the live bytes of these lines in the second half of the
--     run.
local KEPT, LATE = 4 / 5, 1 / 4
-- Limits for a container that may be a full cache, which replaces a random object for each new one. The
-- verdict "leak" on such a container becomes "maybe".
--
--   - LOST: the container may be a cache if more than 5% of the objects newer than its oldest live object
--     were removed, and the older ones of these more often than those from the last quarter of the run
--     (isreplacing).
--   - MANY: if the container has fewer than 32 live samples, the ages of the removed objects do not count.
--
-- A container that loses objects as a queue does (ofgrowing) keeps the verdict "leak" if the heap grows more
-- evenly than with a full cache:
--
--   - GOING: the heap must grow in the second half of the run at least two thirds as much as in the first
--     half (evenness).
--   - SEEN: for this, the size of the heap must be known for at least 75% of the run (births.course).
--   - WHOLE: it must be known for 95% of the run if the container has fewer than MANY live samples, or if its
--     older objects are alive nearly as often as its newer ones (KEPT), as in a cache.
local LOST, SEEN, GOING, WHOLE, MANY = 1 / 20, 3 / 4, 2 / 3, 19 / 20, 32
-- Limits of the test that first decides whether a container may be a full cache (isreplacing). It counts the
-- objects that the last major collection found alive, and that were dead at the end: a full cache loses
-- objects of any age.
--
--   - SETTLED: only objects count that were allocated at least an eighth of the run before that collection.
--   - RENEWED: the container may be a full cache if it lost more than 2% of these objects, and more than one
--     sample.
--   - It is none if the heap grew evenly until that collection (GOING), and it lost at least 7 samples (STOP)
--     fewer than a cache that became full at that collection.
--   - HALF: an even growth of the heap proves nothing if the container lost at least 7 samples (STOP), and at
--     least half as many as it received since. The heap's last size may include objects that died while that
--     collection ran.
local SETTLED, RENEWED, HALF = 1 / 8, 1 / 50, 1 / 2
-- Limits for a container that also loses objects, as a queue does. It accumulates (ofgrowing) if all of these
-- conditions are met:
--
--   - GROWTH: the live heap grows by at least 2% in each of the last three quarters of the run.
--   - EVEN: the heap's growth in the second half is at least 75% of that in the first half; or STRAIGHT: its
--     growth in each of the last three quarters is at least 80% of their mean growth.
--   - NET: the heap's growth in the second half is at least 25% of the live bytes that the container received
--     in that half.
--   - CAUSED: these live bytes are at least 5% of the heap's growth in that half.
local GROWTH, EVEN, STRAIGHT, NET, CAUSED = 1.02, 3 / 4, 4 / 5, 1 / 4, 1 / 20
-- If the last heap walk reached at most 10% of the objects that no collection found dead, it came too late:
-- the program had freed the other objects when it ended (unreached).
local FREED = 1 / 10
-- A container with less than 5% of all live samples is not reported.
local LARGE = 1 / 20
-- If less than an eighth of a line's survivors are from the first half of the run, the line started late. Its
-- objects are then divided into older and newer ones at another time than the middle of the run: halfway
-- between its first survivor and the end (middleof).
local NONE = 1 / 8
-- If the lines of a container had no samples in the first half of the CPU time, the verdict "leak" becomes
-- "maybe" (isdelayed).
local DELAY = 1 / 2
-- In the first quarter of the run, a container must receive samples at least at an eighth of its mean rate.
local START = 1 / 8
-- If the program allocates nothing in the last 1% of its CPU time, the verdict "leak" becomes "maybe".
local TAIL = 1 / 100
-- The time between the last two collections shows whether the program worked at its end without allocating
-- (births.tail). In a short run, this time is too large a part of the run to show it. That is assumed if the
-- program usually uses more than 16% of its CPU time to allocate as many bytes as it allocated between these
-- two collections. Then the verdict "leak" becomes "maybe".
local COARSE = 0.16
-- A container may be a list of strings of output, which the program joins to one string at its end. This is
-- assumed if the program made a string after the container's last sample, and this string has at least an
-- eighth of the container's live bytes (isoutput). Then the verdict "leak" becomes "maybe".
local JOINED = 1 / 8
-- Applies to a container that has no verdict "leak" because its live bytes are nearly all from the second
-- half of the run. The verdict is "maybe" if these bytes are at least half of the heap's growth in that half
-- (ofkept).
local CAUSE = 1 / 2
-- A program that keeps at least half of its allocated bytes mainly loads data. Then the verdict "leak"
-- becomes "maybe" for a container that a local variable of a running function holds (isofrunning).
local LOADED = 1 / 2
-- Lines with less than 5% of a container's samples are ignored.
local OWN = 1 / 20
-- If a container has at least 4 times as many live samples of vectors (array or hash parts of tables) as of
-- objects, its vectors are judged, too (ofvectors).
local MAINLY = 4

local function add(t, key, n)
  t[key] = (t[key] or 0) + n
end

-- {== tests =================================================================

-- Returns three numbers: the last part of the run with samples; the number of parts after it; the longest
-- distance between two neighbouring parts with samples.
--
-- parts: number of samples in each part of the run (0 to PARTS - 1); nil: none
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

-- Decides whether a container received objects until the end of the run. Returns "leak": it did; "maybe":
-- uncertain; nil: it has stopped.
--
-- A container has stopped if the time from its last sample to the end is too long for chance, and more than
-- twice as long as the longest earlier pause between two samples. There are two tests:
--
--   - Time is measured in allocated bytes. More than 7 samples must be missing (STOP).
--   - Time is measured in CPU time. More than 3.5 samples must be missing (QUIET). This test takes the second
--     longest pause instead of the longest one, which other processes may have caused.
--
-- run: CPU clock of the run: run.worked(t) is the CPU time used at the time t since the start; run.to is the
-- CPU time at the end; all in us
-- c: sums over the container's lines (result of 'sum')
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
  -- Uses the second longest pause, because other processes may have caused the longest one.
  local pause, to = pauses[2], run.to
  local rest = to - before
  -- Number of missing samples: those that were expected in the CPU time 'rest', at the rate of the later half
  -- of the container's samples. The rate of the first half may be too high, because the sampling period may
  -- have grown.
  local lacking = before > middle and left * rest / (before - middle) or c.n * rest / to
  if rest <= pause or rest < IDLE / 2 * to or lacking <= QUIET or after / PARTS >= rest / to / 2 then
    return verdict
  end
  local stopped = rest > 2 * pause and rest >= IDLE * to
  return not stopped and (lacking > 2 * QUIET and "maybe" or verdict) or nil
end

-- Returns true if the lines of a container had no samples in the first half of the CPU time (DELAY).
--
-- run: CPU clock of the run: run.worked(t) is the CPU time used at the time t since the start; run.to is the
-- CPU time at the end; all in us
-- c: sums over the container's lines (result of 'sum')
-- lines: samples of all lines that survived (field 'lines' of births.of)
local function isdelayed(run, c, lines)
  local first = math.huge
  for key in pairs(c.keys) do
    for _, time in pairs(lines[key] and lines[key].lasts or {}) do
      first = math.min(first, time)
    end
  end
  return run.worked(first) >= DELAY * run.to
end

-- Returns a list of large strings that the program probably made only once, such as a joined list: {time
-- (us), bytes} each. A string is large if it has at least the bytes of a sampling period. It was probably
-- made once if all samples of its call tree node are in one slice of the run.
local function largestrings(profile)
  local sites, born, large, first, list = profile.sites, profile.born, {}, {}, {}
  local function place(from, i)
    return profile.kinds[from.kind[i]].name == "string" and from.node[i] or nil
  end
  for i, n in ipairs(sites.objects or {}) do
    -- n: estimated number of strings. If there is at least one sample for each string, the strings are large.
    -- Then stores their mean size, otherwise false.
    large[place(sites, i) or 0] = n > 0 and sites.samples[i] >= n and sites.bytes[i] / n
  end
  for i in ipairs(born.last) do
    local node = place(born, i) or 0
    first[node] = first[node] and 0 or i
  end
  for node, i in pairs(first) do
    local once = node > 0 and i > 0 and large[node]
    list[#list + 1] = once and {time = born.last[i], bytes = once} or nil
  end
  return list
end

-- Returns true if a container may be a list of output that the program joined to one string at its end
-- (JOINED).
--
-- run: its field 'strings' has the large strings (largestrings)
-- c: sums over the container's lines (result of 'sum')
local function isoutput(run, c)
  local last, bytes = 0, 0
  for part, time in pairs(c.lasts) do
    last, bytes = math.max(last, time), bytes + c.bytes[part]
  end
  for _, string_ in ipairs(run.strings) do
    if string_.time > last and string_.bytes >= JOINED * bytes then
      return true
    end
  end
  return false
end

-- Returns the share of all allocated bytes that is alive at the end. Garbage that no collection has found
-- dead counts as alive, too. If it did not count, a program that keeps half of its bytes could be below the
-- limit LOADED by chance.
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

-- Returns true if the holder is a local variable of a running function, and this function itself allocated
-- all objects that the variable holds. Objects from stripped code are not checked, because their function is
-- unknown.
--
-- holder: text of a path of references, of which the end may be cut; or nil
-- keys: set of the lines that allocated the objects (keys of births.keyof)
local function isofrunning(holder, keys)
  local place = (holder or ""):match '^local ".-" of (.*)$'
  if not place or place:find(holders.ARROW, 1, true) then
    return false
  end
  for key in pairs(keys) do
    local file, _, name = births.lineof(key)
    local whole, start = ("%s (%s"):format(name, file), place:match "^(.*)\u{2026}$"
    if file ~= "[stripped]" and not (start and whole:sub(1, #start) == start) and
       not (place:sub(1, #whole) == whole and place:find("^:?%d*%)$", #whole + 1)) then
      return false
    end
  end
  return true
end

-- Returns two sums of values: of the parts of the run before 'middle', and of the other parts.
--
-- parts: map from the number of a part of the run to a value
-- middle: number of the first part of the second sum; nil: the middle of the run
local function halves(parts, middle)
  local n = {0, 0}
  for part, value in pairs(parts) do
    add(n, part >= (middle or PARTS // 2) and 2 or 1, value)
  end
  return n[1], n[2]
end

-- Divides a line's objects into older and newer ones: returns the first part of the run whose objects are
-- newer. This is usually the middle of the run. If nearly all survivors are from the second half (NONE), it
-- is the middle between the first part with survivors and the end.
--
-- survivors: number of the line's samples that survived a collection, by part of the run
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

-- Compares how often a line's older and newer objects are alive. Objects in other containers do not count.
-- Returns three values:
--
--   1. the share of the older objects that is alive, divided by the share of the newer ones that is alive; 1:
--      equal shares; 0: no older object is alive
--   2. {older, newer}: numbers of live samples in the container
--   3. {older, newer}: numbers of samples that survived a collection and are not in other containers
--
-- own: the line's live samples in the container, by part of the run
-- survivors: the line's samples that survived a collection, by part
-- alive: the line's live samples in all containers, by part
-- from: the first part whose objects count as newer; nil: result of middleof
local function retention(own, survivors, alive, from)
  local middle, share, of = from or middleof(survivors), {}, {}
  local mine, born, all = {halves(own, middle)}, {halves(survivors, middle)}, {halves(alive, middle)}
  for half = 1, 2 do
    of[half] = math.max(born[half] - (all[half] - mine[half]), mine[half])
    share[half] = mine[half] / math.max(of[half], 1)
  end
  return share[1] > 0 and share[1] / math.max(share[2], 1e-9) or 0, mine, of
end

-- Compares a line's objects from the last quarter of the run with its older ones. Returns the results of
-- 'retention'. Ignores the objects from before the oldest live sample, and from the same part of the run: a
-- queue has lost these objects, but it keeps all newer ones.
--
-- own: the line's live samples in the container, by part of the run
-- survivors: the line's samples that survived a collection, by part
-- alive: the line's live samples in all containers, by part
local function recent(own, survivors, alive)
  local first = 0
  while first < PARTS and (own[first] or 0) <= 0 do
    first = first + 1
  end
  local function since(parts)
    local list = {}
    for part, n in pairs(parts) do
      list[part] = part > first and n or nil
    end
    return list
  end
  return retention(since(own), since(survivors), since(alive), PARTS * 3 // 4)
end

-- Returns three numbers: the samples of a container's lines from before the part 'till' that the last major
-- collection left alive; those of them that were dead at the end; the live samples from the part 'till' on.
-- Ignores the part of the run with a line's oldest live sample and all earlier parts, as 'recent' does.
--
-- c, every, lines, alive: as for 'isreplacing'
local function settled(c, every, lines, alive, till)
  local n, lost, new = 0, 0, 0
  for key, own in pairs(c) do
    if own.n >= OWN * every.n and lines[key] then
      local first = 0
      while first < PARTS and (own.parts[first] or 0) <= 0 do
        first = first + 1
      end
      for part = first + 1, math.ceil(till) - 1 do
        local left = lines[key].parts[part] or 0
        n, lost = n + left, lost + left - (alive[key].parts[part] or 0)
      end
      new = new + select(2, halves(own.parts, till))
    end
  end
  return n, lost, new
end

-- Returns true if a container may lose objects of any age, as a full cache does. The first test counts the
-- objects that it lost after the last major collection (settled). If this test does not decide, two
-- conditions must be met:
--
--   - More than the share LOST of its objects was removed.
--   - The container has fewer than MANY samples; or the older objects of its main line, the one with most
--     samples, are alive less often than the newer ones. Other lines do not count for this, because their
--     objects may be garbage that survived one collection by chance.
--
-- Second result: true if the container loses at least half as many objects as it receives, so that the growth
-- of the heap proves nothing (HALF).
--
-- c: the container's lines (field 'lines' of an element of births.of().containers)
-- every: sums over these lines (result of 'sum')
-- lines: samples of all lines that survived (field 'lines' of births.of)
-- alive: map from the key of each line to its live samples in all containers (living)
-- seen: position of the last major collection, as a share of the run; nil: unknown
-- going: true: the heap grew evenly until then
local function isreplacing(c, every, lines, alive, seen, going)
  local n, lost, new = settled(c, every, lines, alive, ((seen or 0) - SETTLED) * PARTS)
  if lost > math.max(1, RENEWED * n) then
    return true, lost >= STOP and lost >= HALF * new
  elseif going and lost + STOP <= (1 - seen) * n then
    return false
  end
  local kept, all, main = 0, 0, 1
  for key, own in pairs(c) do
    if lines[key] then
      local ratio, left, born = recent(own.parts, lines[key].survivors, alive[key].parts)
      kept, all = kept + left[1] + left[2], all + born[1] + born[2]
      main = key == every.most and ratio or main
    end
  end
  return (main < 1 or every.n < MANY) and kept < (1 - LOST) * all
end

-- Returns sums over a container's lines:
--
--   - n: number of live samples
--   - parts: map from a part of the run to its number of live samples
--   - bytes: map from a part of the run to its live bytes
--   - lasts: map from a part of the run to the time of its last live sample, us
--   - keys: map from the key of a line to its live samples
--   - most: key of the line with most samples
--
-- lines: field 'lines' of a container (births.of)
local function sum(lines)
  local c = {n = 0, parts = {}, bytes = {}, lasts = {}, keys = {}}
  for key, own in pairs(lines) do
    local most = c.most and lines[c.most].n or -1
    c.most = (own.n > most or own.n == most and key < c.most) and key or c.most
    c.n, c.keys[key] = c.n + own.n, own.n
    for part, n in pairs(own.parts) do
      add(c.parts, part, n)
      c.lasts[part] = own.lasts[part] and math.max(c.lasts[part] or 0, own.lasts[part])
      add(c.bytes, part, own.bytes[part])
    end
  end
  return c
end

-- Returns the evenness of the heap's growth. It is usually the growth in the second half of the run, divided
-- by that in the first half. There are two exceptions:
--
--   - If the heap grew by less than the factor GROWTH in one of the last three quarters, the evenness is 0.
--   - The first quarter may be misleading, because caches fill then. So the last three quarters are compared,
--     too: the smallest growth of them, divided by their mean growth. If this is at least STRAIGHT, and
--     larger than the first quotient, it is the evenness.
--
-- course: function from a position in the run (0 to 1) to the bytes of the heap (births.course); nil: the
-- result is 0
local function evenness(course)
  local least = math.huge
  for q = 1, 3 do
    if not course or course((q + 1) / 4) < GROWTH * course(q / 4) then
      return 0
    end
    least = math.min(least, course((q + 1) / 4) - course(q / 4))
  end
  local even = (course(1) - course(1 / 2)) / (course(1 / 2) - course(0))
  local straight = least / (course(1) - course(1 / 4)) * 3
  return straight >= STRAIGHT and math.max(even, straight) or even
end

-- Returns true if the heap grows by at least the factor GROWTH in the third and in the last quarter of the
-- run, and in the last quarter by at least half of the bytes of the third. 'course': function from a position
-- in the run (0 to 1) to the bytes of the heap (births.course); nil: unknown, and the result is false.
local function isrising(course)
  local growth = course and course(3 / 4) - course(1 / 2) or 0
  return growth > 0 and course(3 / 4) >= GROWTH * course(1 / 2) and course(1) >= GROWTH * course(3 / 4) and
         course(1) - course(3 / 4) >= growth / 2
end

-- Returns true if the heap grows by less than the factor GROWTH in the second half of the run. 'course':
-- function from a position in the run (0 to 1) to the bytes of the heap (births.course); nil: unknown, and
-- the result is a false value.
local function level(course)
  return course and course(1) < GROWTH * course(1 / 2)
end

-- Returns the bytes by which the heap grows in the second half of the run. If it does not grow, returns
-- infinity, so that no container has a noticeable share of the growth.
--
-- course: function from a position in the run (0 to 1) to the bytes of the heap (births.course); nil:
-- unknown, and the result is 'late'
-- late: live bytes that were allocated in the second half, an upper bound of the growth
local function growthof(course, late)
  local growth = course and course(1) - course(1 / 2) or not course and late or 0
  return growth > 0 and growth or math.huge
end

-- Returns true if the container receives samples from the start of the run: the rate in the first quarter
-- must be at least the share START of the mean rate. 'parts': number of its samples by part of the run.
local function isfromstart(parts)
  local early, all = 0, 0
  for part, n in pairs(parts) do
    early, all = early + (part < PARTS // 4 and n or 0), all + n
  end
  return early > 0 and early >= START * all / 4
end

-- Returns the verdict on a container that keeps its objects: "leak", "maybe", "few" (too few samples) or nil
-- (it does not accumulate).
--
-- run: CPU clock of the run: run.worked(t) is the CPU time used at the time t since the start; run.to is the
--      CPU time at the end; all in us
-- c: sums over those lines of the container that keep their objects (keeping)
-- course: function from a position in the run (0 to 1) to the bytes of the heap (births.course), or nil
-- born: live bytes in all containers that were allocated in the second half of the run
--
-- Chance may make the verdict wrong. If a container has lost 2 of 3 objects of the first half, this happens
-- in 1 of 50 runs with 8 samples (LEAST), and in 1 of 1,000 with 16 samples.
local function ofkept(run, c, course, born)
  local early, late = halves(c.bytes)  -- bytes, not samples, because the sampling period may have changed
  local verdict = c.n >= FEW and not level(course) and goeson(run, c)
  if not verdict then
    return nil
  elseif c.n < LEAST then
    return early > 0 and late > 0 and "few" or nil
  end
  return late >= LATE * (early + late) and isfromstart(c.parts) and verdict or
         early < late and late >= CAUSE * growthof(course, born) and "maybe" or nil
end

-- Returns the verdict on a container that receives and loses objects, as a queue does: "leak", "maybe" or nil
-- (it does not accumulate). If the heap has a constant size, fewer than 1 of 100 runs have a wrong verdict.
--
-- run: CPU clock of the run: run.worked(t) is the CPU time used at the time t since the start; run.to is the
-- CPU time at the end; all in us
-- course: function from a position in the run (0 to 1) to the bytes of the heap (births.course), or nil
-- c: sums over all lines of the container (result of 'sum')
-- growth: bytes by which the heap grew in the second half, minus those of containers with the verdict "leak"
-- late: live bytes that the container received in the second half
-- lines: samples of all lines that survived (field 'lines' of births.of)
local function ofgrowing(run, c, course, growth, late, lines)
  local survivors = {}
  for key in pairs(c.keys) do
    for part, n in pairs(lines[key] and lines[key].survivors or {}) do
      add(survivors, part, n)
    end
  end
  if c.n < LEAST or growth < NET * late or late < CAUSED * growth or not isfromstart(survivors) then
    return nil
  end
  local verdict, even = goeson(run, c), evenness(course)
  return even >= EVEN and verdict or (even >= EVEN / 2 or isrising(course)) and verdict and "maybe" or nil
end

-- Returns true if a container that may be a full cache is one that fills up, provided that the heap grew
-- evenly until the last major collection (GOING).
--
-- other: table with the results for the container: verdict (ofkept), every (sum), renewed (isreplacing)
-- seen: position of the last major collection, as a share of the run
local function isfilling(other, seen)
  return not other.renewed and (not other.verdict and other.every.n >= MANY or seen >= WHOLE)
end

-- ==}

local function occupied(parts)
  local n = 0
  for _, samples in pairs(parts) do
    n = n + (samples > 0 and 1 or 0)
  end
  return n
end

-- Finds lines whose objects leaked, but were freed when the program ended, before the last heap walk.
-- Example: objects in local variables of a main function that had returned. Calls 'keep' once with the found
-- lines. Does nothing if the last heap walk reached enough objects (FREED), or if the heap does not grow
-- evenly (EVEN).
--
-- Ignores lines that allocated vectors (array or hash parts) of tables that are still alive: the program
-- itself has emptied these tables.
--
-- run: CPU clock of the run: run.worked(t) is the CPU time used at the time t since the start; run.to is the
-- CPU time at the end; all in us
-- lines: samples of all lines that survived (field 'lines' of births.of)
-- alive: map from the key of each line to its live samples in all containers (living)
-- tables: set of the keys of lines that allocated vectors of live tables
-- course: function from a position in the run (0 to 1) to the bytes of the heap (births.course), or nil
-- keep: function(sums over the found lines, verdict, container)
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
                retention(l.parts, l.survivors, l.parts) >= KEPT and l or nil
  end
  local c = sum(kept)
  keep(c, ofkept(run, c, course, math.huge), {holder = births.holderof(profile, c.keys), vectors = {}})
end

-- Returns three values about a list of containers (births.of):
--
--   1. map from the key of each line to its live samples: {n, parts (number in each part of the run)}
--   2. the number of all live samples
--   3. the set of the keys of lines that allocated vectors of live tables
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

-- Returns the time at which a container (table, tree or chain) received its last object, as a share of the
-- CPU time (0 to 1). Returns nil if the container is empty, or receives objects until the end of the run
-- (TAIL).
--
-- run: CPU clock of the run: run.worked(t) is the CPU time used at the time t since the start; run.to is the
-- CPU time at the end; all in us
-- c: sums over the container's lines (result of 'sum')
local function stoppedat(run, c)
  local last = 0
  for _, time in pairs(c.lasts) do
    last = math.max(last, time)
  end
  local share = run.worked(last) / math.max(run.to, 1)
  return c.n > 0 and share <= 1 - TAIL and goeson(run, c) ~= "leak" and share or nil
end

-- Returns data about a container that no longer receives objects, such as a loaded file. Returns nil if it
-- receives them until the end, or has too few samples. Fields of the result:
--
--   - holder: the parameter
--   - n: number of live samples
--   - bytes: live bytes, without those from before 'since'
--   - most: key of the line with most samples
--   - stopped: share of the CPU time (0 to 1) after which it received no objects
--
-- run: CPU clock of the run: run.worked(t) is the CPU time used at the time t since the start; run.to is the
-- CPU time at the end; all in us
-- c: sums over the container's lines (result of 'sum')
-- holder: path of references to the container, as text
-- since: number of the first part of the run whose bytes count: the last part before the second quarter, in
-- which the growth of the heap is first measured (births.quarters)
local function loadedin(run, c, holder, since)
  local bytes, stopped = 0, c.n >= LEAST and stoppedat(run, c)
  for part, n in pairs(stopped and c.bytes or {}) do
    bytes = bytes + (part >= since and n or 0)
  end
  return stopped and {holder = holder, n = c.n, most = c.most, bytes = bytes, stopped = stopped} or nil
end

-- Returns two results of 'sum': for the lines of a container that keep their objects (KEPT), and for all its
-- lines.
--
-- c: container (element of births.of().containers)
-- lines: samples of all lines that survived (field 'lines' of births.of)
-- alive: map from the key of each line to its live samples in all containers (living)
local function keeping(c, lines, alive)
  local kept, every = {}, sum(c.lines)
  for key, own in pairs(c.lines) do
    if own.n >= OWN * every.n and lines[key] then
      local ratio = retention(own.parts, lines[key].survivors, alive[key].parts)
      kept[key] = ratio >= KEPT and own or nil
    end
  end
  return sum(kept), every
end

-- Finds containers of tables with large vectors (array or hash parts), such as a list of arrays of numbers.
-- Few of the tables themselves have samples, so this function judges the samples of their vectors.
--
-- In a single growing table, only the last vector is alive. So the live vectors of a container must be from
-- at least LEAST parts of the run. Ignores containers that have a verdict, and those with many samples of
-- objects (MAINLY).
--
-- run: CPU clock of the run: run.worked(t) is the CPU time used at the time t since the start; run.to is the
-- CPU time at the end; all in us
-- born: result of births.of
-- course: function from a position in the run (0 to 1) to the bytes of the heap (births.course), or nil
-- late: live bytes in all containers that were allocated in the second half of the run
-- known: set of the holders that have a verdict
-- keep: function(sums over the found lines, verdict, container, born.vectorlines), called for each container
local function ofvectors(run, born, course, late, known, keep)
  local list = {}
  for i, c in ipairs(born.containers) do
    list[i] = {holder = c.holder, lines = c.vectorlines, vectors = c.vectors}
  end
  local alive, all = living(list)
  for i, c in ipairs(list) do
    local kept, every = keeping(c, born.vectorlines, alive)
    if not known[c.holder] and every.n >= LARGE * all and occupied(kept.parts) >= LEAST and
       every.n >= MAINLY * sum(born.containers[i].lines).n then
      local verdict = ofkept(run, kept, course, late)
      local replacing = verdict == "leak" and isreplacing(c.lines, every, born.vectorlines, alive)
      keep(kept, replacing and "maybe" or verdict, c, born.vectorlines)
    end
  end
end

--- Returns the list of the containers that accumulate. Returns nil if the file has no heap walk at its end,
-- or does not record when samples were allocated. Fields of a container:
--
--   - verdict: "leak", "maybe" (uncertain, for example without a major collection) or "few" (too few samples)
--   - holder: path of references (text) to the container; nil: unknown
--   - n: number of live samples
--   - lines: map from the key of a line (births.keyof) to its live samples
--   - most: key of the line with most samples
--   - vectors: map from the key of a line to its live bytes of vectors of the container's tables
--   - parts, of: number of parts of the run with live samples, and of all parts
--   - stopped: share of the CPU time after which the program allocated nothing; nil: it allocated until its
--     end
--
-- Second result: the largest container that no longer receives objects (loadedin), or nil.
function M.of(profile)
  local born = births.of(profile)
  if not born then
    return nil
  end
  local found, others, run = {}, {}, {}
  run.worked, run.to = births.worked(profile)
  run.strings = largestrings(profile)
  local course, seen, near = births.course(profile)
  local going = course and near and seen >= SEEN and evenness(course) >= GOING
  local growth = course and course(1) - course(1 / 2) or 0
  local alive, all, tables = living(born.containers)
  local late, tail, unresolved = 0, births.tail(profile)
  local short, silent, loaded = profile.majors == 0 or unresolved > COARSE, tail >= TAIL, nil
  local loads = keptshare(profile) >= LOADED
  for _, c in ipairs(born.containers) do
    late = late + c.late
  end
  local known = {}
  local function keep(c, verdict, container, lines)
    local unsure = short or silent or isdelayed(run, c, lines or born.lines) or isoutput(run, c) or
                   loads and container and isofrunning(container.holder, c.keys)
    verdict = verdict == "leak" and unsure and "maybe" or verdict
    if verdict then
      known[container and container.holder or false] = verdict ~= "few" or nil
      found[#found + 1] = {verdict = verdict, n = c.n, lines = c.keys, most = c.most,
                           parts = occupied(c.parts), of = PARTS,
                           vectors = container and container.vectors or {},
                           holder = container and container.holder,
                           stopped = silent and 1 - tail or nil}
    end
  end
  for _, c in ipairs(born.containers) do
    local kept, every = keeping(c, born.lines, alive)
    if every.n >= LARGE * all then
      local verdict = ofkept(run, kept, course, late)
      local replacing, renewed = isreplacing(c.lines, every, born.lines, alive, course and seen, going)
      verdict = verdict == "leak" and replacing and "maybe" or verdict
      if verdict == "leak" then
        keep(kept, verdict, c)
        growth = growth - c.late
      else
        others[#others + 1] = {container = c, every = every, kept = kept, verdict = verdict,
                                replacing = replacing, renewed = renewed}
        local own = loadedin(run, every, c.holder, PARTS * (course and seen or 1) // 4 - 1)
        loaded = own and own.bytes > (loaded and loaded.bytes or 0) and own or loaded
      end
    end
  end
  for _, other in ipairs(others) do
    local verdict = ofgrowing(run, other.every, course, growth, other.container.late, born.lines)
    verdict = verdict == "leak" and other.replacing and not (going and isfilling(other, seen)) and "maybe" or
              verdict
    keep(verdict and other.every or other.kept, verdict or other.verdict, other.container)
  end
  unreached(run, profile, born.lines, alive, tables, course, keep)
  ofvectors(run, born, course, late, known, keep)
  return found, loaded
end

return M
