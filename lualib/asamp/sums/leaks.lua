-- SPDX-License-Identifier: MIT
-- Finds the lines of a program that are likely to leak.
--
-- The session is divided into slices ("parts") of equal time. Leaks are searched only if the heap grew
-- (GROWTH). A line is likely to leak if it keeps objects from most slices, early and late ones (steady), or
-- if it keeps a growing table (grows). "Kept" objects survived their first collection, and no major
-- collection found them dead. If the file has no deaths, or if the last major collection was in the first
-- half of the session, the result is not "proved" and further conditions apply. Native memory is judged
-- separately. If the file has a heap walk from its end, asamp.sums.accumulating judges Lua's memory.
--
-- All shares are of bytes, not of samples: a limit of samples per second changes the sampling period. Lines
-- are grouped by the table that holds their objects.

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
-- The heap grew if its least size in the last quarter of the run is above GROWTH times that in the second.
local GROWTH = 1.1
-- SLOW suffices instead of GROWTH if the likely leaks explain the growth (explained).
local SLOW = 1.02
-- A result that is not proved requires two more conditions: the heap grew by at least KEPT times the bytes
-- that survived in the second half, and a line's survivors there are at most ROOM times the growth. In any
-- result, a line must keep at least WORTH times the growth.
local KEPT, ROOM, WORTH = 1 / 3, 3 / 2, 1 / 20
-- A line leaks if it keeps at least the share SURVIVED of its bytes (required only if deaths are unknown),
-- has kept objects from the share PARTS of the slices, and has the share LATE of its kept bytes from the
-- second half.
local SURVIVED, PARTS, LATE = 1 / 2, 3 / 4, 2 / 5
-- An array of numbers, or loaded data, is reported if it is at least this share of the heap's growth.
local ALONE = 1 / 2
-- A line that keeps at least this share of its bytes need not keep WORTH of the growth, if its deaths are
-- known.
local ALL = 9 / 10
-- A program that keeps more than this share of its allocated bytes mainly loads data.
local LOADED = 1 / 2
-- Slices of time in which the program did not run are ignored if at least this number of others remain.
local FEWBUSY = 4
-- The program ran in a part if at least this share of its CPU time is outside of collections.
local RAN = 1 / 4
-- A line has stopped allocating if its rate at the end of the run is below this share of its mean rate.
local SLOWER = 1 / 4
-- A heap grows evenly if its least size grows from the third quarter to the last by at least STRAIGHT times
-- the growth from the second to the third. A line that leaks then needs kept objects from the share SOME of
-- the slices, not PARTS.
local STRAIGHT, SOME = 1 / 2, 1 / 2
-- Limits of 'grows'. FEW: fewest live samples of the line's last vector (at most LEAST, because 'worthy'
-- uses FEW for all lines); STEPS: fewest time slices with new vectors; LAST: least share of the last such
-- slice in the bytes of all vectors.
local FEW, STEPS, LAST = 6, 3, 1 / 4

-- Types of vectors: the blocks with the slots of a table.
local VECTORS = {["table array part"] = true, ["table hash part"] = true}

-- Returns the least bytes in use after a collection in the time slices 'from' to 'to' - 1; nil: these slices
-- have no collection.
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

-- Returns the number of time slices before the last major collection; later deaths are unknown. nil: fewer
-- than half of the slices, or the file has no deaths.
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

-- Adds the samples of the type 'name' in one time slice ('part') to a row. 'all' has the samples and bytes
-- allocated, 'kept' those kept.
local function addto(row, part, all, kept, name)
  row.samples, row.bytes = row.samples + all[1], row.bytes + all[2]
  row.kept, row.keptbytes = row.kept + kept[1], row.keptbytes + kept[2]
  row.replaced = row.replaced + (VECTORS[name] and all[2] - kept[2] or 0)
  -- without vectors: the last vector of a growing table also has the bytes of earlier time slices
  if not VECTORS[name] then
    add(row.inpart, part, kept[1])
    add(row.bytesin, part, kept[2])
  end
  add(row.types, name == "upvalue" and "Lua closure" or name, kept[2])
end

-- Returns the set of lines with at least FEW kept samples. 'nearest' maps nodes to lines (totals.linerows).
-- Rows for all lines would need much memory.
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

-- Returns the set of kinds of native memory if 'native' is true, else of Lua's memory.
local function kindsof(profile, native)
  local wanted = {}
  for i, kind in ipairs(profile.kinds) do
    wanted[i] = not kind.time and (kind.name == "native") == native
  end
  return wanted
end

-- Returns the set of the time slices in which the program ran, and the number of time samples by slice. It
-- ran in a slice that has allocation samples of a 'wanted' kind, or the share RAN of its time samples
-- outside of collections.
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

-- Numbers the slices in which the program ran (the set 'has'), among the first n. Numbers all n slices
-- instead if fewer than FEWBUSY are in the set, or at least the share PARTS. Returns a map from slice to
-- number (0, 1, ...), and the number of slices in it.
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

-- Returns the slice of the run (0 to n - 1) in the middle of those that busyparts numbers.
local function middleof(profile, n, wanted)
  local busy, nbusy = busyparts(n, (ranin(profile, wanted)))
  for part = 0, n - 1 do
    if busy[part] == nbusy // 2 then
      return part
    end
  end
  return 0
end

-- Returns a list of rows (newrow), one for each line with enough kept samples, over the first n slices. Also
-- returns the bytes that all lines keep from the second half.
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

-- Divides a session by sampled bytes instead of time, because a short run may mostly wait at its start.
-- Returns {parts (bytes by slice), squares (their variances), all (sum of bytes), from (slice in which the
-- last quarter of the bytes starts), before (bytes before it), n (number of slices)}.
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

-- Returns true if a line keeps bytes from enough slices, early and late ones. 'all': its kept bytes.
-- at(slice) returns the slice's end and length as shares of the session; nil: the slice does not count.
-- 'most': least total length of the slices from which it must keep objects.
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

-- Returns true if a line keeps objects from the whole run, by time or by sampled bytes. 'busy', n: the
-- slices that count, and their number (busyparts). 'growth': of the heap, bytes. 'proved': deaths are known.
-- 'ring': ignores the first slice, to which a flight recorder adds older objects. 'straight': the heap grows
-- evenly; requires fewer slices, because a growing queue has lost its first elements.
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

-- Returns the mean p of the bytes that a sample represents, weighted by bytes, from slice 'from' on. The
-- standard error of n sampled bytes is the square root of n * p.
local function periodof(clock, from)
  local bytes, squares = 0, 0
  for part, square in pairs(clock.squares) do
    if part >= from then
      bytes, squares = bytes + clock.parts[part], squares + square
    end
  end
  return squares / math.max(bytes, 1)
end

-- Returns true if a line has stopped allocating: its last slices have far fewer bytes, dead or alive, than
-- its earlier rate predicts. The rate is per sampled byte of the program ('clock'), per slice in which it
-- ran ('ran'), and per CPU time ('time'). Not for a flight recorder, whose first slice has older objects.
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

-- Returns four numbers about a line's vectors: allocated samples, kept samples, time slices with allocated
-- samples, the last such slice.
local function vectorsof(row)
  local made, kept, steps, last = 0, 0, 0, -1
  for part, samples in pairs(row.vector.made) do
    made, steps, last = made + samples, steps + 1, math.max(last, part)
    kept = kept + row.vector.kept[part]
  end
  return made, kept, steps, last
end

-- Changes a row so that its numbers are those of its line's vectors only. 'made', 'kept': their
-- allocated and kept samples; 'steps', n: number of time slices with allocated samples, and of all.
local function reduce(row, made, kept, steps, n)
  for _, key in ipairs{"survived", "survivedbytes", "keptbytes", "types"} do
    row[key] = row.vector[key]
  end
  row.samples, row.kept, row.late = made, kept, row.keptbytes
  row.parts, row.of = steps, n
end

-- Returns true if a line keeps the vectors of a table that grew until about the end of time slice n: they are
-- from at least STEPS slices, and the last one is alive and large. Then also changes the row (reduce).
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

-- Appends to 'list' a row for each container in which a line's objects are. 'places': a list of {holder, size
-- (the line's samples or bytes in it)}. If there is more than one, the rows are copies of 'row' with
-- shares of its kept samples and bytes, and the field 'whole' has the kept bytes of 'row'.
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

-- Returns the places (see divide) of lines in the containers that leak: by key of the line, its objects; and
-- its vectors. 'containers': result of accumulating.of. A place of objects also has the container's fields
-- parts and of.
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

-- Returns the rows of lines whose containers accumulate (asamp.sums.accumulating), or that allocated large
-- vectors (array or hash parts) of tables in such containers. Second result: rows of other lines with
-- growing vectors, such as arrays of numbers, whose elements are not sampled. 'grew': true if the heap grew;
-- 'growth': by how many bytes.
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

-- Returns {lines, least, alloc}, about lines that keep objects from both halves of the run but have too few
-- samples. 'lines': their number; 'least': LEAST, the samples needed; 'alloc': sampling period in bytes with
-- which the largest line would have enough (nil: unknown). Returns nil if there are no such lines.
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

-- Returns the rows that are likely to leak: lines that keep objects throughout the run, and lines with
-- growing tables. Growing tables count if they keep enough bytes, or if there are lines of the first kind,
-- whose objects they may hold. n: number of judged time slices; 'growth': of the heap, bytes; 'proved':
-- deaths are known; 'straight': the heap grows evenly.
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

-- Returns true if these lines keep from the second half at most twice the heap's growth. A full cache keeps
-- more, because it replaces its objects.
local function explained(rows, growth)
  local late = 0
  for _, row in ipairs(rows) do
    late = late + row.late
  end
  return late > 0 and late <= 2 * growth
end

-- Returns the part of 'own', a map from paths to samples, whose paths start with the text 'container'.
local function inside(h, own, container)
  local part = {}
  for path, n in pairs(own) do
    local text = path > 0 and holders.pathtext(h, path) or ""
    part[path] = container and text:sub(1, #container) == container and n or nil
  end
  return part
end

-- Adds the holders of live samples to rows, if the file has them.
local function hold(profile, rows)
  local h = profile.holders
  if not h then
    return
  end
  local _, _, nearest = totals.linerows(profile, true, true)
  local groups = holders.grouped(h, function(node)
    return nearest[node] and births.keyof(nearest[node])
  end)
  for _, row in ipairs(rows) do
    local own = groups[births.keyof(row)]
    own = own and row.whole and inside(h, own, row.container) or own
    if own then
      row.holders, row.held = holders.of(h, own)
    end
  end
end

-- Returns the type with most of the bytes that a row keeps.
local function typeof(row)
  local best, most
  for name, bytes in pairs(row.types) do
    if not best or bytes > most or bytes == most and name < best then
      best, most = name, bytes
    end
  end
  return best
end

-- Returns the rows of lines that leak native memory, and the bytes that all lines allocated in the second
-- half of the run and kept.
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

-- Groups rows by the table that holds most of their objects. Rows without a known holder keep their group.
-- Returns a new list; the groups with the most kept bytes are first.
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

-- Returns true if the program mainly loads data: it keeps more than the share LOADED of its allocated bytes.
-- Counts only bytes of Lua's memory whose survival is known.
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

-- Moves the rows to 'maybe' if the program may have been stopped while it loaded data: it keeps more than
-- LOADED of its bytes, and all holders are unknown, local variables, or chains from these. Does nothing if
-- 'walked': a heap walk shows the holders at the end.
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

-- Returns the row that the list 'maybe' of M.of has for a container.
local function possible(c)
  local file, line, name, native = births.lineof(c.most)
  return {holder = c.holder, samples = c.n, file = file, line = line, name = name, native = native,
          stopped = c.stopped}
end

-- Returns the list 'maybe' of M.of's result (nil: empty): the containers with the verdict "maybe", and the
-- rows 'alone' with their holders. Also returns 'few' if a container has too few samples, else nil.
local function undecided(profile, containers, alone, few)
  local maybe, isfew = {}, false
  for _, c in ipairs(containers) do
    maybe[#maybe + 1] = c.verdict == "maybe" and possible(c) or nil
    isfew = isfew or c.verdict == "few"
  end
  table.sort(maybe, order.by("-samples", "file", "line"))
  hold(profile, alone)
  for _, row in ipairs(alone) do
    local first = row.holders and row.holders[1]
    maybe[#maybe + 1] = {holder = first and holders.container(first.text), samples = row.kept,
                         file = row.file, line = row.line, name = row.name, native = row.native}
  end
  return #maybe > 0 and maybe or nil, isfew and few or nil
end

-- Returns the sampling period, a power of 2, with which n bytes of growth have about 2 * LEAST samples. nil:
-- the present period is short enough, or the result is below 1024.
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

-- Returns the result of M.of for Lua's memory alone, before its rows are grouped. nil: the file lacks data.
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

-- Returns the reason why no leaks can be found in the profile, a clause; nil: they can.
local function lacking(profile)
  local bins = profile.bins
  return (profile.samples or 1) == 0 and "it has no allocation samples" or
    profile.profiles and "it was merged from several profiles, whose own reports list likely leaks" or
    not profile.lines and "it has no line numbers" or
    profile.own == false and "it does not record which objects survived: Asamp did not write it" or
    not (profile.course and profile.fates) and "the run had no collection; profile a longer run" or
    profile.survived == 0 and "none of its samples survived a collection" or
    (not bins or bins.n < M.BINS // 2) and "it does not record when its samples were taken" or nil
end

--- Returns likely leaks; nil and a clause with the reason if the profile lacks data. Without collections,
-- fields about bytes in use are nil. Fields:
--
--   - parts (number of judged time slices); proved (true: deaths are known)
--   - before, after: least bytes in use in the second and the last quarter; grew (true: the heap grew)
--   - late: bytes allocated in the second half and kept; kept (true: lines can be judged)
--   - rows, of lines or C functions (line 0, native = true): {file, line, name, native; samples, survived,
--     survivedbytes, kept, keptbytes (in the judged slices); late (kept bytes from the second half), parts
--     (number of slices with kept objects), of (number of judged slices), type (of most kept bytes;
--     "native": native memory), group, holders ({text, samples, share (of 'held')}; nil: unknown), held
--     (number of samples with a known holder)}; rows with the same container are adjacent and have the same
--     group
--   - few: {lines, least, alloc} about lines with too few samples (fewof); nil: none
--   - alloc: sampling period that would find the lines, if rows and 'few' have none
--   - maybe: containers that may accumulate: {holder, samples, file, line, name, native, stopped (share of
--     the CPU time at which growth stopped; nil: it did not)}; nil: none
--   - native: kept bytes of native memory from the second half; nil: no row has any
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
