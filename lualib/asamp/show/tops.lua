-- SPDX-License-Identifier: MIT
-- The report's tables of functions, lines, types and callers: rows of totals in,
-- lines of text out. Pure. 'style': see tables.lua; 'field': what is measured.

local labels = require "asamp.show.labels"
local layout = require "asamp.show.layout"
local measures = require "asamp.sums.measures"
local tables = require "asamp.show.tables"
local totals = require "asamp.sums.totals"
local units = require "asamp.show.units"

local M = {}

-- {== cells =================================================================

-- The share of what has a fate that has a certain one.
local function fateshare(sum, which)
  local part, whole = measures.fate(sum, which)
  return whole > 0 and ("%.0f%%"):format(100 * part / whole) or "-"
end

-- The share of what was decided that survived.
local function lived(profile, sum)
  return profile.fates and fateshare(sum, "survived") or "-"
end

-- The share of what was decided that is alive at the end.
local function alive(profile, sum)
  return measures.tellsdeaths(profile) and fateshare(sum, "alive") or "-"
end

-- ==}

-- {== columns ===============================================================

local function share(sum, whole, field)
  return units.percent(sum[field], whole[field])
end

-- Columns of self and total of one field.
local function measured(style, rows, field)
  local whole = style.totals.whole
  local columns = {}
  for _, key in ipairs{"self", "total"} do
    local main = key == style.key
    columns[#columns + 1] = {title = key, spare = not main and 6,
      cells = tables.cells(rows, function(row)
        return tables.value(style.profile, row[key], field)
      end)}
    columns[#columns + 1] = {title = "", gap = 1, least = 6,
      spare = main and 7 or 9, cells = tables.cells(rows, function(row)
        return share(row[key], whole, field)
      end)}
  end
  return columns
end

-- Adds the columns of how many blocks there were, and of how many bytes each.
local function blockcolumns(style, columns, rows)
  if style.totals.whole.objects == 0 or style.totals.unit ~= "bytes" then
    return
  end
  columns[#columns + 1] = {title = "blocks", spare = 8, cells = tables.cells(rows, function(row)
    return row.self.objects > 0 and
           units.count(math.max(1, math.floor(row.self.objects + 0.5))) or "-"
  end)}
  columns[#columns + 1] = {title = "mean", spare = 10, cells = tables.cells(rows, function(row)
    return row.self.objects > 0 and
           units.short(math.floor(row.self.bytes / row.self.objects + 0.5)) or "-"
  end)}
end

-- Adds the columns of what survived and of what is alive at the end.
local function fatecolumns(style, columns, rows)
  columns[#columns + 1] = {title = "lived", spare = 2, cells = tables.cells(rows, function(row)
    return lived(style.profile, row.self)
  end)}
  if measures.tellsdeaths(style.profile) then
    columns[#columns + 1] = {title = "alive", spare = 3, cells = tables.cells(rows, function(row)
      return alive(style.profile, row.self)
    end)}
  end
end

-- Where the time of a line went, in shares of all time.
local function addtimecolumns(style, columns, rows)
  local whole = style.totals.whole
  local function column(title, spare, of)
    columns[#columns + 1] = {title = title, spare = spare, cells = tables.cells(rows, function(row)
      return units.percent(of(row.self), whole.timesamples)
    end)}
  end
  column("Lua", 4, function(sum)
    return sum.timesamples - sum.nativesamples - sum.gcsamples
  end)
  column("C", 5, function(sum) return sum.nativesamples end)
  column("GC", 1, function(sum) return sum.gcsamples end)
end

local function has(style, field)
  return style.totals.whole[field] > 0
end

-- ==}

-- As tables.titled, of functions or lines.
local function placed(style, title, list, rows, columns, what)
  local named = what ~= "line"
  local label = named and labels.offunction or labels.ofline
  return tables.titled(style, title, list, columns, what, function(i, n)
    return label(rows[i], n, style.paint)
  end, labels.least(style.width, rows, named))
end

-- "By function", and by what when there is a choice.
local function titleof(style, what, field)
  return what .. (style.choice and ", by " .. measures.NAMES[field] or "")
end

local function isallocation(field)
  return field ~= "timesamples"
end

-- Without the C functions that all stacks begin with: how the interpreter
-- comes to the script is no news.
local function withoutstart(list, field, whole)
  local rows = {}
  for _, row in ipairs(list) do
    if not (row.native and row.self[field] == 0 and
            row.total[field] == whole[field]) then
      rows[#rows + 1] = row
    end
  end
  return rows
end

--- Functions, the largest of a field first.
function M.functions(style, field)
  local list = withoutstart(
    totals.sorted(style.totals.functions, field, style.key), field,
    style.totals.whole)
  local rows = tables.top(style, list)
  local columns = measured(style, rows, field)
  if isallocation(field) then
    blockcolumns(style, columns, rows)
    fatecolumns(style, columns, rows)
  end
  return placed(style, titleof(style, "By function", field), list, rows, columns,
                "function")
end

-- The rows that have anything of a field themselves.
local function owning(list, field)
  local rows = {}
  for _, row in ipairs(list) do
    rows[#rows + 1] = row.self[field] > 0 and row or nil
  end
  return rows
end

--- Lines, the largest of a field first, with where their time went; with
-- samples of both sorts their totals have no room beside that.
function M.lines(style, field)
  local list = totals.sorted(style.totals.lines, field, style.key)
  local both = has(style, "timesamples") and has(style, "samples")
               and style.key ~= "total"
  list = both and owning(list, field) or list
  local rows = tables.top(style, list)
  local columns = measured(style, rows, field)
  columns = both and table.move(columns, 1, 2, 1, {}) or columns
  if isallocation(field) then
    blockcolumns(style, columns, rows)
    fatecolumns(style, columns, rows)
  end
  if both or not isallocation(field) then
    addtimecolumns(style, columns, rows)
  end
  return placed(style, titleof(style, "By line", field), list, rows, columns,
                "line")
end

--- Types, each with its classes below it.
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
    {title = "self", cells = tables.cells(rows, function(row)
      return tables.value(style.profile, row.self, field)
    end)},
    {title = "", gap = 1, least = 6, spare = 7, cells = tables.cells(rows, function(row)
      return share(row.self, style.totals.whole, field)
    end)},
  }
  blockcolumns(style, columns, rows)
  fatecolumns(style, columns, rows)
  local all = {}  -- as many as types left out, behind the rows shown
  table.move(rows, 1, #rows, 1, all)
  table.move(list, style.top + 1, #list, #all + 1, all)
  return tables.titled(setmetatable({top = #rows}, {__index = style}),
    classes and "By type and class" or "By type", all, columns, "type",
    function(i, n)
      local row = rows[i]
      local name = layout.cutend(layout.clean(row.name), row.class and n - 2
                                                          or n)
      return row.class and "  " .. style.paint("cyan", name) or name
    end)
end

--- Who called what the report is restricted to.
function M.callers(style, list, field)
  local rows = tables.top(style, list)
  local columns = {
    {title = "total", cells = tables.cells(rows, function(row)
      return tables.value(style.profile, row.total, field)
    end)},
    {title = "", gap = 1, least = 6, cells = tables.cells(rows, function(row)
      return share(row.total, style.totals.whole, field)
    end)},
  }
  return placed(style, titleof(style, "Called from", field), list, rows, columns,
                "caller")
end

return M
