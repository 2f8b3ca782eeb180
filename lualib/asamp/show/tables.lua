-- SPDX-License-Identifier: MIT
-- The report's tables of functions, lines and types: rows of totals in, lines
-- of text out. Pure. A 'style' is what every function here gets:
-- {paint, width, top (rows), profile, totals, key ("total": sorted by total
-- instead of own), choice (is there more than one measure?), focus}.

local layout = require "asamp.show.layout"
local totals = require "asamp.sums.totals"
local units = require "asamp.show.units"

local M = {}

-- {== cells =================================================================

--- What a sum has of a field, as a number for people.
function M.value(profile, sum, field)
  local n = sum[field]
  if totals.isbytes(field) then
    return units.short(n)
  elseif field == "timesamples" and (profile.timeperiod or 0) > 0 then
    return units.shorttime(n * profile.timeperiod)
  end
  return units.count(n)
end

-- The share of what has a fate that has a certain one.
local function fateshare(sum, which)
  local part, whole = totals.fate(sum, which)
  return whole > 0 and ("%.0f%%"):format(100 * part / whole) or "-"
end

--- The share of what was decided that survived.
function M.lived(profile, sum)
  return profile.fates and fateshare(sum, "survived") or "-"
end

--- The share of what was decided that is alive at the end.
function M.alive(profile, sum)
  return totals.tellsdeaths(profile) and fateshare(sum, "alive") or "-"
end

-- "file:line" of a Lua function or line, "[C] library" of a native one.
local function whereof(row)
  if row.native then
    local library = row.file:match "([^/]+)$"
    return (library == "-" or not library) and "[C]" or "[C] " .. library
  elseif row.file == "-" then
    return "?"
  end
  return row.line > 0 and row.file .. ":" .. row.line or row.file
end

-- The last name of a place: what of it must be seen.
local function lastname(where)
  return where:match "([^/]*)$"
end

--- A function and its place in n columns: the start of the name, and of the place
-- the end, its last name before the rest of the function's.
function M.functionlabel(row, n, paint)
  local name = layout.clean(row.name)
  if totals.iscollection(row) then
    return layout.cutend(name, n)
  end
  local where = layout.clean(whereof(row))
  local room = n - 2 - math.min(layout.width(name), 8, n // 3)
  room = math.min(math.max(layout.width(lastname(where)) + 2, n // 2), room)
  name = layout.cutend(name, n - 2 - math.min(layout.width(where), room))
  return name .. "  " ..
         paint("dim", layout.cutstart(where, n - 2 - layout.width(name)))
end

--- A line and the function it is in, in n columns; the file's name goes before
-- the function's.
function M.linelabel(row, n, paint)
  local name, where = layout.clean(row.name), layout.clean(whereof(row))
  local room = math.min(n, math.max(layout.width(lastname(where)) + 2, n - n // 2,
                                    n - 2 - layout.width(name)))
  if layout.width(where) > room and n - 2 - room < 3 then
    return layout.cutstart(where, n)
  end
  where = layout.cutstart(where, room)
  local left = n - 2 - layout.width(where)
  return left < 1 and where
         or where .. "  " .. paint("dim", layout.cutend(name, left))
end

--- Columns for the labels of rows, so that the last names of their places can be seen;
-- 'named': the name of a function stands before that.
function M.least(style, rows, named)
  local most = 0
  for _, row in ipairs(rows) do
    if row.file and not totals.iscollection(row) then
      local last = layout.width(lastname(layout.clean(whereof(row)))) + 2
      local name = layout.width(layout.clean(row.name))
      most = math.max(most, last + 2 + math.min(named and 12 or 5, name))
    end
  end
  return math.max(layout.LEAST, math.min(most, style.width * 2 // 5))
end

-- ==}

-- {== columns ===============================================================

local function cells(rows, cell)
  local list = {}
  for i, row in ipairs(rows) do
    list[i] = cell(row)
  end
  return list
end

local function share(sum, whole, field)
  return units.percent(sum[field], whole[field])
end

-- Columns of own and total of one field.
local function measured(style, rows, field)
  local whole = style.totals.whole
  local columns = {}
  for _, key in ipairs{"own", "total"} do
    local main = key == style.key
    columns[#columns + 1] = {title = key, spare = not main and 6,
      cells = cells(rows, function(row)
        return M.value(style.profile, row[key], field)
      end)}
    columns[#columns + 1] = {title = "", gap = 1, least = 6,
      spare = main and 7 or 9, cells = cells(rows, function(row)
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
  columns[#columns + 1] = {title = "blocks", spare = 8, cells = cells(rows, function(row)
    return row.own.objects > 0 and
           units.count(math.max(1, math.floor(row.own.objects + 0.5))) or "-"
  end)}
  columns[#columns + 1] = {title = "mean", spare = 10, cells = cells(rows, function(row)
    return row.own.objects > 0 and
           units.short(math.floor(row.own.bytes / row.own.objects + 0.5)) or "-"
  end)}
end

-- Adds the columns of what survived and of what is alive at the end.
local function livedcolumns(style, columns, rows)
  columns[#columns + 1] = {title = "lived", spare = 2, cells = cells(rows, function(row)
    return M.lived(style.profile, row.own)
  end)}
  if totals.tellsdeaths(style.profile) then
    columns[#columns + 1] = {title = "alive", spare = 3, cells = cells(rows, function(row)
      return M.alive(style.profile, row.own)
    end)}
  end
end

-- Where the time of a line went, in shares of all time.
local function addtimecolumns(style, columns, rows)
  local whole = style.totals.whole
  local function column(title, spare, of)
    columns[#columns + 1] = {title = title, spare = spare, cells = cells(rows, function(row)
      return units.percent(of(row.own), whole.timesamples)
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

--- The first rows of a list under a title; says how many more there are. 'wanted':
-- columns for the label, as layout.grid's 'least'.
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

-- As M.titled, of functions or lines.
local function placed(style, title, list, rows, columns, what)
  local named = what ~= "line"
  local label = named and M.functionlabel or M.linelabel
  return M.titled(style, title, list, columns, what, function(i, n)
    return label(rows[i], n, style.paint)
  end, M.least(style, rows, named))
end

local function top(style, list)
  return table.move(list, 1, math.min(style.top, #list), 1, {})
end

-- "By function", and by what when there is a choice.
local function titleof(style, what, field)
  return what .. (style.choice and ", by " .. totals.NAMES[field] or "")
end

local function isallocation(field)
  return field ~= "timesamples"
end

-- Without the C functions that all stacks begin with: how the interpreter
-- comes to the script is no news.
local function withoutstart(list, field, whole)
  local rows = {}
  for _, row in ipairs(list) do
    if not (row.native and row.own[field] == 0 and
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
  local rows = top(style, list)
  local columns = measured(style, rows, field)
  if isallocation(field) then
    blockcolumns(style, columns, rows)
    livedcolumns(style, columns, rows)
  end
  return placed(style, titleof(style, "By function", field), list, rows, columns,
                "function")
end

-- The rows that have anything of a field themselves.
local function owning(list, field)
  local rows = {}
  for _, row in ipairs(list) do
    rows[#rows + 1] = row.own[field] > 0 and row or nil
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
  local rows = top(style, list)
  local columns = measured(style, rows, field)
  columns = both and table.move(columns, 1, 2, 1, {}) or columns
  if isallocation(field) then
    blockcolumns(style, columns, rows)
    livedcolumns(style, columns, rows)
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
  for _, row in ipairs(top(style, list)) do
    rows[#rows + 1] = row
    local inner = totals.sorted(row.classes, field)
    for i, class in ipairs(top(style, inner)) do
      classes = true
      rows[#rows + 1] = setmetatable({
        class = true, left = i == style.top and #inner - i}, {__index = class})
    end
  end
  local columns = {
    {title = "own", cells = cells(rows, function(row)
      return M.value(style.profile, row.own, field)
    end)},
    {title = "", gap = 1, least = 6, spare = 7, cells = cells(rows, function(row)
      return share(row.own, style.totals.whole, field)
    end)},
  }
  blockcolumns(style, columns, rows)
  livedcolumns(style, columns, rows)
  local all = {}  -- as many as types left out, behind the rows shown
  table.move(rows, 1, #rows, 1, all)
  table.move(list, style.top + 1, #list, #all + 1, all)
  return M.titled(setmetatable({top = #rows}, {__index = style}),
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
  local rows = top(style, list)
  local columns = {
    {title = "total", cells = cells(rows, function(row)
      return M.value(style.profile, row.total, field)
    end)},
    {title = "", gap = 1, least = 6, cells = cells(rows, function(row)
      return share(row.total, style.totals.whole, field)
    end)},
  }
  return placed(style, titleof(style, "Called from", field), list, rows, columns,
                "caller")
end

--- Lines that are likely to leak: rows of asamp.sums.leaks. Of a group all but the first
-- are set in.
function M.leaks(style, found)
  local rows = top(style, found.rows)
  local bytes = style.totals.unit == "bytes"
  local columns = {
    {title = found.proved and "alive" or "survived",
     cells = cells(rows, function(row)
      return M.value(style.profile,
        {survivedbytes = row.keptbytes, survived = row.kept},
        bytes and "survivedbytes" or "survived")
    end)},
    {title = found.proved and "of own" or "lived",
     cells = cells(rows, function(row)
      return ("%.0f%%"):format(100 * row.kept / row.samples)
    end)},
    {title = "in parts", spare = 2, cells = cells(rows, function(row)
      return ("%d of %d"):format(row.parts, row.of)
    end)},
    {title = "mostly", spare = 1, cells = cells(rows, function(row)
      return layout.cutend(layout.clean(row.type), 16)
    end)},
  }
  return M.titled(style, "Likely leaks", found.rows, columns, "line", function(i, n)
    local inside = i > 1 and rows[i].group == rows[i - 1].group
    return inside and "  " .. M.linelabel(rows[i], n - 2, style.paint)
           or M.linelabel(rows[i], n, style.paint)
  end, M.least(style, rows))
end

local function lifelabel(row)
  if row.kind == "young" then
    return "died young"
  elseif row.kind == "alive" then
    return "alive"
  end
  return "< " .. units.short(row.below)
end

--- How long things lived: rows of asamp.sums.lifetimes.
function M.lifetimes(style, rows)
  local bytes = style.totals.unit == "bytes"
  local field = bytes and "bytes" or "samples"
  local columns = {
    {title = "lived for", cells = cells(rows, lifelabel)},
    {title = field, cells = cells(rows, function(row)
      return M.value(style.profile, row, field)
    end)},
    {title = "", gap = 1, least = 6, spare = 1, cells = cells(rows, function(row)
      return units.percent(row[field], style.totals.whole[field])
    end)},
    {title = "of it", spare = 2, cells = cells(rows, function(row)
      return row.share and ("%.0f%%"):format(100 * row.share) or "-"
    end)},
  }
  return M.titled(setmetatable({top = #rows}, {__index = style}),
    "By lifetime", rows, columns, "comes from line", function(i, n)
      return rows[i].file and M.linelabel(rows[i], n, style.paint) or "?"
    end, M.least(style, rows))
end

return M
