-- SPDX-License-Identifier: MIT
-- Finds the lines of a program that are likely to leak.
--
-- If the file has a heap walk from its end, asamp.sums.accumulating judges Lua's memory. Otherwise this
-- module judges it. It divides the session into time slices of equal length. If the heap grew (GROWTH), a
-- line is likely to leak in two cases (asamp.sums.growinglines): it keeps objects from most time slices,
-- early and late ones; or it keeps a growing table.
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
local growinglines = require "asamp.sums.growinglines"
local holders = require "asamp.sums.holders"
local keptlines = require "asamp.sums.keptlines"
local order = require "asamp.sums.order"
local related = require "asamp.sums.related"
local totals = require "asamp.sums.totals"

local M = {}

local LEAST, WORTH = growinglines.LEAST, growinglines.WORTH

--- Number of time slices to request from the reader, which returns at least half as many.
M.BINS = 16

-- The heap grew if its smallest size in the last quarter of the run is 10% above that in the second quarter.
local GROWTH = 1.1
-- The heap has also grown if it is only 2% larger, but leaks explain the growth (explained): the growth is at
-- least half of the bytes that the likely leaks keep from the second half of the run.
local SLOW = 1.02
-- The growth of the live heap must be at least a third of all bytes that survived in the
-- second half of the run. This limit only applies if the profile does not record which survivors died later.
local KEPT = 1 / 3
-- Limit for two kinds of possible leaks (list 'maybe' of M.of): a line with a growing array of numbers, and a
-- container of loaded data. Such a leak is listed only if it causes at least half of the heap's growth.
local ALONE = 1 / 2
-- The heap grows evenly if its growth from the third to the last quarter of the run is at least half of its
-- growth from the second to the third quarter.
local STRAIGHT = 1 / 2
-- A program that keeps more than half of its allocated bytes mainly loads data.
local LOADED = 1 / 2

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

-- Appends the row of a line to 'list'. If the line's objects are in several containers (tables, trees or
-- chains), appends one row for each container instead. These rows share the kept samples and bytes of the
-- line in proportion to 'size'. Their field 'whole' has the kept bytes of the line in all containers.
--
-- row: row of the line (keptlines.rows)
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
-- wanted: kinds of blocks whose samples count (keptlines.kinds)
-- grew: true: the heap grew
-- growth: bytes by which it grew
local function accumulated(profile, containers, wanted, grew, growth)
  local rows, alone, others = {}, {}, {}
  local objects, vectors = placesof(containers)
  local n = profile.bins.n
  for _, row in ipairs(keptlines.rows(profile, n, (profile.followed or 0) > 0, wanted)) do
    local places = objects[births.keyof(row)]
    if places then
      row.parts, row.of = places[1].parts, places[1].of
      divide(row, places, rows)
    else
      others[#others + 1] = row
    end
  end
  for _, row in ipairs(others) do
    local places = vectors[births.keyof(row)]
    if places and places.size >= WORTH * growth then
      local made, kept, steps = growinglines.vectors(row)
      growinglines.reduce(row, made, kept, steps, n)
      row.keptbytes, row.late = places.size, places.size
      divide(row, places, rows)
    elseif growinglines.grows(row, n) then
      if places then
        divide(row, places, rows)
      elseif grew and row.late >= ALONE * growth then
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
-- wanted: kinds of blocks whose samples count (keptlines.kinds)
local function fewof(profile, n, proved, wanted)
  local bins, sums, lines, most = profile.bins, {}, 0, 0
  local middle = keptlines.middle(profile, n, wanted)
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

-- Returns the rows of lines that are likely to leak: first the lines that keep objects throughout the run,
-- then lines with a growing table.
--
-- If there are lines of the first kind, all growing tables are reported, because these lines' objects may be
-- in them. Otherwise a growing table must keep enough bytes (WORTH), and more bytes than all lines that have
-- stopped allocating.
--
-- rows: lines with enough kept samples (keptlines.rows)
-- n: only the first n time slices count
-- growth: bytes by which the heap grew
-- proved: true: the file shows which survivors died later
-- straight: true: the heap grows evenly
local function likely(profile, rows, n, growth, proved, straight)
  local list, vectors, all = {}, {}, profile.bins.n
  local clock = keptlines.clock(profile.bins, keptlines.kinds(profile, false))
  local ended = 0  -- bytes kept by lines that have stopped allocating
  local ran, time = keptlines.ran(profile, keptlines.kinds(profile, false))
  local busy, nbusy = keptlines.busy(n, ran)
  for _, row in ipairs(rows) do
    if growinglines.steady(row, nbusy, busy, growth, proved, profile.ring, straight, clock) and
       (profile.ring or not growinglines.stopped(row, n, profile.bins, clock, ran, time)) then
      list[#list + 1] = row
    else
      local own = row.keptbytes - row.vector.keptbytes
      ended = ended + (row.kept >= LEAST and own or 0)
      vectors[#vectors + 1] = growinglines.grows(row, all) and row or nil
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
-- rows: rows of the lines (keptlines.rows)
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

-- Returns the type of block that has most of the bytes that a line keeps. 'row': the line (keptlines.rows).
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
  local wanted = keptlines.kinds(profile, true)
  local rows, late = keptlines.rows(profile, n, true, wanted)
  local busy, nbusy = keptlines.busy(n, (keptlines.ran(profile, wanted)))
  local clock = keptlines.clock(profile.bins, wanted)
  for _, row in ipairs(rows) do
    local leaks = growinglines.steady(row, nbusy, busy, late, true, profile.ring, false, clock)
    list[#list + 1] = leaks and row or nil
  end
  return list, late
end

-- Groups lines by the table that holds most of their objects. Sets the field 'group' of each row to the
-- number of its group. A row without a known holder stays in its present group. Returns a list with the same
-- rows, the group with most kept bytes first.
local function byholder(rows)
  for _, row in ipairs(rows) do
    local first = row.holders and row.holders[1]
    row.container = row.container or first and holders.container(first.text) or nil
    row.group = row.container or row.group
  end
  return related.numbered(rows)
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
  local n, wanted = profile.bins.n, keptlines.kinds(profile, false)
  local busy, nbusy = keptlines.busy(n, (keptlines.ran(profile, wanted)))
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
  local rows, late = keptlines.rows(profile, n, proved, wanted)
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
      row.vector, row.defined, row.bytes, row.sampled = nil, nil, nil, nil
    end
  end
  return found
end

return M
