-- SPDX-License-Identifier: MIT
-- Finds the times at which the live samples of a profile were allocated, by container and by source line.
--
-- The heap walk at the end of a session finds which samples are alive, and the paths of references to them. A
-- container is an object in such a path that keeps samples alive:
--
--   - the table with many elements, if there is one
--   - otherwise the object at the start of a tree or chain
--   - otherwise the deepest object with at least LEAST samples
--
-- The vectors of a table (its array and hash part) do not count as objects of a container, because a growing
-- table replaces them.
--
-- Two clocks measure the run:
--
--   - The byte clock counts allocated bytes, as a share of the run (0 to 1), without those of vectors that
--     survived a collection. It divides the run into PARTS equal parts.
--   - The CPU clock counts the program's CPU time.
--
-- A period is the time between two collections. Its data are in an element of profile.collections: 'charged'
-- (bytes allocated in the period) and 'mutator' (the program's CPU time in the period, us).

local holders = require "asamp.sums.holders"
local totals = require "asamp.sums.totals"

local M = {}

--- A container needs this number of live samples for a verdict on whether it leaks.
M.LEAST = 8
--- Number of parts into which the run is divided. The program allocated equally many bytes in each of them.
M.PARTS = 32

local PARTS = M.PARTS
-- A heap walk is "at the end" of the session if less than 1/32 of the run's bytes were allocated after it.
local LATER = 1 / 32
-- The usual CPU time to allocate a byte is the time that was enough for 95% of the bytes (usualrate). The
-- share is high, because slow periods occur: without them, a slow period at the end would look like time
-- without allocation.
local USUAL = 19 / 20
-- A period between two collections is ignored if it has less than 1/16 of the mean bytes of a period
-- (PERIOD), and less than 1,000 us of CPU time (LONG) or an unreliable one (isbrief).
local PERIOD, LONG = 1 / 16, 1000
-- Least length of the tail of a run: the time at its end in which the program allocated nothing (M.tail), us.
local ENDING = 200
-- A tail must be at least half as long as the usual CPU time to allocate the bytes of the last period. A
-- shorter one is ignored, because other processes may have slowed the program down.
local EXCESS = 1 / 2
-- If no collection ended the run, only time samples can show that the program worked on without allocating.
-- This counts as a tail if it took at least 10% of the CPU time before it (unseentail).
local UNSEEN = 1 / 10
-- If the run ends with a collection that the program requested, a tail is at least 5% of the CPU time,
-- because the measured time of the tail includes a part of this collection.
local OWNTAIL = 1 / 20
-- Limits for the size of the heap over time (M.course), which only major collections show:
--
--   - COVERED: the size is unknown if the program had not yet allocated half of the run's bytes at the last
--     major collection.
--   - NEAR: the growth of both halves can be compared if another major collection is near their middle: after
--     3/8 and before 3/4 of the bytes that precede the last one.
local COVERED, NEAR = 1 / 2, 3 / 8
-- A line may fill many entries of package.loaded, _G or the registry, such as global variables g1, g2, ...
-- Then the whole table is the container of the line's objects, instead of each entry (shared). Two conditions
-- must be met:
--
--   - FIELDS: the line fills more than 12 entries, the limit for other tables in asamp/sample/holders.h.
--   - ATONCE: it fills each of these entries within 3 successive parts of the run.
local ATONCE, FIELDS = 3, 12

-- {== clocks ================================================================

-- A vector is the block with the slots of a table.
local VECTORS = {["table array part"] = true, ["table hash part"] = true}

-- Returns the byte clock, a function that measures the progress of the run. Its parameter is a number of
-- sampled bytes since the start; its result is a share of the run's allocated bytes, 0 to 1. If 'vectors' is
-- false, the clock does not count the bytes of vectors that survived a collection.
local function clockof(profile, vectors)
  local born = profile.born
  local slices, counted, last = {}, 0, -1
  for i, n in ipairs(born.bytes) do
    local bin = born.bin[i]
    local isvector = not vectors and VECTORS[profile.kinds[born.kind[i]].name]
    local own = n - (isvector and born.survivedbytes[i] or 0)
    counted, last = counted + own, math.max(last, bin)
    slices[bin] = (slices[bin] or 0) + own
  end
  local before, sum = {}, 0
  for bin = 0, last + 1 do
    before[bin], sum = sum, sum + (slices[bin] or 0)
  end
  return function(bytes)
    local at = math.min(bytes / born.width, last + 1)
    local bin = at // 1 | 0
    return (before[bin] + (at - bin) * (slices[bin] or 0)) / math.max(counted, 1)
  end
end

-- Returns the part of the run (0 to PARTS - 1) that contains a slice. Slices are the finer units of a
-- profile: it counts samples by slice, and the program allocated equally many bytes in each of them.
--
-- slices: profile.born or profile.alive
-- bin: number of the slice
-- clock: function that maps allocated bytes to a share of the run, 0 to 1 (clockof)
local function partof(slices, bin, clock)
  return math.min(PARTS - 1, clock((bin + 1 / 2) * slices.width) * PARTS // 1 | 0)
end

-- Returns the time in us of the last allocation sample; 0: there is none.
local function lastsample(profile)
  local last = 0
  for _, time in ipairs(profile.born.last) do
    last = math.max(last, time)
  end
  return last
end

-- Returns the number of the minor collection that the session runs at its end, to find out whether the
-- objects of the last samples are alive. Returns nil if there is none, or if the file has many states.
--
-- Skips a last minor collection if the program neither ran nor allocated before it, and the previous
-- collection is a minor one after the last sample.
local function closing(profile)
  local list, n = profile.collections, #profile.collections
  local sampled = lastsample(profile)
  local before = list[n - 1]
  if before and not before.major and before.time >= sampled and not list[n].major and
     not list[n].mutator and (list[n].charged or 0) == 0 then
    n = n - 1
  end
  return n > 0 and not profile.states and not list[n].major and list[n].time >= sampled and n or nil
end

-- Returns the time in us at which the program ended: that of the last heap walk, or of an earlier collection
-- that ended the session (closing).
local function lastof(profile)
  local walks, n = profile.walktimes, closing(profile)
  local walked = walks[#walks].time
  return n and math.min(profile.collections[n].time, walked) or walked
end

-- Returns true if the period before collection n is ignored, because the program allocated almost nothing in
-- it (PERIOD). At the end of the run, such a period is mostly the session's own work.
--
-- A period in which the program used at least LONG us of CPU time is not ignored. But if it starts or ends
-- with a major collection, this time is unreliable, and the period is ignored.
local function isbrief(profile, n)
  local bytes, c, before = 0, profile.collections[n], profile.collections[n - 1]
  for _, one in ipairs(profile.collections) do
    bytes = bytes + (one.charged or 0)
  end
  local unknown = c.major or before and before.major or (c.mutator or 0) < LONG
  return unknown and (c.charged or 0) < PERIOD * bytes / n
end

-- Returns the program's CPU time in us between the times 'from' and 'to' (us since the start), according to
-- time samples.
local function ticked(profile, from, to)
  local w, n = profile.worked, 0
  for i, bin in ipairs(w.bin) do
    local time = bin * w.width + w.width / 2
    n = n + (time > from and time < to and w.samples[i] or 0)
  end
  return n * (profile.timeperiod or 0) * 1e6
end

--- Returns the CPU clock, a function that maps a time (us since the start) to the CPU time that the program
-- had used by then (us, without collections). Between two collections, the CPU time increases linearly. If
-- the file has no CPU times, the clock returns its argument.
--
-- The second result is the value of the clock at the end of the program. If the program allocated until its
-- end, this is the value at the last sample.
function M.worked(profile)
  local list, sum, known = {{time = 0, cpu = 0}}, 0, false
  for _, c in ipairs(profile.collections) do
    known = known or c.mutator ~= nil
    sum = sum + (c.mutator or 0)
    list[#list + 1] = {time = math.max(c.time - (c.duration or 0), list[#list].time), cpu = sum}
    list[#list + 1] = {time = c.time, cpu = sum}
  end
  local to, last = lastof(profile), list[#list]
  if not known then
    return function(time) return time end, to
  end
  list[#list + 1] = {time = math.max(to, last.time), cpu = sum + ticked(profile, last.time, to)}
  local function clock(time)
    local low, high = 1, #list
    while high - low > 1 do
      local mid = (low + high) // 2
      if list[mid].time <= time then low = mid else high = mid end
    end
    local from, till = list[low], list[high]
    local share = (time - from.time) / math.max(till.time - from.time, 1)
    return from.cpu + (till.cpu - from.cpu) * math.min(1, share)
  end
  return clock, clock(closing(profile) and M.tail(profile) == 0 and lastsample(profile) or to)
end

-- Returns the usual CPU time per allocated byte before collection n, in us, or nil if it is unknown. Each
-- period between two collections has a rate, its CPU time per byte. The result is the 95th percentile (USUAL)
-- of these rates. A period is weighted by its bytes, because the rates of the short periods at the start vary
-- much.
local function usualrate(profile, n)
  local rates, all, sum = {}, 0, 0
  for i = 1, n - 1 do
    local c = profile.collections[i]
    if (c.mutator or 0) > 0 and c.charged > 0 then
      rates[#rates + 1], all = {rate = c.mutator / c.charged, bytes = c.charged}, all + c.charged
    end
  end
  table.sort(rates, function(x, y) return x.rate < y.rate end)
  for _, r in ipairs(rates) do
    sum = sum + r.bytes
    if sum >= USUAL * all then
      return r.rate
    end
  end
end

-- Returns the number of the major collection that the program requested at its end, for example with
-- collectgarbage, or nil if there is none.
--
-- This is the last collection before which the program allocated more than almost nothing (isbrief), if it is
-- a major collection after the last sample. The collections after it, such as the one at the session's end,
-- are ignored.
local function owncollection(profile)
  local list, n = profile.collections, #profile.collections
  local last = closing(profile)
  if last and not isbrief(profile, last) or profile.states then
    return nil
  end
  while n > 1 and not (list[n].mutator and (list[n].charged or 0) > 0 and not isbrief(profile, n)) do
    n = n - 1
  end
  return n > 0 and list[n].major and list[n].time >= lastsample(profile) and n or nil
end

-- Returns the tail of a session that no collection ended, in us: the CPU time that the program used between
-- the last collection and the last heap walk, according to time samples. In this time it allocated less than
-- a nursery. Second result: the CPU time before the tail, in us.
--
-- The tail is 0 in these cases:
--
--   - It is short: below one sampling period of time, or below the share UNSEEN.
--   - The last collection was not due to a full nursery. Then a collection may have ended the session.
--   - The file has many states.
local function unseentail(profile)
  local walks, final, cpu = profile.walktimes, profile.collections[#profile.collections], 0
  -- True if the last collection was due to a full nursery. Full nurseries of the same size have equally many
  -- allocated bytes. So this is assumed if another period has as many bytes as the last one (within 1%).
  local isfull = false
  for i, c in ipairs(profile.collections) do
    cpu = cpu + (c.mutator or 0)
    local charged, bytes = c.charged or 0, final.charged or 0
    isfull = isfull or i < #profile.collections and bytes > 0 and math.abs(charged - bytes) < bytes / 100
  end
  local walked = walks[#walks] and walks[#walks].time or 0
  if not isfull or profile.states or walked - final.time < (profile.timeperiod or 0) * 1e6 then
    return 0, cpu
  end
  local after = ticked(profile, final.time, walked)
  return after >= UNSEEN * cpu and after or 0, cpu
end

--- Returns the tail of the run as a share of its CPU time (0 to 1): the time at its end in which the program
-- allocated nothing. This is the CPU time of the last period between collections, minus the usual time to
-- allocate the bytes of this period (usualrate). Returns 0 if there is no tail, or if it is unknown.
--
-- The second result is this usual time, as a share of the CPU time. If it is large, the run is too short to
-- recognize a tail.
function M.tail(profile)
  local unseen, cpu = unseentail(profile)
  if unseen > 0 then
    return unseen / (cpu + unseen), 0
  end
  local own, all = owncollection(profile), 0
  local n = own or closing(profile)
  local last = n and profile.collections[n]
  local usual = n and usualrate(profile, n)
  if not usual or not last.mutator or isbrief(profile, n) then
    return 0, 0
  end
  for _, c in ipairs(profile.collections) do
    all = all + (c.mutator or 0)
  end
  local expected = usual * last.charged
  local time = last.mutator - expected
  local least = own and OWNTAIL or 0
  return time >= math.max(ENDING, least * all, EXCESS * expected) and time / all or 0, expected / all
end

-- Returns two numbers of bytes: those allocated in the whole run, and those allocated after a time (us).
-- Usually the records of collections have these numbers. If there were many Lua states, sampled bytes are
-- used instead: a state that closes late may have its only collection then, and its record counts bytes that
-- were allocated long before.
local function allocated(profile, time)
  local all, after = 0, 0
  local born = profile.states and profile.born
  for i, bytes in ipairs(born and born.bytes or {}) do
    all = all + bytes
    after = after + (born.last[i] > time and bytes or 0)
  end
  for _, c in ipairs(not born and profile.collections or {}) do
    all = all + (c.charged or 0)
    after = after + (c.time > time and c.charged or 0)
  end
  return all, after
end

--- Returns the time in us of the last heap walk if it was not at the end of the session (LATER), for example
-- because a signal ended the program, or nil if it was at the end.
function M.stale(profile)
  local walks = profile.walktimes or {}
  local last = walks[#walks]
  if not last then
    return nil
  end
  local all, after = allocated(profile, last.time)
  return after > LATER * all and last.time or nil
end

-- Returns true if the file has a single session, with a heap walk at its end.
local function walked(profile)
  return not profile.ring and not profile.profiles and #(profile.walktimes or {}) > 0 and
         not M.stale(profile)
end

-- Returns the collections that ran while the program worked. If the process had many states, omits the
-- collections after the last sample: a host often closes its states one after the other.
local function working(profile)
  local born, last, list = profile.states and profile.born, 0, {}
  for _, time in ipairs(born and born.last or {math.huge}) do
    last = math.max(last, time)
  end
  for _, c in ipairs(profile.collections) do
    list[#list + 1] = c.time <= last and c or nil
  end
  return list
end

-- Returns the size of the live heap after the first collection and after each major collection: a list of
-- {at, size}. 'at' is the share of the run's bytes that were allocated before the collection (0 to 1); 'size'
-- is in bytes.
--
-- A major collection may free its garbage step by step. So if the heap is smaller after a later minor
-- collection, the element has the data of this minor collection instead.
local function sizes(profile)
  local all, sum, list, collections = 0, 0, {}, working(profile)
  for _, c in ipairs(collections) do
    all = all + (c.charged or 0)
  end
  local major
  for i, c in ipairs(all > 0 and collections or {}) do
    sum = sum + (c.charged or 0)
    if c.major or i == 1 then
      list[#list + 1], major = {at = sum / all, size = c.least}, c.major
    elseif major and c.least < list[#list].size then
      list[#list] = {at = sum / all, size = c.least}
    end
  end
  return list
end

--- Returns a function that maps a position in the run to the bytes of the live heap at this position. Between
-- two major collections, the bytes change linearly. A position is a share of the bytes that were allocated
-- before the last major collection, so this collection is at position 1.
--
-- Returns nil if the size of the heap is unknown: no other major collection is between positions 1/8 and 3/4,
-- or the last one is too early (COVERED).
--
-- Second result: the share of the run's bytes that was allocated before the last major collection. Third
-- result: true if another major collection is between positions NEAR and 3/4, so that the growth of both
-- halves can be compared.
function M.course(profile)
  local list = sizes(profile)
  local last, middle, near = list[#list], false, false
  for i = 2, #list - 1 do
    local at = list[i].at / last.at
    middle = middle or at >= 1 / 8 and at <= 3 / 4
    near = near or at >= NEAR and at <= 3 / 4
  end
  if not middle or last.at < COVERED then
    return nil
  end
  return function(x)
    local before = list[1]
    for i = 2, #list do
      local point = list[i]
      if point.at >= x * last.at then
        return before.size + (point.size - before.size) * math.max(0, x * last.at - before.at) /
                             math.max(point.at - before.at, 1e-9)
      end
      before = point
    end
    return last.size
  end, last.at, near
end

--- Returns the smallest sizes of the live heap, in bytes, in the second and in the last quarter of the run
-- (by allocated bytes). Returns nil if they are unknown. If M.course returns nil, the sizes are bytes in use
-- after any collection. After a minor collection, these include garbage among old objects.
function M.quarters(profile)
  local course = walked(profile) and M.course(profile)
  if course then
    return math.min(course(1 / 4), course(1 / 2)) // 1 | 0, math.min(course(3 / 4), course(1)) // 1 | 0
  end
  local all, sum, least = 0, 0, {}
  local collections = walked(profile) and working(profile) or {}
  for _, c in ipairs(collections) do
    all = all + (c.charged or 0)
  end
  for _, c in ipairs(all > 0 and collections or {}) do
    sum = sum + (c.charged or 0)
    local q = math.min(4, 4 * sum // all + 1)
    least[q] = math.min(least[q] or c.least, c.least)
  end
  return least[2], least[4]
end

-- ==}

-- {== containers ============================================================

local function add(t, key, n)
  t[key] = (t[key] or 0) + n
end

-- Finds the container (a table, tree or chain) of each path of references to live samples. Returns a map from
-- the number of the path to the number of the path to the container, which is the start of the former.
--
-- h: profile.holders: the tree of all paths
-- alive: profile.alive: the live samples, with the number of their path
local function containers(h, alive)
  local total, to, stem = {}, {}, holders.stems(h)
  for i, path in ipairs(alive.path) do
    local n = alive.vector[i] == 0 and alive.samples[i] or 0
    to[path] = true
    while path > 0 do
      add(total, path, n)
      path = h.parent[path]
    end
  end
  to[0] = nil
  for path in pairs(to) do
    local at = holders.cut(h, path) or stem(path)
    while h.parent[at] > 0 and total[at] < M.LEAST do
      at = h.parent[at]
    end
    to[path] = total[at] >= M.LEAST and at or holders.cut(h, path) or stem(path)
  end
  return to
end

-- Finds the entry of package.loaded, _G or the registry through which a path of references leads. Returns the
-- number of the path to this entry, and the name of the table, or nil if the path leads through none.
--
-- h: profile.holders, the tree of the paths of references
-- path: number of the path
local function entryof(h, path)
  while h.parent[path] > 0 and h.parent[h.parent[path]] > 0 do
    path = h.parent[path]
  end
  local parent = h.parent[path]
  local top = h.step[parent > 0 and parent or path]
  if top:find '^package%.loaded%["' then
    return parent > 0 and parent or path, "package.loaded"
  elseif parent > 0 and (top == "_G" or top == "registry") and h.step[path]:find '^%["' then
    return path, top
  end
end

-- Finds samples whose container is the whole table package.loaded, _G or the registry, because one line fills
-- many of its entries (ATONCE). Returns a function(path, key): for the samples at a path that a line
-- allocated, it returns the name of this table, or nil if they have another container.
--
--   - path: number of the path to the samples
--   - key: key of the line
--
-- Parameters of 'shared':
--
-- h: profile.holders, the tree of the paths of references
-- alive: profile.alive
-- keys: for each row of profile.alive, the key of the line that allocated its samples; false: unknown
-- parts: for each row, the part of the run in which its samples were allocated
local function shared(h, alive, keys, parts)
  -- Two maps from the number of a path: 'entries' to the number of the path to the table's entry (false:
  -- none), and 'tables' to the table's name.
  local entries, tables = {}, {}
  -- Maps a table and a line to the entries that the line filled: {[entry] = {first, last}}, the first and the
  -- last part of the run in which it did so.
  local filled = {}
  for i, path in ipairs(alive.path) do
    if path > 0 and entries[path] == nil then
      local entry, name = entryof(h, path)
      entries[path], tables[path] = entry or false, name
    end
    if entries[path] and keys[i] then
      local place = tables[path] .. "\0" .. keys[i]
      local of = filled[place] or {}
      local span = of[entries[path]] or {parts[i], parts[i]}
      span[1], span[2] = math.min(span[1], parts[i]), math.max(span[2], parts[i])
      filled[place], of[entries[path]] = of, span
    end
  end
  for place, of in pairs(filled) do
    local n = 0
    for entry, span in pairs(of) do
      of[entry] = span[2] - span[1] < ATONCE
      n = n + (of[entry] and 1 or 0)
    end
    filled[place] = n > FIELDS and of or nil
  end
  return function(path, key)
    local of = tables[path] and filled[tables[path] .. "\0" .. key]
    return of and of[entries[path]] and tables[path] or nil
  end
end

-- The results of M.keyof, by line. Without them, each sample would have its own copy of a long key.
local known = setmetatable({}, {__mode = "k"})

--- Returns a key for a line (a row of totals.linerows); M.lineof parses it.
function M.keyof(line)
  local key = known[line]
  if not key then
    key = ("%s\0%d\0%s%s"):format(line.file, line.line, line.native and "\0" or "", line.name)
    known[line] = key
  end
  return key
end

--- Parses a key of M.keyof. Returns the file, line number and function's name, and true for a C function.
function M.lineof(key)
  local file, line, native, name = key:match "^(%Z*)%z(%-?%d+)%z(%z?)(.*)$"
  return file, math.tointeger(line), name, native ~= "" or nil
end

-- Adds the live samples of one row of profile.alive to a container.
--
-- c: container, an element of the list that M.of returns
-- key: key of the line that allocated the samples
-- alive: profile.alive
-- i: number of the row
-- part: part of the run in which the samples were allocated, by a clock without vectors that survived
--   (clockof)
-- whole: the same part by a clock that counts all vectors
local function count(c, key, alive, i, part, whole)
  local isvector = alive.vector[i] == 1
  local lines = isvector and c.vectorlines or c.lines
  local own = lines[key]
  if not own then
    own = {0, 0, n = 0, parts = {}, bytes = {}, lasts = {}}
    lines[key] = own
  end
  c.late = c.late + (part >= PARTS // 2 and alive.bytes[i] or 0)
  if isvector then
    add(c.vectors, key, alive.bytes[i])
    part = whole
  end
  own.n = own.n + alive.samples[i]
  add(own, part >= PARTS // 2 and 2 or 1, alive.samples[i])
  add(own.parts, part, alive.samples[i])
  add(own.bytes, part, alive.bytes[i])
  own.lasts[part] = math.max(own.lasts[part] or 0, alive.last[i])
end

-- Returns the containers of the live samples (the field 'containers' of M.of): the tables, trees and chains
-- through which references keep them alive.
--
-- nearest: map from call tree node to the source line of its innermost Lua frame (a row of totals.linerows)
-- clock: byte clock (clockof) that does not count table vectors that survived a collection
-- whole: byte clock that counts all vectors
local function collect(profile, nearest, clock, whole)
  local alive, h = profile.alive, profile.holders
  local byholder, list, keys, parts, texts = {}, {}, {}, {}, {}
  for i, node in ipairs(alive.node) do
    keys[i] = nearest[node] and M.keyof(nearest[node]) or false
    parts[i] = partof(alive, alive.bin[i], clock)
  end
  local to, common = containers(h, alive), shared(h, alive, keys, parts)
  for i, path in ipairs(alive.path) do
    local key = keys[i]
    if to[path] and key then
      local at = to[path]
      texts[at] = texts[at] or holders.pathtext(h, at)
      local holder = common(path, key) or texts[at]
      local c = byholder[holder]
      if not c then
        c = {holder = holder, lines = {}, vectors = {}, vectorlines = {}, late = 0}
        byholder[holder], list[#list + 1] = c, c
      end
      count(c, key, alive, i, parts[i], partof(alive, alive.bin[i], whole))
    end
  end
  return list
end

-- Counts the samples of each source line that survived a collection. Returns the field 'lines' of M.of or,
-- if 'vectors' is true, 'vectorlines': a map from the keys of lines (M.keyof). Buffers, such as the string
-- table, do not count: no container has them.
--
-- nearest: map from call tree node to the source line of its innermost Lua frame (a row of totals.linerows)
-- clock: function that maps allocated bytes to a share of the run, 0 to 1 (clockof)
-- vectors: true: only vectors count; false: all other blocks
local function linesof(profile, nearest, clock, vectors)
  local born, lines = profile.born, {}
  for i, node in ipairs(born.node) do
    local kind, line = profile.kinds[born.kind[i]], nearest[node]
    local other = kind.time or kind.name == "native" or kind.name == "buffer" or
                  (VECTORS[kind.name] or false) ~= vectors
    if line and not other then
      local key = M.keyof(line)
      local l = lines[key]
      if not l then
        l = {0, 0, survivors = {}, parts = {}, bytes = {}, lasts = {}, n = 0}
        lines[key] = l
      end
      local part = partof(born, born.bin[i], clock)
      local left = born.survived[i] - born.later[i]
      add(l, part >= PARTS // 2 and 2 or 1, born.survived[i])
      add(l.survivors, part, born.survived[i])
      add(l.parts, part, left)
      l.lasts[part] = math.max(l.lasts[part] or 0, born.last[i])
      add(l.bytes, part, born.survivedbytes[i] - born.laterbytes[i])
      l.n = l.n + left
    end
  end
  return lines
end

-- ==}

--- Returns the holder of most live samples that the given lines allocated, as the text of its path of
-- references, or nil if there is none. The path is from the last heap walk that reached these samples.
--
-- keys: set of the lines' keys (M.keyof)
function M.holderof(profile, keys)
  local h = profile.holders
  local total, best = {}, nil
  local _, _, nearest = totals.linerows(profile, true, true)
  for i, node in ipairs(h and h.node or {}) do
    local line = nearest[node]
    if line and h.path[i] > 0 and keys[M.keyof(line)] then
      local path = holders.cut(h, h.path[i]) or h.path[i]
      add(total, path, h.samples[i])
      best = (not best or total[path] > total[best]) and path or best
    end
  end
  return best and holders.pathtext(h, best)
end

--- Returns a table that shows when the live samples were allocated. Returns nil if the file has no heap walk
-- at its end, or does not record when samples were allocated. Halves and parts of the run are measured by
-- the byte clock.
--
-- The field 'containers' is the list of the containers. Fields of a container:
--
--   - holder: text of the path of references to the container
--   - late: live bytes from the second half of the run
--   - vectors: map from the key of a line to the live bytes of the vectors that it allocated
--   - lines: map from the key of a line to its live samples of objects, without vectors:
--     - [1], [2]: number of samples from the first and the second half
--     - n: number of all samples
--     - parts, bytes: numbers and bytes of the samples, by part of the run
--     - lasts: time of the last sample in us, by part of the run
--   - vectorlines: the same as 'lines' for vectors; its byte clock counts all vectors
--
-- The field 'lines' maps the key of a line to its samples of objects, even if these are in no container:
--
--   - [1], [2]: number of samples from each half that survived, even if they died later
--   - survivors: the same number, by part of the run
--   - n: number of samples that survived and were not found dead later
--   - parts, bytes: numbers and bytes of the samples of 'n', by part of the run
--   - lasts: time of the last sample in us, by part of the run, even if it died
--
-- The field 'vectorlines' is the same as 'lines' for vectors; its byte clock counts all vectors.
function M.of(profile)
  if not profile.born or #profile.born.bin == 0 or not walked(profile) then
    return nil
  end
  local clock, whole = clockof(profile), clockof(profile, true)
  local _, _, nearest = totals.linerows(profile, true, true)
  return {containers = profile.holders and collect(profile, nearest, clock, whole) or {},
          lines = linesof(profile, nearest, clock, false),
          vectorlines = linesof(profile, nearest, whole, true)}
end

return M
