-- SPDX-License-Identifier: MIT
-- The report's table of the values of a label. Pure. 'style': see tables.lua.

local labelled = require "asamp.sums.labelled"
local layout = require "asamp.show.layout"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

local SUMS = {
  {"bytes", "bytes", units.short, shares = true}, {"time", "time", units.shorttime, shares = true},
  {"alive", "alive", units.short, spare = 3, shares = true},
  {"GCs", "collections", units.count, spare = 4}, {"pauses", "pause", units.shorttime, spare = 5},
}

--- Returns lines with the totals of each value of the label.
function M.lines(style, name)
  local all = labelled.rows(style.profile, name)
  return tables.titled(style, "By label " .. layout.clean(name), all, tables.sums(all, SUMS), "value",
    function(i, n) return layout.cutmiddle(layout.clean(all[i].value), n) end)
end

return M
