-- SPDX-License-Identifier: MIT
-- The report's tables of the Lua states and OS threads of a process. Pure. 'style': see
-- tables.lua.

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

-- Returns a table. name(row), number(row): texts of a row. If a name is too long, its start is
-- cut; the number before it, the argument of --state, is kept.
local function titled(style, title, all, what, name, number)
  return tables.titled(style, title, all, tables.sums(all, SUMS), what, function(i, n)
    local lead = number and number(all[i]) or ""
    return lead .. layout.cutstart(layout.clean(name(all[i])), math.max(n - #lead, 2))
  end)
end

local function nameof(row)
  return row.name
end

--- Returns totals by the states' names; nothing if there is only one state.
function M.names(style)
  local all = states.names(style.profile)
  if #all == 0 or style.profile.begun < 2 then
    return {}
  end
  return titled(style, "By script of the Lua states", all, "script", nameof)
end

--- Returns a table of single states.
function M.states(style)
  return titled(style, "By Lua state", states.states(style.profile), "state", nameof, function(row)
    return row.id and ("%d  "):format(row.id)
  end)
end

--- Returns a table of OS threads.
function M.threads(style)
  return titled(style, "By OS thread", states.threads(style.profile), "thread", function(row)
    return tostring(row.id)
  end)
end

return M
