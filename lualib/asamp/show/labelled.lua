-- SPDX-License-Identifier: MIT
-- The values of a label as a table of the report. Pure. 'style': see tables.lua.

local labelled = require "asamp.sums.labelled"
local layout = require "asamp.show.layout"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

-- Columns of what there is in any row.
local function columnsof(all, rows)
  local columns = {}
  local function add(...) tables.addsum(columns, all, rows, ...) end
  add("bytes", "bytes", units.short, nil, true)
  add("time", "time", units.shorttime, nil, true)
  add("alive", "alive", units.short, 3, true)
  add("GCs", "collections", units.count, 4)
  add("pauses", "pause", units.shorttime, 5)
  return columns
end

--- What there is of each value of the label.
function M.lines(style, name)
  local all = labelled.rows(style.profile, name)
  local rows = tables.top(style, all)
  return tables.titled(style, "By label " .. layout.clean(name), all, columnsof(all, rows), "value",
    function(i, n)
      return layout.cutend(layout.clean(rows[i].value), n)
    end)
end

return M
