-- SPDX-License-Identifier: MIT
-- Lifetimes of sampled blocks, in bytes allocated between allocation and death, or in time. Has no side
-- effects: converts a profile to rows.

local order = require "asamp.sums.order"
local totals = require "asamp.sums.totals"

local M = {}

-- Bounds of the rows of lifetimes, as log2 of bytes: the first row is below 1 MiB (FIRST), each
-- further one ends at four times (STEP) the previous bound.
local FIRST, STEP = 20, 2

-- Returns the index (0, 1, ...) of the row of lifetimes up to 2^digits bytes (see FIRST).
local function rowof(digits)
  return math.max(0, (digits - FIRST + STEP - 1) // STEP)
end

-- Adds samples and bytes to a row; and adds the samples to row.lines[line], the row's samples of that line.
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

-- Stores in a row of lifetimes the file, line and name of the line with the most of its samples, and that
-- line's share of them. Removes row.lines.
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

--- Returns rows, the shortest lifetimes first; nil: the file has no deaths. Fields of a row:
--
--   - kind: "young": dead before the first collection; "later"; "alive": not known to be dead
--   - below: of "later": upper bound of the lifetime, in allocated bytes
--   - samples, bytes
--   - file, line, name: the line with the most samples of the row; share: its share of them; nil: none
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

-- Upper bounds of short and medium lifetimes, as shares of the run. These bounds and words are those of
-- the profiler FiLiP.
local SHORT, MID = 0.05, 0.5

-- Returns "short", "mid" or "long" for a lifetime, given as a share of the run.
local function sortof(share)
  return share <= SHORT and "short" or share <= MID and "mid" or "long"
end

-- Returns the median lifetime of a row (M.classes) in us: the middle of the histogram's slot that contains
-- it; nil: over half of the objects are alive.
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

-- Returns the list {{below (us), objects}, ...}, the shortest lifetimes first. digits[k]: number of objects
-- whose lifetime in us has k binary digits, so it is below 2^k.
local function histogram(digits)
  local list = {}
  for k = 0, 63 do
    if digits[k] then
      list[#list + 1] = {below = 2.0 ^ k, objects = digits[k]}
    end
  end
  return list
end

--- Returns lifetimes by class (by type for objects without a class), from allocation to the collection that
-- found the object dead, or to the end; the most bytes first; nil: too little data. A row has
--
--   - name, samples, bytes, objects (estimate)
--   - mean, median (us; nil: more than half are alive), share (mean as a share of the run)
--   - sort: "short": up to a twentieth of the run; "mid": up to half; "long"
--   - kept: live objects
--   - histogram: {{below (us, a power of 2), objects (dead at that age)}}
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

-- Returns the lifetimes of dead samples by line: {[binary digits of the bytes allocated during the
-- lifetime] = samples}.
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

--- Returns lifetimes by allocating line, the most bytes first; nil: too little data. Fields of a row:
--
--   - file, line, name: of the line
--   - samples, bytes, objects, mean, share, sort, kept: as in M.classes
--   - young: number of samples that died before their first collection; alive: at the end
--   - later: {{below (bytes allocated during the lifetime, a power of 2), samples}, ...}
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
