-- SPDX-License-Identifier: MIT
-- The values of a label as a table of the report. Pure. 'style': see tables.lua.

local labelled = require "asamp.sums.labelled"
local layout = require "asamp.show.layout"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

-- Columns of what there is in any row: bytes, live bytes, time and collections, the first
-- and the third with their shares.
local function columnsof(all, rows)
  local columns = {}
  local function add(title, field, show, spare, share)
    local whole = 0
    for _, row in ipairs(all) do
      whole = whole + row[field]
    end
    if whole == 0 then
      return
    end
    columns[#columns + 1] = {title = title, spare = spare,
      cells = tables.cells(rows, function(row) return show(row[field]) end)}
    if share then
      columns[#columns + 1] = {title = "", gap = 1, least = 6, spare = 9,
        cells = tables.cells(rows, function(row) return units.percent(row[field], whole) end)}
    end
  end
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
