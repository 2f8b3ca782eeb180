-- SPDX-License-Identifier: MIT
-- What a profile tells by the labels that the program gave to its coroutines: rows of
-- the values of a label. Pure. Rows have value, samples, bytes, alive (at the end, as in
-- asamp.sums.totals: of what has a fate, and 0 when the file tells no deaths), time
-- (seconds), collections (that came while it ran) and pause (their seconds); the most
-- bytes, then the most time, first.

local measures = require "asamp.sums.measures"
local order = require "asamp.sums.order"

local M = {}

M.NONE = "(none)"

-- A value that is text like that is shown in quotes, and so is one that has these.
local LIKENONE = '^"*%(none%)"*$'

local function shown(value)
  return not value and M.NONE or value:find(LIKENONE) and '"' .. value .. '"' or value
end

--- The names that there are, in alphabetical order.
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

--- A row for each value of the label called 'name', and one for what has none, if
-- anything ran with it.
function M.rows(profile, name)
  local rows, byvalue, deaths = {}, {}, measures.tellsdeaths(profile)
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
  end
  for i = #rows, 1, -1 do
    local row = rows[i]
    if row.bytes == 0 and row.time == 0 and row.collections == 0 then
      table.remove(rows, i)
    end
  end
  table.sort(rows, order.by("-bytes", "-time", "value"))
  return rows
end

--- Rows by the names of all labels; nil where there are none.
function M.all(profile, top)
  local names, all = M.names(profile), {}
  for _, name in ipairs(names) do
    local rows = M.rows(profile, name)
    all[name] = table.move(rows, 1, math.min(#rows, top or #rows), 1, {})
  end
  return #names > 0 and all or nil
end

--- "route=/checkout" as {name, value}, without value for "(none)"; nil: it is none. A value
-- that is called so itself stands in quotes, as rows have it.
function M.parse(text)
  local name, value = text:match "^([^=]+)=(.*)$"
  if value == M.NONE then
    value = nil
  elseif value and value:find(LIKENONE) then
    value = value:match '^"(.*)"$' or value
  end
  return name and {name = name, value = value, text = text} or nil
end

--- Does the profile have that name (and, unless nil, that value)? nil and what is wrong.
function M.check(profile, name, value)
  local names = M.names(profile)
  if #names == 0 then
    return nil, "it has no labels; profiler.label{name = value} sets them"
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
    return nil, ("it has no label called %s; there are %s"):format(name, table.concat(names, ", "))
  end
  return nil, ("nothing ran with the label %s=%s"):format(name, value)
end

return M
