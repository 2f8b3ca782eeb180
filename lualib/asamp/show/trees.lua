-- SPDX-License-Identifier: MIT
-- Renders the call tree (rows of asamp.sums.calltree) as text.

local labels = require "asamp.show.labels"
local layout = require "asamp.show.layout"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

-- Returns the branches of the tree that are drawn before the text of a row, such as "│ ├ ".
local function branches(row)
  local parts = {}
  for level = 1, row.level - 1 do
    parts[level] = row.bars[level] and "│ " or "  "
  end
  if row.level > 0 then
    parts[row.level] = row.chained and (row.bars[row.level] and "│ " or "  ")
                       or row.last and "└ " or "├ "
  end
  return table.concat(parts)
end

function M.lines(style, rows, field, title)
  local profile, whole = style.profile, style.totals.whole
  local columns = {{title = "total", cells = {}}, {title = "", gap = 1, least = 6, cells = {}},
                   {title = "self", cells = {}}}
  for i, row in ipairs(rows) do
    columns[1].cells[i] = tables.value(profile, {[field] = row.total}, field)
    columns[2].cells[i] = units.percent(row.total, whole[field])
    columns[3].cells[i] = row.self > 0
      and tables.value(profile, {[field] = row.self}, field) or ""
  end
  local lines = layout.grid(columns, #rows, "function", function(i, n)
    local row = rows[i]
    local lead = branches(row)
    local room = n - layout.width(lead)
    -- If a row is very deep, cuts the start of its indentation, so that its name has 12 columns.
    if room < 12 then
      lead = layout.cutstart(lead, math.max(n - 12, 1))
      room = n - layout.width(lead)
    end
    lead = style.paint("dim", lead)
    if not row.fn then
      return lead .. style.paint("dim", layout.cutend(
        ("and %s more"):format(units.count(row.more)), room))
    end
    return lead .. labels.offunction(row.fn, room, style.paint)
  end, style.width, style.paint)
  table.insert(lines, 1, tables.title(style, title))
  table.insert(lines, 1, "")
  return lines
end

return M
