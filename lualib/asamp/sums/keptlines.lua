-- SPDX-License-Identifier: MIT
-- Sums the samples of each line by time slices of equal length: for asamp.sums.leaks.
--
-- "Kept" objects survived their first collection, and no major collection found them dead.

local related = require "asamp.sums.related"
local totals = require "asamp.sums.totals"

local M = {}

--- Fewest kept samples of a line with a row.
M.FEW = 6
-- Time slices in which the program was idle are ignored if at least 4 others remain.
local FEWBUSY = 4
-- If the program ran in at least 75% of the time slices, all of them count.
local MOST = 3 / 4
-- The program ran in a time slice if 25% of its CPU time there was outside of collections.
local RAN = 1 / 4

-- A vector is the block with the slots of a table.
local VECTORS = {["table array part"] = true, ["table hash part"] = true}

-- Returns the row of a line without samples. Its fields 'bytes', 'survivedbytes' and 'keptbytes' have the
-- bytes that the samples 'samples', 'survived' and 'kept' represent. Other fields:
--
--   - survived: samples that survived their first collection
--   - kept: of these, the samples that no collection found dead later
--   - late: kept bytes from the second half of the run
--   - inpart, bytesin: maps from a time slice to the kept samples and bytes without vectors
--   - sampled: map from a time slice to the bytes allocated there, without vectors
--   - types: map from the name of a type to kept bytes
--   - callers: map from the key of a calling function to kept bytes (related.callers)
--   - vector: sums for vectors alone; its fields 'made', 'kept' and 'bytes' are maps from a time slice
local function newrow(line)
  return {file = line.file, line = line.line, name = line.name, native = line.native,
          defined = line.defined, samples = 0, bytes = 0, survived = 0,
          survivedbytes = 0, kept = 0, keptbytes = 0, late = 0, sampled = {},
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
-- wanted: kinds of blocks whose samples count (M.kinds)
local function worthy(bins, nearest, proved, wanted)
  local kept, set = {}, {}
  for i, node in ipairs(bins.node) do
    local line = nearest[node]
    if line and wanted[bins.kind[i]] then
      local n = (kept[line] or 0) + bins.survived[i] - (proved and bins.later[i] or 0)
      kept[line] = n
      set[line] = n >= M.FEW or nil
    end
  end
  return set
end

--- Selects kinds of blocks: returns a map from the number of a kind to true. If 'native' is true, selects
-- native memory, otherwise Lua's memory.
function M.kinds(profile, native)
  local wanted = {}
  for i, kind in ipairs(profile.kinds) do
    wanted[i] = not kind.time and (kind.name == "native") == native
  end
  return wanted
end

--- Returns two values:
--
--   1. the set of the time slices in which the program ran: it allocated, or collections took less than 75%
--      of the slice's CPU time (RAN)
--   2. a map from time slice to its number of time samples
--
-- wanted: kinds of blocks whose allocation counts (M.kinds)
function M.ran(profile, wanted)
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

--- Numbers the time slices in which the program ran by 0, 1, 2, ... Returns two values: a map from each slice
-- to its number, and the number of these slices. If the program ran in fewer than FEWBUSY slices, or in at
-- least 75% of all slices (MOST), all slices have numbers.
--
-- n: number of all time slices
-- has: set of the slices in which the program ran
function M.busy(n, has)
  local number, busy = {}, 0
  for part = 0, n - 1 do
    if has[part] then
      number[part], busy = busy, busy + 1
    end
  end
  if busy >= FEWBUSY and busy < MOST * n then
    return number, busy
  end
  for part = 0, n - 1 do
    number[part] = part
  end
  return number, n
end

--- Returns the number of the time slice in the middle of those in which the program ran (M.busy).
--
-- n: only the first n time slices count
-- wanted: kinds of blocks whose samples count (M.kinds)
function M.middle(profile, n, wanted)
  local busy, nbusy = M.busy(n, (M.ran(profile, wanted)))
  for part = 0, n - 1 do
    if busy[part] == nbusy // 2 then
      return part
    end
  end
  return 0
end

--- Returns a row (newrow) for each line with at least FEW kept samples. Second result: the bytes that all
-- lines keep from the second half of the run.
--
-- n: only the first n time slices count, except in data about vectors
-- proved: true: the file shows which survivors died later
-- wanted: kinds of blocks whose samples count (M.kinds)
function M.rows(profile, n, proved, wanted)
  local bins = profile.bins
  local _, _, nearest = totals.linerows(profile, true, true)
  local worth = worthy(bins, nearest, proved, wanted)
  local callers = related.callers(profile)
  local rows, byrow, late, middle = {}, {}, 0, M.middle(profile, n, wanted)
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

--- Measures the progress of the program by sampled bytes, because a short run may be idle most of its time.
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
-- wanted: kinds of blocks whose bytes count (M.kinds)
function M.clock(bins, wanted)
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

--- Returns the mean bytes that a sample represents, in the time slices from 'from' on. With this mean m, n
-- sampled bytes have the standard error sqrt(n * m).
--
-- clock: sampled bytes by time slice (M.clock)
function M.period(clock, from)
  local bytes, squares = 0, 0
  for part, square in pairs(clock.squares) do
    if part >= from then
      bytes, squares = bytes + clock.parts[part], squares + square
    end
  end
  return squares / math.max(bytes, 1)
end

return M
