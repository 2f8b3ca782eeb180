-- SPDX-License-Identifier: MIT
-- The report's tables of functions, lines, types and callers: renders rows of totals as lines of text.
-- 'style' is described in tables.lua. Its function style.explain(what, columns) records the columns of a
-- table for the report's legend. 'field': field of sums (asamp.sums.totals), such as "bytes".

local cols = require "asamp.show.columns"
local labels = require "asamp.show.labels"
local layout = require "asamp.show.layout"
local measures = require "asamp.sums.measures"
local tables = require "asamp.show.tables"
local totals = require "asamp.sums.totals"

local M = {}

local function has(style, field)
  return style.totals.whole[field] > 0
end

-- Returns a table as lines of text, and records its columns for the report's legend. The parameters are those
-- of tables.titled.
local function explained(style, title, list, columns, what, ...)
  local lines, kept = tables.titled(style, title, list, columns, what, ...)
  style.explain(what, kept)
  return lines
end

local function placed(style, title, list, columns, what)
  local named = what ~= "line"
  local label = named and labels.offunction or labels.ofline
  return explained(style, title, list, columns, what, function(i, n)
    return label(list[i], n, style.paint)
  end, labels.least(style.width, tables.top(style, list), named))
end

-- Returns a table's title, such as "By function". If there are several measures, adds the measure by which
-- the table is sorted: "By function, by time".
local function titleof(style, what, field)
  return what .. (style.choice and ", by " .. measures.NAMES[field] or "")
end

local function isallocation(field)
  return field ~= "timesamples"
end

-- Removes the C functions that only show how the interpreter calls the script, because all stacks start with
-- them. Such a function has no costs of its own, and its total in the measure 'field' is that of the whole
-- profile ('whole'). Returns the remaining rows of 'list'.
local function withoutstart(list, field, whole)
  local rows = {}
  for _, row in ipairs(list) do
    if not (row.native and row.self[field] == 0 and row.total[field] == whole[field]) or
       totals.istailcalls(row) then
      rows[#rows + 1] = row
    end
  end
  return rows
end

function M.functions(style, field)
  local list = withoutstart(
    totals.sorted(style.totals.functions, field, style.key), field,
    style.totals.whole)
  local columns = cols.measured(style, field)
  if isallocation(field) then
    cols.blocks(style, columns, field)
    cols.fates(style, columns, field)
  end
  return placed(style, titleof(style, "By function", field), list, columns,
                "function")
end

-- Returns the rows whose own value of a field, without callees, is above 0.
local function owning(list, field)
  local rows = {}
  for _, row in ipairs(list) do
    rows[#rows + 1] = row.self[field] > 0 and row or nil
  end
  return rows
end

--- Returns the table of source lines as lines of text, the largest value of 'field' first. A table of times
-- has columns that divide the time into Lua code, C functions and collections.
--
-- If the profile has both allocation and time samples, and rows are not sorted by total:
--
--   - a table of allocations has these columns, too
--   - the column "total" is omitted
--   - lines without own costs are omitted
function M.lines(style, field)
  local list = totals.sorted(style.totals.lines, field, style.key)
  local both = has(style, "timesamples") and has(style, "samples")
               and style.key ~= "total"
  list = both and owning(list, field) or list
  local columns = cols.measured(style, field)
  columns = both and table.move(columns, 1, 2, 1, {}) or columns
  if isallocation(field) then
    cols.blocks(style, columns, field)
    cols.fates(style, columns, field)
  end
  if both or not isallocation(field) then
    cols.times(style, columns)
  end
  return placed(style, titleof(style, "By line", field), list, columns,
                "line")
end

function M.types(style, field)
  local list = totals.sorted(style.totals.types, field)
  local rows, classes = {}, false
  for _, row in ipairs(tables.top(style, list)) do
    rows[#rows + 1] = row
    local inner = totals.sorted(row.classes, field)
    for i, class in ipairs(tables.top(style, inner)) do
      classes = true
      rows[#rows + 1] = setmetatable({
        class = true, left = i == style.top and #inner - i}, {__index = class})
    end
  end
  local columns = {
    {"self", function(row) return tables.value(style.profile, row.self, field) end},
    {"", gap = 1, least = 6, spare = 7, function(row)
      return cols.share(row.self, style.totals.whole, field)
    end},
  }
  cols.blocks(style, columns, field)
  cols.fates(style, columns, field)
  -- The visible rows, then the omitted types: tables.titled prints the number of the omitted ones.
  local all = {}
  table.move(rows, 1, #rows, 1, all)
  table.move(list, style.top + 1, #list, #all + 1, all)
  return explained(setmetatable({top = #rows}, {__index = style}),
    classes and "By type and class" or "By type", all, columns, "type",
    function(i, n)
      local row = rows[i]
      local name = layout.cutmiddle(layout.clean(row.name), row.class and n - 2
                                                          or n)
      return row.class and "  " .. style.paint("cyan", name) or name
    end)
end

--- Returns the table of callers as lines of text.
--
-- list: the callers of the functions to which the report is restricted (asamp.sums.focus.callers)
-- field: field of sums, such as "bytes"
function M.callers(style, list, field)
  local columns = {
    {"total", function(row) return tables.value(style.profile, row.total, field) end},
    {"", gap = 1, least = 6, function(row) return cols.share(row.total, style.totals.whole, field) end},
  }
  return placed(style, titleof(style, "Called from", field), list, columns,
                "caller")
end

return M
