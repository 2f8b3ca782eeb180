-- SPDX-License-Identifier: MIT
-- Lifetimes of sampled blocks: in bytes allocated between allocation and death, or in time.

local order = require "asamp.sums.order"
local totals = require "asamp.sums.totals"

local M = {}

-- Rows of lifetimes. A lifetime is the number of bytes that the program allocated between the allocation of a
-- block and its death. The first row is for lifetimes below 1 MiB, the next ones for those below 4 MiB, 16
-- MiB and so on. FIRST is the binary logarithm of the first limit, STEP that of the factor between two
-- limits.
local FIRST, STEP = 20, 2

-- Returns the index (0, 1, ...) of the row for a lifetime of less than 2^digits bytes.
local function rowof(digits)
  return math.max(0, (digits - FIRST + STEP - 1) // STEP)
end

-- Adds samples and bytes of one line to a row of lifetimes. 'line': row of totals.linerows, or nil.
local function add(row, line, samples, bytes)
  row.samples = row.samples + samples
  row.bytes = row.bytes + bytes
  if line and samples > 0 then
    row.lines[line] = (row.lines[line] or 0) + samples
  end
end

local function newrow(kind, below)
  return {kind = kind, below = below, samples = 0, bytes = 0, lines = {}}
end

-- Completes a row of lifetimes: adds the line with most of its samples (fields file, line, name and share),
-- and removes the field 'lines', which is no longer needed. Returns the row.
local function lead(row)
  local best, most
  for line, n in pairs(row.lines) do
    if not best or n > most or n == most and
       (line.file < best.file or line.file == best.file and
        line.line < best.line) then
      best, most = line, n
    end
  end
  row.lines = nil
  if best then
    row.file, row.line, row.name = best.file, best.line, best.name
    row.share = most / row.samples
  end
  return row
end

--- Returns rows with the numbers of blocks by their lifetime, the shortest lifetimes first, or nil if the
-- file does not record deaths. Fields of a row:
--
--   - kind: "young": the blocks were found dead by their first collection; "later": by a later one; "alive":
--     they are not known to be dead
--   - below: only for the kind "later": upper bound of the lifetime, in allocated bytes
--   - samples, bytes: number of sampled blocks with these lifetimes, and the bytes that they represent
--   - file, line, name: the line with most samples of the row; nil: none
--   - share: share of the row's samples that the line has
function M.of(profile)
  if (profile.followed or 0) == 0 or not profile.fates then
    return nil
  end
  local _, _, nearest = totals.linerows(profile)
  local young, alive, later = newrow "young", newrow "alive", {}
  local sites, lives = profile.sites, profile.lifetimes
  for i, node in ipairs(sites.node) do
    if not profile.kinds[sites.kind[i]].time then
      local line = nearest[node]
      add(young, line, sites.samples[i] - sites.survived[i] -
        sites.undecided[i], sites.bytes[i] - sites.survivedbytes[i] -
        sites.undecidedbytes[i])
      add(alive, line, sites.survived[i] - sites.later[i],
          sites.survivedbytes[i] - sites.laterbytes[i])
    end
  end
  local last = -1
  for i, node in ipairs(lives.node) do
    local k = rowof(lives.digits[i])
    for j = last + 1, k do
      later[j] = newrow("later", 1 << (FIRST + STEP * j))
    end
    last = math.max(last, k)
    add(later[k], nearest[node], lives.samples[i], lives.bytes[i])
  end
  local rows = {}
  for i = -1, last + 1 do
    local row = i < 0 and young or i > last and alive or later[i]
    if row.samples > 0 then
      rows[#rows + 1] = lead(row)
    end
  end
  return rows
end

-- Lifetimes are short up to 5% of the run, and medium up to half of it, as in the profiler FiLiP.
local SHORT, MID = 0.05, 0.5

-- Returns "short", "mid" or "long" for a lifetime, given as a share of the run.
local function sortof(share)
  return share <= SHORT and "short" or share <= MID and "mid" or "long"
end

-- Returns the median lifetime of a class in us, or nil if over half of the objects are alive. The accuracy is
-- that of the class's histogram: the result is the middle of the interval that contains the median.
local function median(row)
  local seen = 0
  for _, slot in ipairs(row.histogram) do
    seen = seen + slot.objects
    if 2 * seen >= row.objects then
      return 0.75 * slot.below
    end
  end
  return nil
end

-- Converts numbers of objects to a histogram of lifetimes: a list of {below (us), objects}, the shortest
-- first.
--
-- digits: digits[k] is the number of objects whose lifetime in us has k binary digits, and so is below 2^k
local function histogram(digits)
  local list = {}
  for k = 0, 63 do
    if digits[k] then
      list[#list + 1] = {below = 2.0 ^ k, objects = digits[k]}
    end
  end
  return list
end

--- Returns a row about the lifetimes of each class of objects, the class with most bytes first. Objects
-- without a class are grouped by type. Returns nil if there is too little data. A lifetime ends at the
-- collection that found the object dead, or with the run.
--
--   - name: name of the class or type
--   - samples, bytes: allocated samples, and the bytes that they represent
--   - objects, kept: estimated number of objects, and of live ones
--   - mean, median: mean and median lifetime, us; median = nil: over half of the objects are alive
--   - share: mean lifetime as a share of the run
--   - sort: "short", "mid" or "long" (SHORT, MID)
--   - histogram: {below (us, a power of 2), objects (dead at that age)} each
function M.classes(profile)
  local sites, rows, byname, bykind, digits = profile.sites, {}, {}, {}, {}
  if not sites.life or (profile.duration or 0) == 0 then
    return nil
  end
  local run = profile.duration * 1e6
  for i, kind in ipairs(sites.kind) do
    local k = profile.kinds[kind]
    if not k.time then
      local name = k.class or k.name
      local row = byname[name]
      if not row then
        row = {name = name, samples = 0, bytes = 0, objects = 0, kept = 0, sum = 0}
        digits[row] = {}
        byname[name], rows[#rows + 1] = row, row
      end
      bykind[kind] = row
      row.samples, row.bytes = row.samples + sites.samples[i], row.bytes + sites.bytes[i]
      row.objects, row.kept = row.objects + sites.objects[i], row.kept + sites.kept[i]
      row.sum = row.sum + sites.life[i] + sites.kept[i] * run - sites.births[i]
    end
  end
  for i, kind in ipairs(profile.lifeclasses.node) do
    local counts, k = digits[bykind[kind + 1]], profile.lifeclasses.digits[i]
    counts[k] = (counts[k] or 0) + profile.lifeclasses.objects[i]
  end
  for _, row in ipairs(rows) do
    row.mean = row.objects > 0 and row.sum / row.objects or 0
    row.share, row.sum = row.mean / run, nil
    row.histogram = histogram(digits[row])
    row.median = median(row)
    row.sort = sortof(row.share)
  end
  table.sort(rows, order.by("-bytes", "name"))
  return rows
end

-- Returns the samples that died, by line and lifetime: {[line] = {[k] = number of samples}}. A lifetime is
-- the number of bytes that the program allocated until the block died. k is the number of binary digits of
-- the lifetime, so the lifetime is below 2^k.
--
-- nearest: map from each call tree node to the line of its innermost Lua frame
local function lives(profile, nearest)
  local list, found = profile.lifetimes, {}
  for i, node in ipairs(list.node) do
    local line = nearest[node]
    if line then
      found[line] = found[line] or {}
      local k = list.digits[i]
      found[line][k] = (found[line][k] or 0) + list.samples[i]
    end
  end
  return found
end

--- Returns the lifetimes of each line's objects, the line with most bytes first, or nil if there is too
-- little data.
--
--   - file, line, name: the line's file, number and function
--   - samples, bytes: samples that the line allocated, and the bytes that they represent
--   - objects: estimated number of its objects
--   - kept: estimated number of its live objects
--   - mean: mean lifetime in us
--   - share: mean lifetime as a share of the run
--   - sort: mean lifetime as a word (sortof)
--   - young: number of samples that died before their first collection
--   - alive: number of samples alive at the end
--   - later: list of the other samples by lifetime: {below, samples}; 'below' is an upper bound of the
--     lifetime in allocated bytes, a power of 2
function M.lines(profile)
  local sites, rows, byline = profile.sites, {}, {}
  if not sites.life or (profile.duration or 0) == 0 then
    return nil
  end
  local _, _, nearest = totals.linerows(profile)
  local run, later = profile.duration * 1e6, lives(profile, nearest)
  for i, node in ipairs(sites.node) do
    local line, kind = nearest[node], profile.kinds[sites.kind[i]]
    if line and not kind.time and kind.name ~= "native" then
      local row = byline[line]
      if not row then
        row = {file = line.file, line = line.line, name = line.name, samples = 0, bytes = 0,
               objects = 0, kept = 0, young = 0, alive = 0, sum = 0}
        byline[line], rows[#rows + 1] = row, row
        row.later = {}
        for k = 0, 63 do
          local n = later[line] and later[line][k]
          if n then row.later[#row.later + 1] = {below = 2.0 ^ k, samples = n} end
        end
      end
      row.samples, row.bytes = row.samples + sites.samples[i], row.bytes + sites.bytes[i]
      row.objects, row.kept = row.objects + sites.objects[i], row.kept + sites.kept[i]
      row.young = row.young + sites.samples[i] - sites.survived[i] - sites.undecided[i]
      row.alive = row.alive + sites.survived[i] - sites.later[i]
      row.sum = row.sum + sites.life[i] + sites.kept[i] * run - sites.births[i]
    end
  end
  for _, row in ipairs(rows) do
    row.mean = row.objects > 0 and row.sum / row.objects or 0
    row.share, row.sum = row.mean / run, nil
    row.sort = sortof(row.share)
  end
  table.sort(rows, order.by("-bytes", "file", "line"))
  return rows
end

return M
