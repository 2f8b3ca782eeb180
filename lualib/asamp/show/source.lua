-- SPDX-License-Identifier: MIT
-- Shows the source of a file with the costs of its lines: lines with samples and their surroundings. 'style':
-- settings of the report (tables.lua).

local cols = require "asamp.show.columns"
local layout = require "asamp.show.layout"
local measures = require "asamp.sums.measures"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

local AROUND = 2  -- number of lines that are shown before and after a line with samples

-- Line ends that have two characters but count as one line in Lua.
local ENDS = {["\r\n"] = 2, ["\n\r"] = 2}

--- Splits a text into lines in the way in which Lua counts them. Returns a list of the lines, without the
-- line ends.
function M.split(text)
  local list, from = {}, 1
  while from <= #text do
    local at = text:find("[\r\n]", from) or #text + 1
    list[#list + 1] = text:sub(from, at - 1)
    from = at + (ENDS[text:sub(at, at + 1)] or 1)
  end
  return list
end

-- Returns the list of the numbers of the lines to show, of a file with n lines. A line is shown if it has
-- costs (is a key of 'byline'), or if it is at most AROUND lines away from such a line. In the list, false
-- represents one or more omitted lines.
local function shown(byline, n)
  local list, last = {}, 0
  for i = 1, n do
    local near = false
    for k = i - AROUND, i + AROUND do
      near = near or byline[k]
    end
    if near then
      if i > last + 1 then
        list[#list + 1] = false
      end
      list[#list + 1] = i
      last = i
    end
  end
  if last < n then
    list[#list + 1] = false
  end
  return list
end

local function code(text, n)
  local spaces, rest = text:gsub("\t", "  "):match "^( *)(.*)$"
  return layout.cutend(spaces .. layout.clean(rest), n)
end

--- Returns the lines of a file with their costs, as text. Fields of 'file':
--
--   - name, text: name and text of the file
--   - rows: rows of asamp.sums.totals for its lines
--   - cut: reason why the text is incomplete, or nil
--   - changed: warning that the file has changed since the profile, or nil
function M.lines(style, file)
  local whole, byline, beyond, unknown = style.totals.whole, {}, 0, 0
  for k, row in ipairs(file.rows) do
    if row.line == 0 then
      unknown = unknown + 1
    elseif row.line > #file.text then
      beyond = beyond + 1
    else
      byline[row.line] = k
    end
  end
  local list = shown(byline, #file.text)
  -- For each shown line: its number as text ('numbers'), and its row of totals, or false if it has none
  -- ('rows').
  local numbers, rows = {}, {}
  for i, line in ipairs(list) do
    numbers[i], rows[i] = line and tostring(line) or "", file.rows[byline[line]] or false
  end
  local columns = {}
  for _, field in ipairs(style.totals.measures) do
    local own = cols.measured(style, field)
    own[1][1] = measures.NAMES[field]
    table.move(own, 1, 2, #columns + 1, columns)
    if field ~= "timesamples" then
      local fates = {}
      cols.fates(style, fates, field)
      columns[#columns + 1] = fates[#fates]
    end
  end
  if whole.timesamples > 0 then
    cols.times(style, columns)
  end
  for _, column in ipairs(columns) do
    local cell = column[2]
    column[2] = function(row) return row and cell(row) or "" end
  end
  tables.columns(rows, columns)
  columns[#columns + 1] = {title = "", cells = numbers}
  local lines, _, kept = layout.grid(columns, #list, layout.clean(file.name), function(i, n)
    local text = list[i] and code(file.text[list[i]], n) or "…"
    return rows[i] and text or style.paint("dim", text)
  end, style.width, style.paint, style.width * 2 // 5)
  style.explain("source", kept)
  table.insert(lines, 1, "")
  if file.changed then
    lines[#lines + 1] = style.paint("yellow", layout.wrap(file.changed .. ".", "  ", style.width))
  end
  if beyond > 0 then
    lines[#lines + 1] = style.paint("yellow", layout.wrap(
      (file.cut and ("%s of the profile cannot be shown: the file %s."):format(
         units.plural(beyond, "line"), file.cut) or
       ("%s of the profile %s after the end of the file, which has changed since the profile was made.")
         :format(units.plural(beyond, "line"), beyond == 1 and "is" or "are")), "  ", style.width))
  end
  if unknown > 0 then
    lines[#lines + 1] = style.paint("dim", layout.wrap(
      "Code without debug information has no line numbers and is not shown.", "  ", style.width))
  end
  return lines
end

return M
