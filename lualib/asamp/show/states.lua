-- SPDX-License-Identifier: MIT
-- The report's tables of the Lua states and OS threads of a process, always of the whole run. 'style':
-- settings of the report (tables.lua). 'part': true if the rest of the report covers only a part of the
-- samples, so that the titles must contain "of the whole run".

local layout = require "asamp.show.layout"
local states = require "asamp.sums.states"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

local function exactly(n)
  return n > 0 and units.short(n) or "-"
end

local SUMS = {
  {"bytes", "bytes", units.short, shares = true}, {"time", "time", units.shorttime, shares = true},
  {"alive", "alive", units.short, spare = 3}, {"exactly", "allocated", exactly, spare = 5},
  {"GCs", "collections", units.count, spare = 6}, {"states", "count", units.count, spare = 1},
}

local function titleof(text, part)
  return part and text .. ", of the whole run" or text
end

-- Returns a table as lines of text: a title, a heading of the column of names ('what'), and one row for each
-- state or thread in the list 'all'. A name that is too long loses its start.
--
--   - name(row): returns the name
--   - number(row): returns the number for --state, shown before the name; nil: no numbers
local function titled(style, title, all, what, name, number)
  return tables.titled(style, title, all, tables.sums(all, SUMS), what, function(i, n)
    local lead = number and number(all[i]) or ""
    return lead .. layout.cutstart(layout.clean(name(all[i])), math.max(n - #lead, 2))
  end)
end

local function nameof(row)
  return row.name
end

--- Returns a table of totals by name (script) of Lua states, as lines of text, or {} if the process had only
-- one state. 'part': true: the title contains "of the whole run".
function M.names(style, part)
  local all = states.names(style.profile)
  if #all == 0 or style.profile.begun < 2 then
    return {}
  end
  return titled(style, titleof("Lua states by script", part), all, "script", nameof)
end

function M.states(style, part)
  local all = states.states(style.profile)
  return titled(style, titleof("By Lua state", part), all, "state", nameof, function(row)
    return row.id and ("%d  "):format(row.id)
  end)
end

function M.threads(style, part)
  local all = states.threads(style.profile)
  return titled(style, titleof("By OS thread", part), all, "thread", function(row)
    return tostring(row.id)
  end)
end

return M
