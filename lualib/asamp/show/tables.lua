-- SPDX-License-Identifier: MIT
-- What the report's tables have in common: cells with numbers, the first rows
-- under a title. Pure. A 'style' is what everything that makes a section of the
-- report gets: {paint, width, top (rows), profile, totals, key ("total": sorted by
-- total instead of self), choice (is there more than one measure?), focus}.

local layout = require "asamp.show.layout"
local measures = require "asamp.sums.measures"
local units = require "asamp.show.units"

local M = {}

--- What a sum has of a field, as a number for people.
function M.value(profile, sum, field)
  local n = sum[field]
  if measures.isbytes(field) then
    return units.short(n)
  elseif field == "timesamples" and (profile.timeperiod or 0) > 0 then
    return units.shorttime(n * profile.timeperiod)
  end
  return units.count(n)
end

--- The texts of a column: cell(row) of every row.
function M.cells(rows, cell)
  local list = {}
  for i, row in ipairs(rows) do
    list[i] = cell(row)
  end
  return list
end

--- A column for layout.grid with the texts of cell(row). 'spare' as there.
function M.column(rows, title, spare, cell)
  return {title = title, spare = spare, cells = M.cells(rows, cell)}
end

--- The column beside it of shares: row[field] of the whole.
function M.shares(rows, spare, field, whole)
  return {title = "", gap = 1, least = 6, spare = spare, cells = M.cells(rows, function(row)
    return units.percent(row[field], whole)
  end)}
end

--- Adds the column of a field to 'columns', with its shares where they are wanted, if
-- there is any of it in all rows. show(value): its text.
function M.addsum(columns, all, rows, title, field, show, spare, shares)
  local whole = 0
  for _, row in ipairs(all) do
    whole = whole + row[field]
  end
  if whole > 0 then
    columns[#columns + 1] = M.column(rows, title, spare, function(row) return show(row[field]) end)
    columns[#columns + 1] = shares and M.shares(rows, 9, field, whole) or nil
  end
end

--- The rows that a table shows.
function M.top(style, list)
  return table.move(list, 1, math.min(style.top, #list), 1, {})
end

--- The first rows of a list under a title, as lines; says how many more there are.
-- 'columns', 'what', 'label' and 'wanted': columns, title, label and least of
-- layout.grid.
function M.titled(style, title, list, columns, what, label, wanted)
  local n = math.min(style.top, #list)
  local lines, left = layout.grid(columns, n, what, label, style.width,
                                  style.paint, wanted)
  table.insert(lines, 1, style.paint("bold", title))
  table.insert(lines, 1, "")
  if #list > n then
    lines[#lines + 1] = style.paint("dim", (" "):rep(left) .. "and " ..
                                    units.count(#list - n) .. " more")
  end
  return lines
end

return M
