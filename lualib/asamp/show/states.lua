-- SPDX-License-Identifier: MIT
-- The Lua states of a process, and its OS threads, as tables of the report. Pure.
-- 'style': see tables.lua.

local layout = require "asamp.show.layout"
local states = require "asamp.sums.states"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

local SUMS = {
  {"bytes", "bytes", units.short, shares = true}, {"time", "time", units.shorttime, shares = true},
  {"alive", "alive", units.short, spare = 3}, {"exactly", "allocated", units.short, spare = 5},
  {"GCs", "collections", units.count, spare = 6}, {"states", "count", units.count, spare = 1},
}

local function titled(style, title, all, what, label)
  return tables.titled(style, title, all, tables.sums(all, SUMS), what, function(i, n)
    return layout.cutstart(layout.clean(label(all[i])), n)
  end)
end

--- What the states of one name come to; nothing where there is one state.
function M.names(style)
  local all = states.names(style.profile)
  if #all == 0 or style.profile.begun < 2 then
    return {}
  end
  return titled(style, "By script of the Lua states", all, "script", function(row)
    return row.name
  end)
end

--- Each state by itself.
function M.states(style)
  return titled(style, "By Lua state", states.states(style.profile), "state", function(row)
    return row.id and ("%d  %s"):format(row.id, row.name) or row.name
  end)
end

--- OS threads, by what ran on them.
function M.threads(style)
  return titled(style, "By OS thread", states.threads(style.profile), "thread", function(row)
    return tostring(row.id)
  end)
end

return M
