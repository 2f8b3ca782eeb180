-- SPDX-License-Identifier: MIT
-- Common parts of the report's tables: cells with numbers, and the first rows of a list under a title. Fields
-- of 'style', which all sections receive:
--
--   - paint: function that colours text (layout.painter)
--   - width: columns of the terminal
--   - top: largest number of rows of a table
--   - profile, totals: the profile and its totals (asamp.sums.totals)
--   - key: "total" or "self": values by which tables are sorted
--   - choice: true: there are several measures
--   - focus: the part of the profile that the report covers (text.lua); nil: all

local layout = require "asamp.show.layout"
local measures = require "asamp.sums.measures"
local units = require "asamp.show.units"

local M = {}

function M.value(profile, sum, field)
  local n = sum[field]
  if measures.isbytes(field) then
    return units.short(n)
  elseif field == "timesamples" and (profile.timeperiod or 0) > 0 then
    return units.shorttime(n * profile.timeperiod)
  end
  return units.count(n)
end

--- Prepares the columns of a table for layout.grid. Sets their fields 'title' and 'cells' (the texts of the
-- cells, one for each row). Returns 'list', which is the list of columns. Elements and fields of a column:
--
--   - [1]: heading of the column
--   - [2](row): returns a cell's text
--   - gap: spaces before the column; nil: 2
--   - least: minimum width of the column; nil: 0
--   - spare: if the table is too wide, the column with the largest 'spare' is dropped first; nil: dropped
--     after all columns that have this field
function M.columns(rows, list)
  for _, column in ipairs(list) do
    column.title, column.cells = column[1], {}
    for i, row in ipairs(rows) do column.cells[i] = column[2](row) end
  end
  return list
end

--- Returns a column for M.columns with the percentages row[field] / whole. 'spare': field of the column
-- (M.columns).
function M.shares(spare, field, whole)
  return {"", gap = 1, least = 6, spare = spare, function(row)
    return units.percent(row[field], whole)
  end}
end

--- Returns columns for M.columns: one for each field of 'list' that is above 0 in at least one of the rows
-- 'all'. An element of 'list' is {title, field, show, spare =, shares =}:
--
--   - title: heading of the column
--   - field: name of the field of a row
--   - show(value): returns a cell's text
--   - spare: field of the column (M.columns)
--   - shares: true: adds a column of percentages
function M.sums(all, list)
  local columns = {}
  for _, sum in ipairs(list) do
    local title, field, show = table.unpack(sum)
    local whole = 0
    for _, row in ipairs(all) do
      whole = whole + row[field]
    end
    if whole > 0 then
      columns[#columns + 1] = {title, spare = sum.spare, function(row) return show(row[field]) end}
      columns[#columns + 1] = sum.shares and M.shares(9, field, whole) or nil
    end
  end
  return columns
end

function M.top(style, list)
  return table.move(list, 1, math.min(style.top, #list), 1, {})
end

--- Returns the title of a section, in bold and in as many lines as the width requires.
function M.title(style, title)
  return style.paint("bold", layout.wrap(title, "", style.width))
end

--- Returns a remark below a table, indented to column 'left', where the table's text starts.
function M.remark(style, left, text)
  return style.paint("dim", layout.wrap(text, (" "):rep(left), style.width))
end

--- Returns a table of all rows of the list as lines of text, with a title. The other arguments are those of
-- M.titled, which returns only the first rows.
function M.whole(style, title, list, ...)
  return M.titled(setmetatable({top = #list}, {__index = style}), title, list, ...)
end

--- Returns a table as lines of text: a title, the first style.top rows of the list, and the number of omitted
-- rows. The second result is the list of the columns that fit into the width.
--
--   - list: rows of any kind
--   - columns: columns of numbers, in the form of M.columns
--   - what: heading of the last column, which has texts
--   - label(i, n): returns the text of row i in the last column, in at most n columns of the terminal
--   - wanted: minimum width of the last column; nil: layout.LEAST
function M.titled(style, title, list, columns, what, label, wanted)
  local rows = M.top(style, list)
  local n = #rows
  local lines, left, kept = layout.grid(M.columns(rows, columns), n, what, label, style.width,
                                        style.paint, wanted)
  table.insert(lines, 1, M.title(style, title))
  table.insert(lines, 1, "")
  if #list > n then
    lines[#lines + 1] = M.remark(style, left, "and " .. units.count(#list - n) .. " more")
  end
  return lines, kept
end

return M
