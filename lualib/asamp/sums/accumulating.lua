-- SPDX-License-Identifier: MIT
-- Finds containers that accumulate: tables, trees and chains whose objects are not removed.
--
-- The input is the allocation times of live samples (asamp.sums.births) by allocated bytes and by CPU time,
-- so no rule depends on the speed of the machine. A container accumulates if it
--
--   - goes on: it had samples until the end (goeson), and
--   - keeps its objects: those of the first half are alive as often as those of the second (ofkept), or
--   - grows in spite of removals, as a queue does (ofgrowing).
--
-- The verdict is "maybe" if chance may have kept the old ones of so few samples (issure), if the program
-- worked at its end without allocating (TAIL), or if the run is too short to find that out (COARSE).
--
-- A container that is filled until the end of the program and never emptied looks like a leak.

local births = require "asamp.sums.births"
local holders = require "asamp.sums.holders"

local M = {}

local LEAST, PARTS = births.LEAST, births.PARTS
-- Fewest collections of a run: with fewer, objects have no time to die.
local COLLECTIONS = 4
-- A container with FEW to LEAST - 1 live samples has the verdict "few": too few to decide.
local FEW = 4
-- A container has stopped if samples at a steady rate would leave the end of the run empty with a
-- probability below e^-STOP (by allocated bytes), or below e^-QUIET (by CPU time, if the empty end is at
-- least the share IDLE of it).
local STOP, QUIET, IDLE = 7, 3.5, 1 / 10
-- A container keeps its objects if the live share of its earlier survivors is at least KEPT times that of
-- the later ones (retention), and if the share EARLY of its live bytes is from the second half of the run.
local KEPT, EARLY = 4 / 5, 1 / 4
-- Limits of issure, which compares the live shares of earlier and later survivors. SURE: least ratio of the
-- two. ERRORS: standard errors subtracted from it first; chance makes 1 of 20 ratios too high by more.
local SURE, ERRORS = 1 / 2, 1.6
-- Limits of ofgrowing. GROWTH: least factor by which the live heap grows in each quarter. EVEN: least growth
-- in the second half, relative to the first. Of a container's live bytes of the second half, the heap's
-- growth must explain the share NET, and they must be the share CAUSED of this growth. Its first sample must
-- be in the first YOUNG of the run.
local GROWTH, EVEN, NET, CAUSED, YOUNG = 1.02, 3 / 4, 1 / 4, 1 / 20, 7 / 8
-- Replaces KEPT for objects that no heap walk reached (unreached): recent garbage that no collection has
-- found dead counts as alive.
local LEFT = 1 / 2
-- If the last heap walk reached at most this share of the objects not found dead, the others were freed when
-- the program ended.
local FREED = 1 / 10
-- Least share of all live samples of a container that is judged.
local LARGE = 1 / 20
-- If less than this share of a line's survivors are of the first half, that half counts as empty.
local NONE = 1 / 8
-- If a container received its first object after this share of the CPU time, "leak" becomes "maybe".
local DELAY = 1 / 2
-- Least rate of samples in the first quarter of the run, relative to the rate in the whole run.
local START = 1 / 8
-- If the program allocates nothing in at least this share of its CPU time at its end, "leak" becomes
-- "maybe".
local TAIL = 1 / 100
-- If the bytes of the last period between collections usually take more than this share of the CPU time to
-- allocate (births.tail), "leak" becomes "maybe".
local COARSE = 0.16
-- A container may be a list of output, which the program joins and writes at its end: "leak" becomes
-- "maybe" if the program made one string of at least the share JOINED of the container's live bytes after
-- the container's last sample.
local JOINED = 1 / 8
-- A container with most of its live bytes from the second half is "maybe" only if these are at least this
-- share of the heap's growth.
local CAUSE = 1 / 2
-- A program that keeps at least this share of its allocated bytes mainly loads data.
local LOADED = 1 / 2
-- Lines with a smaller share of a container's samples are ignored.
local OWN = 1 / 20

local function add(t, key, n)
  t[key] = (t[key] or 0) + n
end

-- {== tests =================================================================

-- Returns the last part of the run with samples (nil: none), the number of parts after it, and the longest
-- distance between successive parts with samples (nil: none). 'parts': number of samples by part, from 0 on.
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

-- Returns "leak" if a container had samples until the end of the run, "maybe" if that is uncertain, nil if
-- it has stopped: the empty stretch at the end is more than twice the longest earlier one (by CPU time: the
-- second longest), and improbable at a steady rate.
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
  -- the second longest pause: other processes may have caused the longest one
  local pause, to = pauses[2], run.to
  local rest = to - before
  -- samples expected in the time 'rest' at the rate of the later half of the samples; the earlier rate may
  -- be higher, because the sampling period may have grown
  local lacking = before > middle and left * rest / (before - middle) or c.n * rest / to
  if rest <= pause or rest < IDLE / 2 * to or lacking <= QUIET or after / PARTS >= rest / to / 2 then
    return verdict
  end
  local stopped = rest > 2 * pause and rest >= IDLE * to
  return not stopped and (lacking > 2 * QUIET and "maybe" or verdict) or nil
end

-- Returns true if at least DELAY of the CPU time had passed before the lines of a container allocated
-- their first survivor. 'lines': result of births.of.
local function isdelayed(run, c, lines)
  local first = math.huge
  for key in pairs(c.keys) do
    for _, time in pairs(lines[key] and lines[key].lasts or {}) do
      first = math.min(first, time)
    end
  end
  return run.worked(first) >= DELAY * run.to
end

-- Returns the large strings that the program made only once at their place in the call tree: a list of {time
-- (us), bytes}. Their bytes are at least a sampling period.
local function largestrings(profile)
  local sites, born, large, first, list = profile.sites, profile.born, {}, {}, {}
  local function place(from, i)
    return profile.kinds[from.kind[i]].name == "string" and from.node[i] or nil
  end
  for i, n in ipairs(sites.objects or {}) do
    large[place(sites, i) or 0] = sites.samples[i] >= n  -- bytes per string at least bytes per sample
  end
  for i in ipairs(born.last) do
    local node = place(born, i) or 0
    first[node] = first[node] and 0 or i
  end
  for node, i in pairs(first) do
    local once = node > 0 and i > 0 and large[node]
    list[#list + 1] = once and {time = born.last[i], bytes = born.bytes[i]} or nil
  end
  return list
end

-- Returns true if a container may be a list of output (JOINED).
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
-- function that allocated all lines in 'keys'. The lines of stripped code are unknown, and do not count.
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

-- Returns the sums of 'parts', values by part of the run, before the part 'middle' (nil: the middle of the
-- run) and from it on.
local function halves(parts, middle)
  local n = {0, 0}
  for part, value in pairs(parts) do
    add(n, part >= (middle or PARTS // 2) and 2 or 1, value)
  end
  return n[1], n[2]
end

-- Returns the part of the run from which on a line's survivors count as later: the middle of the run. If
-- nearly all survivors are of the second half, it is the middle between the first of these and the end.
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

-- Returns the live share of a line's earlier survivors (middleof) in one container, divided by that of the
-- later ones. 1: both are equal; 0: no earlier one is alive. 'own': the line's live samples in the
-- container, by part; 'survivors', 'alive': its survivors and its live samples in all containers. Also
-- returns two pairs {earlier, later}: live samples in the container, and survivors that are not in other
-- containers.
local function retention(own, survivors, alive)
  local middle, share, of = middleof(survivors), {}, {}
  local mine, born, all = {halves(own, middle)}, {halves(survivors, middle)}, {halves(alive, middle)}
  for half = 1, 2 do
    of[half] = math.max(born[half] - (all[half] - mine[half]), mine[half], 1)
    share[half] = mine[half] / of[half]
  end
  return share[1] > 0 and share[1] / math.max(share[2], 1e-9) or 0, mine, of
end

-- Returns true if a line has enough samples to conclude that its earlier survivors are alive at least SURE
-- times as often as the later ones: ERRORS standard errors are subtracted from the logarithm of the ratio.
-- 'mine', 'of' are pairs {earlier, later} of retention.
local function issure(mine, of)
  local ratio, variance = 1, 0
  for half = 1, 2 do
    local share = mine[half] / of[half]
    ratio = half == 1 and share or ratio / math.max(share, 1e-9)
    variance = variance + (1 - share) / math.max(mine[half], 1)
  end
  return ratio * math.exp(-ERRORS * math.sqrt(variance)) >= SURE
end

-- Returns the sum of a container's lines ('lines' of births.of): {n (samples), parts (samples by part),
-- bytes (by part), lasts (us of the last sample, by part), keys (samples by key of the line), most (key of
-- the line with the most samples)}.
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

-- Returns the growth of the heap in the second half of the run divided by that in the first. Returns 0 if it
-- grew by a factor below GROWTH in one of the last three quarters, or if 'course' (births.course) is nil.
local function evenness(course)
  for q = 1, 3 do
    if not course or course((q + 1) / 4) < GROWTH * course(q / 4) then
      return 0
    end
  end
  return (course(1) - course(1 / 2)) / (course(1 / 2) - course(0))
end

-- Returns true if the heap did not grow over the second half of the run. 'course': result of
-- births.course; nil: unknown.
local function level(course)
  return course and course(1) < GROWTH * course(1 / 2)
end

-- Returns the bytes by which the heap grew in the second half; infinity: it did not grow. If 'course' is
-- nil, returns 'late', the live bytes of the second half: an upper limit.
local function growthof(course, late)
  local growth = course and course(1) - course(1 / 2) or not course and late or 0
  return growth > 0 and growth or math.huge
end

-- Returns true if the first quarter of the run has at least the share START of the samples of a constant
-- rate. 'parts': samples by part of the run.
local function isfromstart(parts)
  local early, all = 0, 0
  for part, n in pairs(parts) do
    early, all = early + (part < PARTS // 4 and n or 0), all + n
  end
  return early > 0 and early >= START * all / 4
end

-- Judges c, the sum of those lines of a container that keep their objects. Returns "leak", "maybe", "few"
-- (too few samples) or nil. 'born': live bytes of the second half in all containers.
--
-- A container that has lost 2 of 3 objects of the first half passes the tests with 8 samples (LEAST) in 1 of
-- 50 runs, with 16 in 1 of 1,000.
local function ofkept(run, c, course, born)
  local early, late = halves(c.bytes)  -- bytes, not samples, because the sampling period may have changed
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

-- Returns the verdict ("leak", "maybe" or nil) on a container whose objects are partly removed. 'growth':
-- bytes by which the heap grew in the second half and that no other container explains; 'late': live bytes
-- of the second half in this one; 'lines': result of births.of.
--
-- With a heap of constant size, fewer than 1 of 100 runs have a verdict.
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
  if c.n < LEAST or first >= YOUNG * PARTS or growth < NET * late or late < CAUSED * growth or
     not isfromstart(survivors) then
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

-- Judges objects that no collection found dead but that the last heap walk did not reach: they were freed
-- when the program ended, for example when its main function returned. Calls 'keep' with the verdict.
-- Ignores lines that allocated vectors of live tables (set of keys 'tables'): the program has emptied these.
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

-- Returns the live samples of each line in all containers, {key = {n, parts}}; the number of these samples;
-- and the keys (a set) of lines that allocated vectors (array or hash parts) of live tables.
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

-- Returns when a container's last live sample was allocated, as a share of the CPU time (0 to 1). nil: it
-- certainly received samples until the end, or has none alive.
local function stoppedat(run, c)
  local last = 0
  for _, time in pairs(c.lasts) do
    last = math.max(last, time)
  end
  return c.n > 0 and goeson(run, c) ~= "leak" and run.worked(last) / math.max(run.to, 1) or nil
end

-- Returns a container that has stopped and has at least LEAST samples: {holder, n (samples), most (key of
-- the line with the most samples), bytes (live bytes), stopped (stoppedat)}; nil for others.
local function loadedin(run, c, holder)
  local bytes, stopped = 0, c.n >= LEAST and stoppedat(run, c)
  for _, n in pairs(stopped and c.bytes or {}) do
    bytes = bytes + n
  end
  return stopped and {holder = holder, n = c.n, most = c.most, bytes = bytes, stopped = stopped} or nil
end

-- Returns two sums (function sum) of a container's lines: of those that keep their survivors, and of all.
-- Also returns true if the first has enough samples to exclude chance (issure).
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

--- Returns the containers that accumulate; nil: the file has no heap walk, or no slices by bytes. Fields:
--
--   - verdict: "leak"; "maybe": uncertain, for example without a major collection, or if the program mainly
--     loads data (LOADED) into a local variable; "few": too few samples
--   - holder: path of references (text) to the container; nil: unknown
--   - n: number of live samples
--   - lines: live samples, by key (births.keyof) of the line that allocated them; most: key of the line with
--     the most
--   - vectors: live bytes of vectors of the container's tables, by key of the line
--   - parts: number of parts of the run from which there are live samples; of: number of all parts
--   - stopped: share of the CPU time after which the program allocated nothing; nil: it allocated until its
--     end
--
-- Second result: of the containers that no longer receive objects (loadedin), the one with the most live
-- bytes; nil: none.
function M.of(profile)
  local born = births.of(profile)
  if not born then
    return nil
  elseif #profile.collections < COLLECTIONS then
    return {}
  end
  local found, others, run = {}, {}, {}
  run.worked, run.to = births.worked(profile)
  run.strings = largestrings(profile)
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
    local unsure = short or silent or isdelayed(run, c, born.lines) or isoutput(run, c) or
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
