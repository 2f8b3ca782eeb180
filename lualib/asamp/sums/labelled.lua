-- SPDX-License-Identifier: MIT
-- Totals of a profile for each value of a label that the program has set. A row:
--
--   - value: text
--   - samples, bytes: sampled allocations
--   - alive: bytes at the end
--   - time: seconds
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

--- Returns the names of all labels in alphabetical order.
function M.names(profile)
  local names, seen = {}, {}
  for _, set in ipairs(profile.labels or {}) do
    for name in pairs(set.labels) do
      if not seen[name] then
        seen[name], names[#names + 1] = true, name
      end
    end
  end
  table.sort(names)
  return names
end

--- Returns a row for each value of a label, and one for samples without the label; the row with most
-- allocated bytes first. Omits rows without costs. 'name': of the label.
function M.rows(profile, name)
  local rows, byvalue, deaths = {}, {}, measures.hasdeaths(profile)
  for _, set in ipairs(profile.labels or {}) do
    local value = shown(set.labels[name])
    local row = byvalue[value]
    if not row then
      row = {value = value, samples = 0, bytes = 0, alive = 0, time = 0, collections = 0, pause = 0}
      byvalue[value], rows[#rows + 1] = row, row
    end
    row.samples, row.bytes = row.samples + set.samples, row.bytes + set.bytes
    row.alive = row.alive + (deaths and set.survivedbytes - set.laterbytes or 0)
    row.time = row.time + set.ns / 1e9
    row.collections = row.collections + set.minors + set.majors
    row.pause = row.pause + set.pause / 1e6
    row.exact = set.exact and (row.exact or 0) + set.exact
  end
  for i = #rows, 1, -1 do
    local row = rows[i]
    if row.bytes == 0 and row.time == 0 and row.collections == 0 and (row.exact or 0) == 0 then
      table.remove(rows, i)
    end
  end
  table.sort(rows, rows[1] and rows[1].exact and order.by("-exact", "-bytes", "-time", "value")
                   or order.by("-bytes", "-time", "value"))
  return rows
end

local PARTS, LINES = 3, 3  -- limits of M.within: values, and lines of each value

--- Returns the lines that allocated most for each of the first PARTS values of a label with samples:
--
--   - value: of the label
--   - bytes: sampled bytes
--   - lines: the LINES first: {name, file, line, bytes}
--
-- name: of the label
-- read: function from a label (M.parse) to the profile of its samples
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

--- Returns the rows (M.rows) of every label, by its name; nil: there are no labels. 'top': number of rows of
-- a label; nil: all.
function M.all(profile, top)
  local names, all = M.names(profile), {}
  for _, name in ipairs(names) do
    local rows = M.rows(profile, name)
    all[name] = table.move(rows, 1, math.min(#rows, top or #rows), 1, {})
  end
  return #names > 0 and all or nil
end

--- Parses a label such as "route=/checkout" into {name, value, text}; nil: the text has another form. The
-- value "(none)" becomes nil, which means samples without the label.
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
  local names = M.names(profile)
  if #names == 0 then
    return nil, "the profile has no labels; profiler.label{name = value} sets one"
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
    return nil, ("the profile has no label named %s (known: %s)"):format(name, table.concat(names, ", "))
  end
  return nil, ("no code ran with the label %s=%s; --by-label %s lists its values"):format(name, value, name)
end

return M
