-- SPDX-License-Identifier: MIT
-- Lines that are likely to leak. Pure: a profile with bins in, rows out.
--
-- The session is cut into parts of equal time (the reader's bins). There is a
-- leak to look for only when the heap grew: the least in use in the last
-- quarter is more than in the second, where start-up is over, by a tenth.
--
-- What a line keeps is what is alive at the end, if the file tells that: it
-- survived, and no major collection has found it dead. This is known of the
-- parts before the last major collection, which must be half of them at least;
-- then only these count. A server may be idle half of the day: parts in which nothing was
-- allocated are left out if they are more than a quarter and FEWBUSY others are there. A line
-- is likely to leak when
--   - it keeps something of at least three quarters of the parts, and of the
--     last quarter: old and new;
--   - of the second half it keeps at least two fifths of all that it keeps, and
--     that is at least a twentieth of what the heap grew by, or the line has
--     lost next to nothing of what it allocated: the closure or the node that
--     holds what is large need not be large. What is alive from before a flight
--     recorder's time stands in the first part, and is not what it keeps of the session.
-- With fewer than LEAST samples that it keeps nothing can be said.
--
-- A table that grows has its slots in one vector, which is replaced by one of
-- twice the size: all that is alive of its line is the last one, allocated once.
-- So a line's array or hash parts are what keeps a growing number when the last
-- ones are alive, came in the later half, and are the most of several.
--
-- Without that proof what survived its first collection is taken for it, and
-- more is asked for: the heap's growth is at least a third of what survived in
-- the second half (else most of it died later, and nothing tells what did not);
-- at least half of what the line allocated survived, what survived of it in
-- the second half is at most one and a half times the growth, and at least a
-- twentieth.
--
-- Native memory is looked at by itself: whether it was freed is known at once, of all
-- parts, and no collection tells how much is in use. A line that keeps of it as above
-- is likely to leak, its growth being what all lines keep of the second half.
--
-- Lines that belong together stand together (asamp.sums.related): what is kept, and
-- what keeps it.

local holders = require "asamp.sums.holders"
local related = require "asamp.sums.related"
local totals = require "asamp.sums.totals"

local M = {}

--- Bins to ask the reader for; it makes half as many at least.
M.BINS = 16

local LEAST = 12
local GROWTH = 1.1
local SLOW = 1.02  -- growth of a large heap, if lines explain it
local KEPT, ROOM, WORTH = 1 / 3, 3 / 2, 1 / 20
local SURVIVED, PARTS, LATE = 1 / 2, 3 / 4, 2 / 5
local ALL = 9 / 10  -- of its samples, of a line that loses nothing
local FEWBUSY = 4
local SLOWER = 1 / 4   -- of its mean rate, at which a line has stopped
local STRAIGHT, SOME = 1 / 2, 1 / 2  -- of a heap that grows evenly; of the parts then
-- Of a vector: samples alive, parts with growth, the last growth's share.
local FEW, STEPS, LAST = 6, 3, 1 / 4  -- FEW is at most LEAST

-- What the slots of a table lie in when it grows.
local VECTORS = {["table array part"] = true, ["table hash part"] = true}

-- The least in use during these parts, nil without a collection there.
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

-- How many parts end before the last major collection, which knows what of them is alive;
-- nil: too few, or the file does not tell.
local function judged(profile)
  local bins, last = profile.bins, nil
  if (profile.followed or 0) > 0 then
    last = profile.course and profile.course.lastmajor
  end
  local n = last and math.min((last - bins.start) // bins.width, bins.n) or 0
  return n >= bins.n // 2 and n or nil
end

local function newrow(line)
  return {file = line.file, line = line.line, name = line.name,
          defined = line.defined, samples = 0, survived = 0,
          survivedbytes = 0, kept = 0, keptbytes = 0, late = 0, replaced = 0, vectorkept = 0, sampled = {},
          inpart = {}, bytesin = {}, types = {}, callers = {},
          vector = {made = {}, kept = {}, survived = 0, survivedbytes = 0,
                    keptbytes = 0, types = {}}}
end

-- Adds n to a number of a list; nil is 0.
local function add(list, key, n)
  list[key] = (list[key] or 0) + n
end

-- Adds to a line what it allocated in a part: samples, of these kept, and their
-- bytes, of a type.
local function addto(row, part, samples, kept, bytes, name)
  row.samples = row.samples + samples
  row.kept, row.keptbytes = row.kept + kept, row.keptbytes + bytes
  row.replaced = row.replaced + (VECTORS[name] and samples - kept or 0)
  if not VECTORS[name] then  -- the vector of one table, which lives long, is no series of objects
    add(row.inpart, part, kept)
    add(row.bytesin, part, bytes > 0 and bytes or kept)
  end
  add(row.types, name == "upvalue" and "Lua closure" or name, bytes)
end

-- The lines of nodes ('nearest') that keep enough samples for a word about them: a
-- profile has many that do not, and a row is large.
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

-- Which kinds of allocations are native memory, or are not.
local function kindsof(profile, native)
  local wanted = {}
  for i, kind in ipairs(profile.kinds) do
    wanted[i] = not kind.time and (kind.name == "native") == native
  end
  return wanted
end

-- The numbers, 0, 1, ..., of those of the first n parts that count, by part; and how many
-- there are: those in which something of these kinds was sampled, or all.
local function busyparts(profile, n, wanted)
  local bins = profile.bins
  local has, number, busy = {}, {}, 0
  for i, part in ipairs(bins.bin) do
    local kind = bins.kind[i]
    has[part] = has[part] or (wanted[kind] or profile.kinds[kind].time) and bins.samples[i] > 0
  end
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

-- What every line that is worth it keeps of the first n parts of these kinds, by part,
-- and of its vectors in all; and the bytes of all that is kept of the second half of
-- the n.
local function keepers(profile, n, proved, wanted)
  local bins = profile.bins
  local _, _, nearest = totals.linerows(profile, true)
  local worth = worthy(bins, nearest, proved, wanted)
  local callers = related.callers(profile)
  local rows, byrow, late = {}, {}, 0
  for i, node in ipairs(bins.node) do
    local part, line, kind = bins.bin[i], nearest[node], profile.kinds[bins.kind[i]]
    local survived, survivedbytes = bins.survived[i], bins.survivedbytes[i]
    local kept = survived - (proved and bins.later[i] or 0)
    local bytes = survivedbytes - (proved and bins.laterbytes[i] or 0)
    local counts = wanted[bins.kind[i]]
    local second = part >= n // 2 and part < n and counts and bytes or 0
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
        addto(row, part, bins.samples[i], kept, bytes, kind.name)
        row.survived = row.survived + survived
        row.survivedbytes = row.survivedbytes + survivedbytes
      end
      if not VECTORS[kind.name] then
        add(row.sampled, part, bins.samples[i])
      end
      local vector = row.vector
      if VECTORS[kind.name] then
        add(vector.made, part, bins.samples[i])
        add(vector.kept, part, kept)
        row.vectorkept = row.vectorkept + kept
        add(vector.types, kind.name, bytes)
        vector.keptbytes = vector.keptbytes + bytes
        vector.survived = vector.survived + survived
        vector.survivedbytes = vector.survivedbytes + survivedbytes
      end
    end
  end
  return rows, late
end

-- Bytes that were sampled in each part, the last part from which on a quarter of all of them came,
-- and how many of all came before that part. Time is a poor clock of a short run: a start-up may
-- have most of it, by waiting.
local function clockof(bins, wanted)
  local parts, all, after = {}, 0, 0
  for i, part in ipairs(bins.bin) do
    local n = wanted[bins.kind[i]] and bins.bytes and bins.bytes[i] or 0
    add(parts, part, n)
    all = all + n
  end
  local from = bins.n
  while from > 1 and after < all / 4 do
    from = from - 1
    after = after + (parts[from] or 0)
  end
  return {parts = parts, all = all, from = from, before = all - after, n = bins.n}
end

-- Returns whether a line keeps bytes of enough parts, early and late. 'at' maps a part to the share of
-- the session that has passed at its end and the share that is the part's own; 'most': the share
-- of the session from which the line must keep something.
local function spread(row, all, at, most)
  local covered, late, last = 0, 0, 0
  for part, bytes in pairs(row.bytesin) do
    local passed, own = at(part)
    if row.inpart[part] > 0 and passed then
      covered = covered + own
      local islate = passed - own / 2 >= 1 / 2
      late = late + (islate and bytes or 0)
      last = last + (islate and passed > 3 / 4 + 1e-9 and bytes or 0)
    end
  end
  return covered >= most - 1e-9 and late >= LATE * all and last >= all * SLOWER / 4 and last > 0
end

-- Does a line go on keeping, through all of the n parts that count ('busy': their numbers)?
-- 'ring': the first part also has objects from before. 'straight': the heap grows evenly: of
-- a queue that becomes longer the first elements are gone. Parts count by time, or by the bytes
-- that were sampled in them: a start-up may be long and allocate little. 'proved': by a major
-- collection.
local function steady(row, n, busy, growth, proved, ring, straight, clock)
  local parts, all, passed = 0, 0, {}  -- by bytes: periods may differ
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
  if row.kept < LEAST or not (spread(row, all, function(part)
      return busy[part] and (busy[part] + 1) / n, 1 / n
    end, straight and SOME or PARTS) or not ring and spread(row, all, function(part)
      return busy[part] and passed[part], (clock.parts[part] or 0) / math.max(total, 1)
    end, PARTS)) then
    return false
  end
  return (row.late >= WORTH * growth or proved and row.kept >= ALL * (row.samples - row.replaced)) and
         (proved or row.sure or row.kept >= SURVIVED * row.samples and row.late <= ROOM * growth)
end

-- Returns whether a line has stopped to allocate: of the last parts it has far fewer samples, of any
-- fate, than it would have kept; by time, of those after the first n or of the last quarter in which
-- something was sampled, or by allocation.
-- Not of a flight recorder, whose first part has objects from before.
local function stopped(row, n, bins, clock)
  local after, late, early = 0, 0, 0
  local from, tail = math.max(n < bins.n and n or 0, bins.n * 3 // 4), {}
  for _, part in ipairs(bins.bin) do
    tail[part] = part >= from or nil
  end
  local ntail = 0
  for _ in pairs(tail) do
    ntail = ntail + 1
  end
  for part, samples in pairs(row.sampled) do
    after = after + (part >= from and samples or 0)
    late = late + (part >= clock.from and samples or 0)
  end
  for part, samples in pairs(row.inpart) do
    early = early + (part < clock.from and samples or 0)
  end
  local bytime = row.kept / n * ntail
  local bybytes = clock.before > 0 and early * (clock.all - clock.before) / clock.before or 0
  return bytime >= FEW and after < SLOWER * bytime or bybytes >= FEW and late < SLOWER * bybytes
end

-- Is what a line keeps the vectors of a table that goes on growing, up to the n-th
-- part? Then the row is about these alone.
local function grows(row, n, clock)
  local made, kept, steps, last = 0, 0, 0, -1
  for part, samples in pairs(row.vector.made) do
    made, steps, last = made + samples, steps + 1, math.max(last, part)
    kept = kept + row.vector.kept[part]
  end
  local latest, since = row.vector.kept[last] or 0, 0
  for part = last + 1, n - 1 do
    since = since + (clock.parts[part] or 0)
  end
  if since > clock.all / 2 then
    return false
  end
  if steps < STEPS or last < n * 2 // 5 or latest < FEW or latest < LAST * made then
    return false
  end
  for _, key in ipairs{"survived", "survivedbytes", "keptbytes", "types"} do
    row[key] = row.vector[key]
  end
  row.samples, row.kept, row.late = made, kept, row.keptbytes
  row.parts, row.of = steps, n
  return true
end

local function keyof(line)
  return ("%s\0%d\0%s"):format(line.file, line.line, line.name)
end

-- Rows of all parts, of the lines whose survivors the walk at the end of the session has found, nearly
-- all: no major collection is needed to prove these. And the other rows.
local function confirmed(profile, rows, wanted)
  local h = profile.holders
  if not h then
    return {}, rows
  end
  local _, _, nearest = totals.linerows(profile, true)
  local held, sure, others, known = {}, {}, {}, {}
  for i, node in ipairs(h.node) do
    local line = h.path[i] > 0 and nearest[node]
    if line then
      add(held, keyof(line), h.samples[i])
    end
  end
  for _, row in ipairs(keepers(profile, profile.bins.n, (profile.followed or 0) > 0, wanted)) do
    local n, key = held[keyof(row)] or 0, keyof(row)
    if n >= FEW and n >= ALL * (row.kept - row.vectorkept) then
      row.sure, sure[#sure + 1], known[key] = true, row, true
    end
  end
  for _, row in ipairs(rows) do
    others[#others + 1] = not known[keyof(row)] and row or nil
  end
  return sure, others
end

-- The lines that keep something old and new, but fewer samples than a word about them needs:
-- {lines, alloc (the period with which the one with most would have enough; nil: the
-- profile has no period)}; nil: there are none.
local function fewof(profile, n, proved, wanted)
  local bins, sums, lines, most = profile.bins, {}, 0, 0
  local _, _, nearest = totals.linerows(profile, true)
  for i, node in ipairs(bins.node) do
    local line, part = nearest[node], bins.bin[i]
    local kept = bins.survived[i] - (proved and bins.later[i] or 0)
    if line and wanted[bins.kind[i]] and part < n and kept > 0 then
      local s = sums[line] or {kept = 0, samples = 0}
      s.kept, s[part < n // 2 and "old" or "new"] = s.kept + kept, true
      sums[line] = s
    end
  end
  for _, s in pairs(sums) do
    if s.old and s.new and s.kept < LEAST then
      lines, most = lines + 1, math.max(most, s.kept)
    end
  end
  local alloc = (profile.period or 0) * most // (2 * LEAST)
  return lines > 0 and {lines = lines, least = LEAST, alloc = alloc >= 64 and alloc or nil} or nil
end

-- The lines that are likely to leak: those that go on keeping, and tables that
-- grow up to the last of all parts, if these are worth a word or there are others
-- that they may keep.
local function likely(profile, rows, n, growth, proved, straight)
  local list, vectors, all = {}, {}, profile.bins.n
  local clock = clockof(profile.bins, kindsof(profile, false))
  local ended = 0  -- bytes kept of lines that do not go on: start-up, as a rule
  local busy, nbusy = busyparts(profile, n, kindsof(profile, false))
  for _, row in ipairs(rows) do
    if steady(row, nbusy, busy, growth, proved, profile.ring, straight, clock) and
       (profile.ring or not stopped(row, n, profile.bins, clock)) then
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

-- Returns whether the bytes that these lines keep of the second half are about the growth of the heap:
-- those of a cache that is full are replaced as fast as they come.
local function explained(rows, growth)
  local late = 0
  for _, row in ipairs(rows) do
    late = late + row.late
  end
  return late > 0 and late <= 2 * growth
end

-- Who holds what the lines of these rows have made and is alive, where the file tells.
local function hold(profile, rows)
  local h = profile.holders
  if not h then
    return
  end
  local _, _, nearest = totals.linerows(profile, true)
  local groups = holders.grouped(h, function(node)
    local line = nearest[node]
    return line and ("%s\0%d\0%s"):format(line.file, line.line, line.name)
  end)
  for _, row in ipairs(rows) do
    local own = groups[("%s\0%d\0%s"):format(row.file, row.line, row.name)]
    if own then
      row.holders, row.held = holders.of(h, own)
    end
  end
end

-- The type that most of what a row keeps is of.
local function typeof(row)
  local best, most
  for name, bytes in pairs(row.types) do
    if not best or bytes > most or bytes == most and name < best then
      best, most = name, bytes
    end
  end
  return best
end

-- The lines that go on keeping native memory, and the bytes kept of the second half.
local function nativerows(profile)
  local n, list = profile.bins.n, {}
  if not profile.malloc or not profile.bins.later then
    return list, 0
  end
  local wanted = kindsof(profile, true)
  local rows, late = keepers(profile, n, true, wanted)
  local busy, nbusy = busyparts(profile, n, wanted)
  local clock = clockof(profile.bins, wanted)
  for _, row in ipairs(rows) do
    list[#list + 1] = steady(row, nbusy, busy, late, true, profile.ring, false, clock) and row or nil
  end
  return list, late
end

-- What is found of Lua's own memory: as M.of, rows without groups. nil when the file
-- does not tell enough.
local function ofheap(profile)
  local n, wanted = profile.bins.n, kindsof(profile, false)
  local busy, nbusy = busyparts(profile, n, wanted)
  local place = {}
  for part, number in pairs(busy) do
    place[number] = part
  end
  local before = floor(profile, place[nbusy // 4] or 0, place[nbusy // 2] or 0)
  local after = floor(profile, place[nbusy * 3 // 4] or n, n)
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
  local sure, others = confirmed(profile, rows, wanted)
  if found.grew or after > SLOW * before then
    local list = likely(profile, sure, profile.bins.n, after - before, false, straight)
    if found.kept then
      local more = likely(profile, others, n, after - before, proved, straight)
      table.move(more, 1, #more, #list + 1, list)
    end
    found.rows = (found.grew or explained(list, after - before)) and list or {}
    found.grew = found.grew or #found.rows > 0
  end
  return found
end

--- {parts (that were looked at), proved (is it known what is alive at the end?),
-- before, after (bytes least in use in the second and the last quarter), grew (is
-- after more?), late (bytes kept of the second half), kept (can lines be told
-- from each other?), rows = {{file, line, name, samples (of decided fate or
-- not), survived, survivedbytes, kept, keptbytes (of the parts looked at, as all
-- of these), late, parts (of which it keeps something; of a table that grows:
-- in which it grew) of how many ('of'), type (of most that it
-- keeps), group, holders (who holds what is alive: list of {text, samples, share}; nil:
-- not told), held (samples that these are shares of)}}}; those that belong together have
-- the same group, 1, 2, ..., and
-- stand behind each other, groups and rows sorted by bytes kept. Rows of native memory
-- have the type "native"; 'native': of how many bytes of it that is kept of the second
-- half, nil: no row is; 'few': {lines, least, alloc}, of lines with too few samples.
-- Without a collection 'before' and the fields that need it are absent.
-- nil when the file does not tell enough, or when one profile after the other is in it.
function M.of(profile)
  local bins = profile.bins
  if not bins or profile.profiles or bins.n < M.BINS // 2 or not profile.fates or
     not profile.lines or profile.survived == 0 or
     not profile.course then
    return nil
  end
  local native, late = nativerows(profile)
  local found = ofheap(profile)
  if not found and #native == 0 then
    return nil
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
    for _, row in ipairs(found.rows) do
      row.type = typeof(row)
      row.inpart, row.bytesin, row.types, row.callers = nil, nil, nil, nil
      row.vector, row.defined, row.replaced, row.sampled = nil, nil, nil, nil
      row.sure, row.vectorkept = nil, nil
    end
  end
  return found
end

return M
