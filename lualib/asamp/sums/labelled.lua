-- SPDX-License-Identifier: MIT
-- Totals of a profile for each value of a label that the program has set. Fields of a row:
--
--   - value: text
--   - samples, bytes: allocation samples, and the bytes that they represent
--   - alive: bytes at the end
--   - time: sampled time, seconds
--   - collections, pause: number and seconds of collections while code with this value ran
--   - exact: counted bytes; nil: unknown

local measures = require "asamp.sums.measures"
local order = require "asamp.sums.order"
local totals = require "asamp.sums.totals"

local M = {}

M.NONE = "(none)"

-- A label's own value "(none)" is shown in quotes, because NONE means samples without the label.
local LIKENONE = '^"*%(none%)"*$'

local function shown(value)
  return not value and M.NONE or value:find(LIKENONE) and '"' .. value .. '"' or value
end

--- Largest number of labels for which a report or a page has tables. The profile of one process never has
-- more labels, but a merged profile, or one of another profiler, can have more.
M.MOST = 64

--- Returns the names of the labels in alphabetical order. Second result: the number of omitted names.
--
-- most: limit; if there are more names, those with most sampled bytes are returned. nil: no limit
function M.names(profile, most)
  local names, bytes = {}, {}
  for _, set in ipairs(profile.labels or {}) do
    for name in pairs(set.labels) do
      if not bytes[name] then
        bytes[name], names[#names + 1] = 0, name
      end
      bytes[name] = bytes[name] + set.bytes
    end
  end
  local left = math.max(0, #names - (most or #names))
  if left > 0 then
    table.sort(names, order.values(bytes))
    names = table.move(names, 1, most, 1, {})
  end
  table.sort(names)
  return names, left
end

-- Integer fields of a label set. For each value of a label, M.rows returns a row with the sums of these
-- fields over all label sets with this value.
local COUNTS = {"samples", "bytes", "survivedbytes", "laterbytes", "ns", "minors", "majors", "pause"}

-- Creates empty sums over label sets. Their field 'sets' is the number of added sets, 'counted' the number of
-- those with exact bytes.
local function zero()
  local sums = {sets = 0, exact = 0, counted = 0}
  for _, key in ipairs(COUNTS) do
    sums[key] = 0
  end
  return sums
end

local function add(sums, set)
  for _, key in ipairs(COUNTS) do
    sums[key] = sums[key] + set[key]
  end
  sums.sets, sums.exact = sums.sets + 1, sums.exact + (set.exact or 0)
  sums.counted = sums.counted + (set.exact and 1 or 0)
end

-- Caches the results of 'indexed': a map from lists of label sets.
local indexes = setmetatable({}, {__mode = "k"})

-- Returns two values: the sums over all label sets of a list; and a map from the name of a label to the list
-- of the sets that have it. Caches both in 'indexes'. Otherwise, the time to compute the rows of all labels
-- would grow with the product of the numbers of sets and of names.
local function indexed(sets)
  local index = indexes[sets]
  if not index then
    index = {whole = zero(), having = {}}
    for _, set in ipairs(sets) do
      add(index.whole, set)
      for name in pairs(set.labels) do
        local list = index.having[name] or {}
        index.having[name], list[#list + 1] = list, set
      end
    end
    indexes[sets] = index
  end
  return index.whole, index.having
end

local function subtract(sums, part)
  for key, n in pairs(part) do
    sums[key] = sums[key] - n
  end
end

--- Returns a row for each value of the label 'name', and a row for samples without the label. The row with
-- most allocated bytes is the first; exact numbers of bytes are compared if they are known. Omits rows
-- without costs.
function M.rows(profile, name)
  local byvalue, deaths = {}, measures.hasdeaths(profile)
  local whole, having = indexed(profile.labels or {})
  local rest = zero()
  for key, n in pairs(whole) do
    rest[key] = n
  end
  for _, set in ipairs(having[name] or {}) do
    local value = shown(set.labels[name])
    byvalue[value] = byvalue[value] or zero()
    add(byvalue[value], set)
  end
  for _, sums in pairs(byvalue) do
    subtract(rest, sums)
  end
  byvalue[M.NONE] = rest
  local rows = {}
  for value, sums in pairs(byvalue) do
    local row = {value = value, samples = sums.samples, bytes = sums.bytes, time = sums.ns / 1e9,
                 alive = deaths and sums.survivedbytes - sums.laterbytes or 0,
                 collections = sums.minors + sums.majors, pause = sums.pause / 1e6,
                 exact = sums.counted > 0 and sums.exact or nil}
    if row.bytes > 0 or row.time > 0 or row.collections > 0 or sums.exact > 0 then
      rows[#rows + 1] = row
    end
  end
  table.sort(rows, rows[1] and rows[1].exact and order.by("-exact", "-bytes", "-time", "value")
                   or order.by("-bytes", "-time", "value"))
  return rows
end

local PARTS, LINES = 3, 3  -- limits of M.within: number of values, and number of lines of each value

--- For each of the first PARTS values of a label, returns the source lines that allocated most while the
-- label had this value. Omits values without samples. Fields of an element:
--
--   - value: the value of the label
--   - bytes: sampled bytes with this value
--   - lines: the first LINES lines: {name, file, line, bytes} each
--
-- name: name of the label
-- read: function that maps a label (result of M.parse) to a profile with only the samples of this label
function M.within(profile, name, read)
  local parts = {}
  for i, row in ipairs(M.rows(profile, name)) do
    local part = i <= PARTS and row.samples > 0 and read(M.parse(name .. "=" .. row.value))
    if part then
      local lines = totals.sorted(totals.of(part).lines, "bytes")
      parts[#parts + 1] = {value = row.value, bytes = row.bytes, lines = {}}
      for k = 1, math.min(LINES, #lines) do
        local line = lines[k]
        parts[#parts].lines[k] = line.self.bytes > 0 and
          {name = line.name, file = line.file, line = line.line, bytes = line.self.bytes} or nil
      end
    end
  end
  return parts
end

--- Returns a map from the name of every label to its rows (M.rows), or nil if there are no labels. The second
-- result is the number of rows that are omitted because of 'most'; each omitted label counts as one row.
--
--   - top: number of rows of a label; nil: as many as 'most' permits
--   - most: limit of the number of labels and, if 'top' is nil, of all rows
function M.all(profile, top, most)
  local all, names, left = {}, M.names(profile, most)
  for _, name in ipairs(names) do
    local rows = M.rows(profile, name)
    local n = math.min(#rows, top or most)
    all[name] = table.move(rows, 1, n, 1, {})
    if not top then
      most, left = most - n, left + #rows - n
    end
  end
  return #names > 0 and all or nil, left
end

--- Parses a label such as "route=/checkout". Returns {name, value, text}, or nil if the text has another
-- form. If the value is "(none)", which means samples without the label, the field 'value' is nil.
function M.parse(text)
  local name, value = text:match "^([^=]+)=(.*)$"
  if value == M.NONE then
    value = nil
  elseif value and value:find(LIKENONE) then
    value = value:match '^"(.*)"$' or value
  end
  return name and {name = name, value = value, text = text} or nil
end

--- Returns true if a profile has a label, with the given value if that is not nil; else nil and a message.
function M.check(profile, name, value)
  local names, left = M.names(profile, M.MOST)
  if #names == 0 then
    return nil, "the profile has no labels; set one with profiler.label{name = value}"
  end
  local found = false
  for _, set in ipairs(profile.labels) do
    local has = set.labels[name]
    found = found or has ~= nil
    if has and (not value or has == value) then
      return true
    end
  end
  if not found then
    return nil, ("the profile has no label named %s (known: %s%s)"):format(
      name, table.concat(names, ", "), left > 0 and (", and %d more"):format(left) or "")
  end
  return nil, ("no code ran with the label %s=%s; --by-label NAME lists its values"):format(name, value)
end

return M
