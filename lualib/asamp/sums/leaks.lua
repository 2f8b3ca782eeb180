-- Finds the lines of a program that are likely to leak.
--
-- If the file has a heap walk from its end, asamp.sums.accumulating judges Lua's memory. Otherwise this
-- module judges it. It divides the session into time slices of equal length. If the heap grew (GROWTH), a
-- line is likely to leak in two cases: it keeps objects from most time slices, early and late ones (steady);
-- or it keeps a growing table (grows).
--
--   - "Kept" objects survived their first collection, and no major collection found them dead.
--   - "Proved" means that the profile shows which objects died, because the last major collection was in the
--     second half of the session. Then only the time slices before this collection count. Otherwise all
--     slices count, and a line must meet further conditions.
--
-- Lines that leak native memory are found separately. All shares are of bytes, because a limit of samples per
-- second changes the bytes that a sample represents.

local accumulating = require "asamp.sums.accumulating"
local births = require "asamp.sums.births"
local holders = require "asamp.sums.holders"
local order = require "asamp.sums.order"
local related = require "asamp.sums.related"
local totals = require "asamp.sums.totals"

local M = {}

local larger = order.by("-keptbytes", "file", "line")

--- Number of time slices to request from the reader, which returns at least half as many.
M.BINS = 16

local LEAST = 12  -- fewest kept samples of a likely leak
-- The heap grew if its smallest size in the last quarter of the run is 10% above that in the second quarter.
local GROWTH = 1.1
-- The heap has also grown if it is only 2% larger, but leaks explain the growth (explained): the growth is at
-- least half of the bytes that the likely leaks keep from the second half of the run.
local SLOW = 1.02
-- Limits for leaks. The growth is the number of bytes by which the live heap grew from the second to the last
-- quarter of the run.
--
--   - KEPT: the growth must be at least a third of all bytes that survived in the second half of the run.
--   - ROOM: the survivors of a line from the second half have at most 1.5 times as many bytes as the growth.
--   - WORTH: a line must keep bytes from the second half that are at least 5% of the growth.
--
-- KEPT and ROOM only apply if the profile does not record which survivors died later.
local KEPT, ROOM, WORTH = 1 / 3, 3 / 2, 1 / 20
-- A line may leak if it keeps enough of the objects that it allocated:
--
--   - SURVIVED: at least half of their bytes. This is only required if the file does not record which
--     survivors died later.
--   - PARTS: objects from at least 75% of the time slices.
--   - LATE: at least 40% of the kept bytes are from the second half of the run.
local SURVIVED, PARTS, LATE = 1 / 2, 3 / 4, 2 / 5
-- Limit for two kinds of possible leaks (list 'maybe' of M.of): a line with a growing array of numbers, and a
-- container of loaded data. Such a leak is listed only if it causes at least half of the heap's growth.
local ALONE = 1 / 2
-- A line that keeps at least 90% of its bytes may leak even if it keeps less than the share WORTH of the
-- growth. This rule only applies if the file records which survivors died later.
local ALL = 9 / 10
-- A program that keeps more than half of its allocated bytes mainly loads data.
local LOADED = 1 / 2
-- Time slices in which the program was idle are ignored if at least 4 others remain.
local FEWBUSY = 4
-- The program ran in a time slice if 25% of its CPU time there was outside of collections.
local RAN = 1 / 4
-- A line has stopped allocating if its rate at the end of the run is below 25% of its mean rate.
local SLOWER = 1 / 4
-- Limits for a heap that grows evenly:
--
--   - STRAIGHT: the heap grows evenly if its growth from the third to the last quarter of the run is at least
--     half of its growth from the second to the third quarter.
--   - SOME: a line may then leak if it keeps objects from half of the time slices, instead of the share
--     PARTS. The reason is a growing queue, which has removed its oldest objects.
local STRAIGHT, SOME = 1 / 2, 1 / 2
-- Limits for a growing table (grows). Each time a table grows, a larger vector replaces its old one. So the
-- last vectors of a line show whether it keeps such a table:
--
--   - STEPS: the line allocated vectors in at least 3 time slices.
--   - FEW: of the vectors that it allocated in the last of these slices, it keeps at least 6 samples.
--   - LAST: these kept vectors have at least 25% of the bytes of all its vectors.
--
-- FEW must not exceed LEAST, because the function 'worthy' requires only FEW kept samples of any line.
local FEW, STEPS, LAST = 6, 3, 1 / 4

-- A vector is the block with the slots of a table.
local VECTORS = {["table array part"] = true, ["table hash part"] = true}

-- Returns the smallest number of bytes in use after a collection, in the time slices from 'from' to 'to' - 1.
-- Returns nil if there is no collection in these slices.
local function floor(profile, from, to)
  local least
  local bins = profile.bins
  for _, c in ipairs(profile.collections) do
    local part = (c.time - bins.start) // bins.width
    if part >= from and part < to then
      least = math.min(least or c.least, c.least)
    end
  end
  return least
end

-- Returns the number of the time slices before the last major collection: for objects from these slices, this
-- collection found out which are dead. Returns nil if these are fewer than half of all slices, or if the file
-- does not record deaths.
local function judged(profile)
  local bins, last = profile.bins, nil
  if (profile.followed or 0) > 0 then
    last = profile.course and profile.course.lastmajor
  end
  local n = last and math.min((last - bins.start) // bins.width, bins.n) or 0
  return n >= bins.n // 2 and n or nil
end

local function newrow(line)
  return {file = line.file, line = line.line, name = line.name, native = line.native,
          defined = line.defined, samples = 0, bytes = 0, survived = 0,
          survivedbytes = 0, kept = 0, keptbytes = 0, late = 0, replaced = 0, sampled = {},
          inpart = {}, bytesin = {}, types = {}, callers = {},
          vector = {made = {}, kept = {}, bytes = {}, all = 0, survived = 0, survivedbytes = 0,
                    keptbytes = 0, types = {}}}
end

local function add(list, key, n)
  list[key] = (list[key] or 0) + n
end

-- Adds samples of one type of block and one time slice to the row of a line.
--
-- part: number of the time slice
-- all: {samples, bytes} that were allocated
-- kept: {samples, bytes} that were kept
-- name: name of the type
local function addto(row, part, all, kept, name)
  row.samples, row.bytes = row.samples + all[1], row.bytes + all[2]
  row.kept, row.keptbytes = row.kept + kept[1], row.keptbytes + kept[2]
  row.replaced = row.replaced + (VECTORS[name] and all[2] - kept[2] or 0)
  -- Vectors do not count by time slice: the last vector of a growing table also contains the entries of
  -- earlier slices, because it replaced the earlier vectors.
  if not VECTORS[name] then
    add(row.inpart, part, kept[1])
    add(row.bytesin, part, kept[2])
  end
  add(row.types, name == "upvalue" and "Lua closure" or name, kept[2])
end

-- Returns the set of the lines with at least FEW kept samples. Only these receive a row, because rows of all
-- lines would need much memory.
--
-- bins: profile.bins: the samples by time slice
-- nearest: map from each call tree node to the line of its innermost Lua frame
-- proved: true: the file shows which survivors died later
-- wanted: kinds of blocks whose samples count (kindsof)
local function worthy(bins, nearest, proved, wanted)
  local kept, set = {}, {}
  for i, node in ipairs(bins.node) do
    local line = nearest[node]
    if line and wanted[bins.kind[i]] then
      local n = (kept[line] or 0) + bins.survived[i] - (proved and bins.later[i] or 0)
      kept[line] = n
      set[line] = n >= FEW or nil
    end
  end
  return set
end

-- Selects kinds of blocks: returns a map from the number of a kind to true. If 'native' is true, selects
-- native memory, otherwise Lua's memory.
local function kindsof(profile, native)
  local wanted = {}
  for i, kind in ipairs(profile.kinds) do
    wanted[i] = not kind.time and (kind.name == "native") == native
  end
  return wanted
end

-- Returns two values: the set of the time slices in which the program ran; and a map from time slice to its
-- number of time samples. The program ran in a slice if it allocated, or if collections took less than 75% of
-- the slice's CPU time (RAN).
--
-- wanted: kinds of blocks whose allocation counts (kindsof)
local function ranin(profile, wanted)
  local bins, ran, time, collecting = profile.bins, {}, {}, {}
  for i, part in ipairs(bins.bin) do
    if profile.kinds[bins.kind[i]].time then
      local fn = profile.functions[profile.nodes.fn[bins.node[i]]]
      local n = bins.time and bins.time[i] or bins.samples[i]
      add(time, part, n)
      add(collecting, part, fn and totals.iscollection(fn) and n or 0)
    else
      ran[part] = ran[part] or wanted[bins.kind[i]] and bins.samples[i] > 0 or nil
    end
  end
  for part, n in pairs(time) do
    ran[part] = ran[part] or n > 0 and n - collecting[part] >= RAN * n or nil
  end
  return ran, time
end

-- Numbers the time slices in which the program ran by 0, 1, 2, ... Returns a map from each slice to its
-- number, and how many slices have one. If the program ran in fewer than FEWBUSY slices, or in at least 75%
-- of all slices (PARTS), all slices have numbers.
--
-- n: number of all time slices
-- has: set of the slices in which the program ran
local function busyparts(n, has)
  local number, busy = {}, 0
  for part = 0, n - 1 do
    if has[part] then
      number[part], busy = busy, busy + 1
    end
  end
  if busy >= FEWBUSY and busy < PARTS * n then
    return number, busy
  end
  for part = 0, n - 1 do
    number[part] = part
  end
  return number, n
end

-- Returns the number of the time slice in the middle of those in which the program ran (busyparts).
--
-- n: only the first n time slices count
-- wanted: kinds of blocks whose samples count (kindsof)
local function middleof(profile, n, wanted)
  local busy, nbusy = busyparts(n, (ranin(profile, wanted)))
  for part = 0, n - 1 do
    if busy[part] == nbusy // 2 then
      return part
    end
  end
  return 0
end

-- Returns a row (newrow) for each line with at least FEW kept samples. Second result: the bytes that all
-- lines keep from the second half of the run.
--
-- n: only the first n time slices count, except in data about vectors
-- proved: true: the file shows which survivors died later
-- wanted: kinds of blocks whose samples count (kindsof)
local function keepers(profile, n, proved, wanted)
  local bins = profile.bins
  local _, _, nearest = totals.linerows(profile, true, true)
  local worth = worthy(bins, nearest, proved, wanted)
  local callers = related.callers(profile)
  local rows, byrow, late, middle = {}, {}, 0, middleof(profile, n, wanted)
  for i, node in ipairs(bins.node) do
    local part, line, kind = bins.bin[i], nearest[node], profile.kinds[bins.kind[i]]
    local survived, survivedbytes = bins.survived[i], bins.survivedbytes[i]
    local kept = survived - (proved and bins.later[i] or 0)
    local bytes = survivedbytes - (proved and bins.laterbytes[i] or 0)
    local counts = wanted[bins.kind[i]]
    local second = part >= middle and part < n and counts and bytes or 0
    local row = line and byrow[line]
    late = late + second
    if line and not row and worth[line] and counts then
      row = newrow(line)
      byrow[line] = row
      rows[#rows + 1] = row
    end
    if row and counts then
      add(row.callers, callers[node], bytes)
      row.late = row.late + second
      if part < n then
        addto(row, part, {bins.samples[i], bins.bytes[i]}, {kept, bytes}, kind.name)
        row.survived = row.survived + survived
        row.survivedbytes = row.survivedbytes + survivedbytes
      end
      if not VECTORS[kind.name] then
        add(row.sampled, part, bins.bytes[i])
      end
      local vector = row.vector
      if VECTORS[kind.name] then
        add(vector.made, part, bins.samples[i])
        add(vector.kept, part, kept)
        add(vector.bytes, part, bytes)
        add(vector, "all", bins.bytes[i])
        add(vector.types, kind.name, bytes)
        vector.keptbytes = vector.keptbytes + bytes
        vector.survived = vector.survived + survived
        vector.survivedbytes = vector.survivedbytes + survivedbytes
      end
    end
  end
  return rows, late
end

-- Measures the progress of the program by sampled bytes, because a short run may be idle most of its time.
-- Returns a table:
--
--   - parts: map from a time slice to its sampled bytes
--   - squares: map from a time slice to the variance of its bytes
--   - all: bytes of all time slices
--   - n: number of time slices
--   - from: first time slice of the last quarter of the bytes
--   - before: bytes before that slice
--
-- bins: profile.bins: the samples by time slice
-- wanted: kinds of blocks whose bytes count (kindsof)
local function clockof(bins, wanted)
  local parts, squares, all, after = {}, {}, 0, 0
  for i, part in ipairs(bins.bin) do
    local n = wanted[bins.kind[i]] and bins.bytes[i] or 0
    add(parts, part, n)
    add(squares, part, n * n / math.max(bins.samples[i], 1))
    all = all + n
  end
  local from = bins.n
  while from > 1 and after < all / 4 do
    from = from - 1
    after = after + (parts[from] or 0)
  end
  return {parts = parts, squares = squares, all = all, from = from, before = all - after, n = bins.n}
end

-- Returns true if a line keeps objects throughout the session. Three conditions must be met: the line keeps
-- objects from at least the share 'most' of the session, enough bytes from its second half (LATE), and some
-- bytes from its last quarter.
--
-- row: row of the line (newrow)
-- all: bytes that the line keeps
-- clock: sampled bytes by time slice (result of clockof)
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
  return covered >= most - 1e-9 and late + math.sqrt(variance) >= LATE * all and
         last >= all * SLOWER / 4 and last > 0
end

-- Returns true if a line keeps enough bytes, and if it allocated them throughout the run. There are two tests
-- for the second condition, and one is enough:
--
--   - The kept bytes are from most time slices.
--   - The kept bytes are from slices with most of the sampled bytes. This test does not apply to a flight
--     recorder.
--
-- row: row of the line (newrow)
-- n: number of the time slices that count (busyparts)
-- busy: map from these slices to their numbers (busyparts)
-- growth: bytes by which the heap grew
-- proved: true: the file shows which survivors died later
-- ring: true: the file is from a flight recorder. The bytes of its first slice are ignored, because they
-- include older objects
-- straight: true: the heap grows evenly. Then fewer slices are enough, because a growing queue has removed
-- its first elements
-- clock: sampled bytes by time slice (result of clockof)
local function steady(row, n, busy, growth, proved, ring, straight, clock)
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
  if row.kept < LEAST or not (spread(row, all, clock, function(part)
      return busy[part] and (busy[part] + 1) / n, 1 / n
    end, straight and SOME or PARTS) or not ring and spread(row, all, clock, function(part)
      return busy[part] and passed[part], (clock.parts[part] or 0) / math.max(total, 1)
    end, PARTS)) then
    return false
  end
  return (row.late >= WORTH * growth or proved and row.keptbytes >= ALL * (row.bytes - row.replaced)) and
         (proved or row.keptbytes >= SURVIVED * row.bytes and row.late <= ROOM * growth)
end

-- Returns the mean bytes that a sample represents, in the time slices from 'from' on. With this mean m, n
-- sampled bytes have the standard error sqrt(n * m).
--
-- clock: sampled bytes by time slice (clockof)
local function periodof(clock, from)
  local bytes, squares = 0, 0
  for part, square in pairs(clock.squares) do
    if part >= from then
      bytes, squares = bytes + clock.parts[part], squares + square
    end
  end
  return squares / math.max(bytes, 1)
end

-- Returns true if a line has stopped allocating: its rate at the end of the run is below the share SLOWER of
-- its earlier rate. The earlier rate is that of the bytes that the line keeps. There are two tests, and one
-- is enough: rates per unit of time, and rates per sampled byte of the program.
--
-- Must not be called for a flight recorder. Its first time slice contains older objects, so the earlier rate
-- would be too high.
--
-- row: row of the line (newrow)
-- n: only the first n time slices count
-- bins: profile.bins: the samples by time slice
-- clock: sampled bytes by time slice (result of clockof)
-- ran: set of time slices in which the program ran
-- time: map from time slice to its number of time samples
local function stopped(row, n, bins, clock, ran, time)
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
  return bytime > 0 and bytime >= FEW * periodof(clock, from) and after < SLOWER * bytime or
         bybytes > 0 and bybytes >= FEW * periodof(clock, clock.from) and late < SLOWER * bybytes
end

-- Returns four numbers about the vectors that a line allocated:
--
--   1. the number of samples
--   2. the number of kept samples
--   3. the number of time slices in which the line allocated vectors
--   4. the last of these slices
local function vectorsof(row)
  local made, kept, steps, last = 0, 0, 0, -1
  for part, samples in pairs(row.vector.made) do
    made, steps, last = made + samples, steps + 1, math.max(last, part)
    kept = kept + row.vector.kept[part]
  end
  return made, kept, steps, last
end

-- Replaces the numbers in the row of a line by those of its vectors alone.
--
-- row: row of the line (newrow)
-- made, kept: number of samples of vectors, and of kept ones
-- steps: number of time slices in which the line allocated vectors
-- n: number of all time slices
local function reduce(row, made, kept, steps, n)
  for _, key in ipairs{"survived", "survivedbytes", "keptbytes", "types"} do
    row[key] = row.vector[key]
  end
  row.samples, row.kept, row.late = made, kept, row.keptbytes
  row.parts, row.of = steps, n
end

-- Returns true if a line keeps the vectors (array or hash parts) of a table that grew until late in the run.
-- In this case, replaces the numbers in the line's row by those of the vectors alone (reduce).
--
-- row: row of the line (newrow)
-- n: number of time slices
-- clock: sampled bytes by time slice (result of clockof)
local function grows(row, n, clock)
  local made, kept, steps, last = vectorsof(row)
  local latest, since = row.vector.kept[last] or 0, 0
  for part = last + 1, n - 1 do
    since = since + (clock.parts[part] or 0)
  end
  if since > clock.all / 2 then
    return false
  end
  if steps < STEPS or last < n * 2 // 5 or latest < FEW or row.vector.bytes[last] < LAST * row.vector.all then
    return false
  end
  reduce(row, made, kept, steps, n)
  return true
end

-- Appends the row of a line to 'list'. If the line's objects are in several containers (tables, trees or
-- chains), appends one row for each container instead. These rows share the kept samples and bytes of the
-- line in proportion to 'size'. Their field 'whole' has the kept bytes of the line in all containers.
--
-- row: row of the line (newrow)
-- places: list of {holder (path to the container), size (the line's samples or bytes in it)}
-- list: receives the rows
local function divide(row, places, list)
  local all = 0
  for _, place in ipairs(places) do
    all = all + place.size
  end
  for _, place in ipairs(places) do
    local own = #places == 1 and row or {whole = row.keptbytes}
    if own ~= row then
      for key, value in pairs(row) do
        own[key] = value
      end
      for _, key in ipairs{"survived", "survivedbytes", "kept", "keptbytes", "late"} do
        own[key] = math.floor(row[key] * place.size / math.max(all, 1) + 0.5)
      end
    end
    own.container = place.holder
    list[#list + 1] = own
  end
end

-- Returns the containers into which each line leaks, as two maps from the key of a line to a list of {holder
-- (path to the container), size}:
--
--   1. containers with objects of the line; 'size' is the number of the line's samples in the container
--   2. containers to whose tables vectors of the line belong; 'size' is the bytes of these vectors
--
-- containers: containers that accumulate (accumulating.of); only those with the verdict "leak" count
local function placesof(containers)
  local objects, vectors = {}, {}
  local function append(to, key, place)
    to[key] = to[key] or {size = 0}
    table.insert(to[key], place)
    to[key].size = to[key].size + place.size
  end
  for _, c in ipairs(containers) do
    if c.verdict == "leak" then
      for key, n in pairs(c.lines) do
        append(objects, key, {holder = c.holder, size = n, parts = c.parts, of = c.of})
      end
      for key, bytes in pairs(c.vectors) do
        append(vectors, key, {holder = c.holder, size = bytes})
      end
    end
  end
  return objects, vectors
end

-- Returns two lists of rows:
--
--   1. lines that leak into containers (tables, trees or chains): their objects accumulate there, or they
--      allocated large vectors (array or hash parts) of the containers' tables
--   2. other lines with a growing table that causes at least half of the heap's growth (ALONE). An example is
--      an array of numbers. It is no container, because numbers are not sampled
--
-- containers: containers that accumulate (accumulating.of)
-- wanted: kinds of blocks whose samples count (kindsof)
-- grew: true: the heap grew
-- growth: bytes by which it grew
local function accumulated(profile, containers, wanted, grew, growth)
  local rows, alone, others = {}, {}, {}
  local objects, vectors = placesof(containers)
  local n, ended = profile.bins.n, 0
  local clock = clockof(profile.bins, wanted)
  for _, row in ipairs(keepers(profile, n, (profile.followed or 0) > 0, wanted)) do
    local places = objects[births.keyof(row)]
    if places then
      row.parts, row.of = places[1].parts, places[1].of
      divide(row, places, rows)
    else
      ended = ended + (row.kept >= LEAST and row.keptbytes - row.vector.keptbytes or 0)
      others[#others + 1] = row
    end
  end
  for _, row in ipairs(others) do
    local places = vectors[births.keyof(row)]
    if places and places.size >= WORTH * growth then
      local made, kept, steps = vectorsof(row)
      reduce(row, made, kept, steps, n)
      row.keptbytes, row.late = places.size, places.size
      divide(row, places, rows)
    elseif grows(row, n, clock) then
      if places then
        divide(row, places, rows)
      elseif grew and row.late >= ALONE * growth and row.keptbytes > ended then
        alone[#alone + 1] = row
      end
    end
  end
  return rows, alone
end

-- Returns data about the lines that keep objects from both halves of the run, but have too few samples
-- (LEAST) to decide whether they leak. Returns nil if there are no such lines.
--
--   - lines: number of these lines
--   - least: LEAST
--   - alloc: sampling period in bytes with which the largest of these lines would have enough samples; nil:
--     the period would be below 1,024
--
-- n: only the first n time slices count
-- proved: true: the file shows which survivors died later
-- wanted: kinds of blocks whose samples count (kindsof)
local function fewof(profile, n, proved, wanted)
  local bins, sums, lines, most = profile.bins, {}, 0, 0
  local middle = middleof(profile, n, wanted)
  local _, _, nearest = totals.linerows(profile, true, true)
  for i, node in ipairs(bins.node) do
    local line, part = nearest[node], bins.bin[i]
    local kept = bins.survived[i] - (proved and bins.later[i] or 0)
    if line and wanted[bins.kind[i]] and part < n and kept > 0 then
      local s = sums[line] or {kept = 0, samples = 0}
      s.kept, s[part < middle and "old" or "new"] = s.kept + kept, true
      sums[line] = s
    end
  end
  for _, s in pairs(sums) do
    if s.old and s.new and s.kept < LEAST then
      lines, most = lines + 1, math.max(most, s.kept)
    end
  end
  local alloc, power = (profile.period or 0) * most // (2 * LEAST), 1024
  while power * 2 <= alloc do
    power = power * 2
  end
  return lines > 0 and {lines = lines, least = LEAST, alloc = alloc >= power and power or nil} or nil
end

-- Returns the rows of lines that are likely to leak: first the lines that keep objects throughout the run
-- (steady), then lines with a growing table (grows).
--
-- If there are lines of the first kind, all growing tables are reported, because these lines' objects may be
-- in them. Otherwise a growing table must keep enough bytes (WORTH), and more bytes than all lines that have
-- stopped allocating.
--
-- rows: lines with enough kept samples (keepers)
-- n: only the first n time slices count
-- growth: bytes by which the heap grew
-- proved: true: the file shows which survivors died later
-- straight: true: the heap grows evenly
local function likely(profile, rows, n, growth, proved, straight)
  local list, vectors, all = {}, {}, profile.bins.n
  local clock = clockof(profile.bins, kindsof(profile, false))
  local ended = 0  -- bytes kept by lines that have stopped allocating
  local ran, time = ranin(profile, kindsof(profile, false))
  local busy, nbusy = busyparts(n, ran)
  for _, row in ipairs(rows) do
    if steady(row, nbusy, busy, growth, proved, profile.ring, straight, clock) and
       (profile.ring or not stopped(row, n, profile.bins, clock, ran, time)) then
      list[#list + 1] = row
    else
      local own = row.keptbytes - row.vector.keptbytes
      ended = ended + (row.kept >= LEAST and own or 0)
      vectors[#vectors + 1] = grows(row, all, clock) and row or nil
    end
  end
  local others = #list > 0
  for _, row in ipairs(vectors) do
    list[#list + 1] = (others or row.late >= WORTH * growth and row.keptbytes > ended) and row or nil
  end
  return list
end

-- Returns true if some lines may cause the growth of the heap: the growth is at least half of the bytes that
-- the lines keep from the second half of the run. The growth is smaller if the lines fill a cache, because
-- the cache drops older objects.
--
-- rows: rows of the lines (newrow)
-- growth: bytes by which the heap grew
local function explained(rows, growth)
  local late = 0
  for _, row in ipairs(rows) do
    late = late + row.late
  end
  return late > 0 and late <= 2 * growth
end

-- Returns the samples of a line that are in one container. Both 'own' and the result map the number of a path
-- of references to the number of samples at its end.
--
-- own: all samples of the line
-- starting: function that returns true for a path that leads to the container (result of holders.starting)
local function inside(own, starting)
  local part = {}
  for path, n in pairs(own) do
    part[path] = starting(path) and n or nil
  end
  return part
end

-- Sets two fields of each row: 'holders', the paths of references that keep the line's samples alive; and
-- 'held', the number of samples with a known path. Does nothing if the file has no paths.
local function hold(profile, rows)
  local h = profile.holders
  if not h then
    return
  end
  local _, _, nearest = totals.linerows(profile, true, true)
  local groups = holders.grouped(h, function(node)
    return nearest[node] and births.keyof(nearest[node])
  end)
  local starting = {}  -- map from the path of a container (text) to a result of holders.starting
  for _, row in ipairs(rows) do
    local own, at = groups[births.keyof(row)], row.container
    if own and row.whole then
      starting[at or ""] = starting[at or ""] or at and holders.starting(h, at) or function() end
      own = inside(own, starting[at or ""])
    end
    if own then
      row.holders, row.held = holders.of(h, own)
    end
  end
end

-- Returns the type of block that has most of the bytes that a line keeps. 'row': the line (newrow).
local function typeof(row)
  local best, most
  for name, bytes in pairs(row.types) do
    if not best or bytes > most or bytes == most and name < best then
      best, most = name, bytes
    end
  end
  return best
end

-- Returns the rows of lines that leak native memory, and the bytes of native memory that all lines keep from
-- the second half of the run.
local function nativerows(profile)
  local n, list = profile.bins.n, {}
  if not profile.malloc or not profile.bins.later then
    return list, 0
  end
  local wanted = kindsof(profile, true)
  local rows, late = keepers(profile, n, true, wanted)
  local busy, nbusy = busyparts(n, (ranin(profile, wanted)))
  local clock = clockof(profile.bins, wanted)
  for _, row in ipairs(rows) do
    list[#list + 1] = steady(row, nbusy, busy, late, true, profile.ring, false, clock) and row or nil
  end
  return list, late
end

-- Groups lines by the table that holds most of their objects. Sets the field 'group' of each row to the
-- number of its group. A row without a known holder stays in its present group. Returns a list with the same
-- rows, the group with most kept bytes first.
local function byholder(rows)
  local bytes, list = {}, table.move(rows, 1, #rows, 1, {})
  for _, row in ipairs(rows) do
    local first = row.holders and row.holders[1]
    row.container = row.container or first and holders.container(first.text) or nil
    row.group = row.container or row.group
    bytes[row.group] = (bytes[row.group] or 0) + row.keptbytes
  end
  table.sort(list, function(a, b)
    if bytes[a.group] ~= bytes[b.group] then
      return bytes[a.group] > bytes[b.group]
    elseif a.group ~= b.group then
      return tostring(a.group) < tostring(b.group)
    end
    return larger(a, b)
  end)
  local n, last = 0, nil
  for _, row in ipairs(list) do
    n = n + (row.group ~= last and 1 or 0)
    last, row.group = row.group, n
  end
  return list
end

-- Returns true if the program mainly loads data: it keeps more than the share LOADED of its bytes. Native
-- memory, and bytes whose survival is unknown, do not count.
local function loads(profile)
  local sites, kept, all = profile.sites, 0, 0
  for i, bytes in ipairs(sites.bytes) do
    local kind = profile.kinds[sites.kind[i]]
    if not kind.time and kind.name ~= "native" then
      kept = kept + sites.survivedbytes[i] - (sites.laterbytes and sites.laterbytes[i] or 0)
      all = all + bytes - sites.undecidedbytes[i]
    end
  end
  return kept > LOADED * all
end

-- Moves all likely leaks to the field 'maybe' if the program may only have been loading data when it was
-- stopped. Two conditions must be met:
--
--   - The program mainly loads data (loads).
--   - Each holder is unknown, a local variable, or an object in a chain from a local variable.
--
-- Does nothing if the file has a heap walk at its end, because that shows the holders.
--
-- found: the result that M.of will return; its rows are the likely leaks
-- walked: true: the file has a heap walk at its end
local function doubt(profile, found, walked)
  if walked or profile.ring or found.native or #found.rows == 0 or not loads(profile) then
    return
  end
  local maybe, known = {}, {}
  for i, row in ipairs(found.rows) do
    local first = row.holders and row.holders[1]
    local path, many = holders.container(first and first.text or "")
    if path ~= "" and (not path:find '^local "' or many and path:find(holders.ARROW, 1, true)) then
      return
    end
    local key = row.container or row.group
    maybe[#maybe + 1] = not known[key] and {holder = row.container, samples = row.kept, file = row.file,
                                            line = row.line, name = row.name, native = row.native} or nil
    known[key] = i
  end
  found.rows, found.maybe = {}, maybe
end

-- Converts a container that may leak (c, an element of accumulating.of) to an element of 'maybe' (M.of).
local function possible(c)
  local file, line, name, native = births.lineof(c.most)
  return {holder = c.holder, samples = c.n, file = file, line = line, name = name, native = native,
          stopped = c.stopped}
end

-- Merges containers that are inside of others, such as fields of the nodes of a chain. The outermost
-- container remains, and receives the samples of the others. Its line becomes that of the container with most
-- samples. Tables of modules, globals and references (holders.NAMED) do not count as outer containers.
-- Returns the remaining elements, most samples first.
--
-- maybe: elements of 'maybe' (M.of)
local function outermost(maybe)
  local list, most = {}, {}
  for _, c in ipairs(maybe) do
    c.depth = #(c.holder or "")
    most[c] = c.samples
  end
  table.sort(maybe, order.by("depth", "holder", "-samples", "file", "line"))
  for _, c in ipairs(maybe) do
    local outer
    for _, o in ipairs(list) do
      local start = (o.holder or "") .. holders.ARROW
      outer = outer or o.holder and not holders.NAMED[o.holder] and c.holder and
              c.holder:sub(1, #start) == start and o or nil
    end
    if outer and c.samples > most[outer] then
      outer.file, outer.line, outer.name, outer.native = c.file, c.line, c.name, c.native
      most[outer] = c.samples
    end
    if outer then
      outer.samples = outer.samples + c.samples
    else
      list[#list + 1] = c
    end
    c.depth = nil
  end
  table.sort(list, order.by("-samples", "file", "line"))
  return list
end

-- Returns the field 'maybe' of M.of: a list of the containers with the verdict "maybe", and of the lines with
-- a growing table that is in no container. Returns nil if there are none. The second result is the parameter
-- 'few' if a container has the verdict "few", else nil.
--
-- containers: containers that accumulate (accumulating.of)
-- alone: rows of lines with a growing table (accumulated)
-- few: data about lines with too few samples (fewof)
local function undecided(profile, containers, alone, few)
  local maybe, isfew = {}, false
  for _, c in ipairs(containers) do
    maybe[#maybe + 1] = c.verdict == "maybe" and possible(c) or nil
    isfew = isfew or c.verdict == "few"
  end
  maybe = outermost(maybe)
  hold(profile, alone)
  for _, row in ipairs(alone) do
    local first = row.holders and row.holders[1]
    maybe[#maybe + 1] = {holder = first and holders.container(first.text), samples = row.kept,
                         file = row.file, line = row.line, name = row.name, native = row.native}
  end
  return #maybe > 0 and maybe or nil, isfew and few or nil
end

-- Returns the sampling period in bytes, a power of 2, with which a growth of n bytes would have 2 * LEAST
-- samples. Returns nil if the present period is short enough, or if the result would be below 1,024 bytes.
local function finer(profile, n)
  local mean = profile.bytes and profile.samples > 0 and profile.bytes / profile.samples or 0
  local most, period = n // (2 * LEAST), 1024
  if most < period or mean <= most then
    return nil
  end
  while 2 * period <= most do
    period = 2 * period
  end
  return period
end

-- Returns the result of M.of for Lua's memory without native memory; its rows are not grouped yet. Returns
-- nil if the run had too few collections to find the size of the heap in its second and last quarter.
local function ofheap(profile)
  local n, wanted = profile.bins.n, kindsof(profile, false)
  local busy, nbusy = busyparts(n, (ranin(profile, wanted)))
  local place = {}
  for part, number in pairs(busy) do
    place[number] = part
  end
  local before, after = births.quarters(profile)
  before = before or floor(profile, place[nbusy // 4] or 0, place[nbusy // 2] or 0)
  after = after or floor(profile, place[nbusy * 3 // 4] or n, n)
  if not before or not after or before == 0 then
    return nil
  end
  local middle = floor(profile, place[nbusy // 2] or 0, place[nbusy * 3 // 4] or n)
  local straight = middle and after - middle >= STRAIGHT * (middle - before) and middle > before
  local known = judged(profile)
  local proved = known ~= nil
  n = known or n
  local rows, late = keepers(profile, n, proved, wanted)
  local found = {parts = n, proved = proved, before = before, after = after,
                 late = late, grew = after > GROWTH * before,
                 kept = proved or after - before >= KEPT * late, rows = {},
                 few = fewof(profile, n, proved, wanted)}
  local containers, loaded = accumulating.of(profile)
  if containers then
    local alone
    found.rows, alone = accumulated(profile, containers, wanted, found.grew, after - before)
    found.maybe, found.few = undecided(profile, containers, alone, found.few)
    if found.grew and #found.rows == 0 and loaded and loaded.bytes >= ALONE * (after - before) then
      found.maybe = found.maybe or {possible(loaded)}
    end
    found.grew = found.grew or #found.rows > 0
  elseif found.grew or after > SLOW * before then
    local list = found.kept and likely(profile, rows, n, after - before, proved, straight) or {}
    found.rows = (found.grew or explained(list, after - before)) and list or {}
    found.grew = found.grew or #found.rows > 0
  end
  if found.grew and #found.rows == 0 and not found.few then
    found.alloc = finer(profile, after - before)
  end
  return found
end

-- Returns the reason why no leaks can be found in a profile, as a clause for a sentence. Returns nil if leaks
-- can be found.
local function lacking(profile)
  local bins = profile.bins
  return (profile.samples or 1) == 0 and "the file has no allocation samples" or
    profile.profiles and "the file was merged from several profiles, whose own reports list likely leaks" or
    not profile.lines and "the file has no line numbers" or
    profile.own == false and "another profiler wrote the file, without records of which objects survived" or
    not (profile.course and profile.fates) and "the run had no collection; profile a longer run" or
    profile.survived == 0 and "none of the samples survived a collection" or
    (not bins or bins.n < M.BINS // 2) and "the file does not record when samples were taken" or nil
end

--- Returns the lines that are likely to leak as a table. Returns nil and a clause with the reason if the
-- profile lacks data. If the size of the heap is unknown, only native memory is judged, and 'before' and
-- 'after' are nil.
--
--   - parts: number of time slices that count: those before the last major collection, or all
--   - proved: true: the file shows which survivors died later
--   - before: smallest number of bytes in use after a collection in the second quarter of the run
--   - after: smallest number of bytes in use after a collection in the last quarter of the run
--   - grew: true: the heap grew
--   - late: bytes allocated in the second half of the run and kept
--   - kept: false: most of the bytes 'late' must have died later, because the heap grew by less than the
--     share KEPT of them; always true if 'proved' is true
--   - few: lines with too few samples: {lines (number), least, alloc} (fewof); nil: none
--   - alloc: sampling period that would find the lines, if there are neither rows nor 'few'
--   - native: kept bytes of native memory from the second half; nil: no row has any
--   - rows: rows for lines, or for C functions (line 0, native = true). Rows with the same container (table,
--     tree or chain that holds their objects) are adjacent. Fields of a row:
--     - file, line, name: the line's file, number and function
--     - native: true: a C function
--     - samples: number of samples that the line allocated in the slices that count
--     - survived, survivedbytes: samples and bytes that survived their first collection
--     - kept, keptbytes: of these, samples and bytes not found dead later
--     - whole: kept bytes of the line in all containers; nil: the line has only this row
--     - late: kept bytes from the second half
--     - parts: number of time slices with kept objects, or of parts of the run by allocated bytes
--     - of: number of all such slices or parts
--     - type: type of block with most kept bytes; "native": native memory
--     - group: number of the container
--     - holders: main holders, a list of {text (path of references), samples, share (of 'held')}; nil:
--       unknown
--     - held: samples with a known holder
--   - maybe: list of the containers that may leak; nil: none. Fields of a container:
--     - holder: path to the container; nil: unknown
--     - samples: number of live samples in it
--     - file, line, name, native: line that allocated most of them
--     - stopped: share of the CPU time at which the container's growth stopped; nil: it did not stop
function M.of(profile)
  local bins, lacks = profile.bins, lacking(profile)
  if lacks then
    return nil, lacks
  end
  local native, late = nativerows(profile)
  local found = ofheap(profile)
  if not found and #native == 0 then
    return nil, "the run had too few collections; profile a longer run"
  end
  found = found or {parts = bins.n, proved = true, grew = false, kept = true, late = 0, rows = {}}
  found.native = #native > 0 and late or nil
  table.move(native, 1, #native, #found.rows + 1, found.rows)
  if #native > 0 and #native == #found.rows then
    found.parts, found.proved = bins.n, true
  end
  if #found.rows > 0 then
    found.rows = related.grouped(found.rows)
    hold(profile, found.rows)
    found.rows = byholder(found.rows)
    doubt(profile, found, births.of(profile) ~= nil)
    for _, row in ipairs(found.rows) do
      row.type = typeof(row)
      row.inpart, row.bytesin, row.types, row.callers = nil, nil, nil, nil
      row.vector, row.defined, row.bytes, row.replaced, row.sampled = nil, nil, nil, nil, nil
    end
  end
  return found
end

return M
