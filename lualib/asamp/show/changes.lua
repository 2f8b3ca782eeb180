-- SPDX-License-Identifier: MIT
-- Renders the results of asamp.sums.compare as text. Uses colours on request.

local holders = require "asamp.sums.holders"
local labels = require "asamp.show.labels"
local layout = require "asamp.show.layout"
local measures = require "asamp.sums.measures"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

-- {== numbers ===============================================================

local function formatter(result)
  if measures.isbytes(result.field) then
    return function(n) return units.short(math.floor(n + 0.5)) end
  elseif result.seconds then
    return units.shorttime
  end
  return function(n) return units.count(math.floor(n + 0.5)) end
end

local function signed(n, format)
  return (n < 0 and "-" or "+") .. format(math.abs(n))
end

local function relative(row)
  if row.a == 0 then
    return "new"
  elseif row.b == 0 then
    return "gone"
  end
  local percent = 100 * row.change / row.a
  return percent >= 9999.5 and (">%dx"):format(row.b // row.a)
         or ("%+.1f%%"):format(percent)
end

-- ==}

-- Returns a table of the comparison as lines of text. It has up to style.top rows with a significant change.
-- Below them are the number of further rows, and the number of rows whose change may be chance (noise). If
-- style.all is true, the table also has the latter rows.
--
--   - title, what: title of the table, and heading of its column of names
--   - rows: list of rows of asamp.sums.compare
--   - label(row, n, paint): returns the name of a row in at most n columns; 'paint' adds colours
--     (layout.painter)
--   - under(row): returns text below a row, or nil; nil: no row has such a text
local function section(style, title, rows, what, label, under)
  local paint, format = style.paint, style.format
  local shown = {}
  for _, row in ipairs(rows) do
    if (style.all or not row.noise) and #shown < style.top then
      shown[#shown + 1] = row
    end
  end
  if #rows == 0 then
    return {}
  end
  local function color(row)
    return row.noise and "dim" or row.change > 0 and "red" or "green"
  end
  local columns = tables.columns(shown, {
    {"A", spare = 1, function(row) return format(row.a) end},
    {"B", function(row) return format(row.b) end},
    {"change", function(row) return (row.noise and "~" or "") .. signed(row.change, format) end},
    {"", gap = 1, spare = 2, relative},
    {"error", spare = 3, function(row) return "±" .. format(row.error) end},
  })
  for _, column in ipairs(columns) do
    column.style = function(i) return color(shown[i]) end
  end
  local lines = {"", tables.title(style, title)}
  local left = 2
  if #shown > 0 then
    local grid
    grid, left = layout.grid(columns, #shown, what, function(i, n)
      return label(shown[i], n, paint)
    end, style.width, paint, labels.least(style.width, shown, label ~= labels.ofline))
    lines[#lines + 1] = grid[1]
    for i = 2, #grid do
      lines[#lines + 1] = grid[i]
      lines[#lines + 1] = under and under(shown[i - 1]) or nil
    end
  end
  local function note(n, text)
    if n > 0 then
      lines[#lines + 1] = tables.remark(style, left, ("and %s %s"):format(units.count(n), text))
    end
  end
  if #shown == 0 then
    lines[#lines + 1] = paint("dim", ("  %s (%s)"):format(
      rows.same and "no change" or "only noise", units.plural(rows.n, "row")))
  else
    local noise = style.all and 0 or rows.noise
    note(rows.n - noise - #shown, "more")
    note(noise, "within noise")
  end
  return lines
end

local function plainlabel(row, n)
  return layout.cutmiddle(layout.clean(row.name), n)
end

-- Returns the last reference of a holder's path in at most n columns. The path lists the references that keep
-- objects alive; the text below the row shows all of it.
local function laststep(row, n)
  return layout.cutend(layout.clean(row.name:match(".*" .. holders.ARROW .. "(.*)$") or row.name), n)
end

local function side(letter, profile, width)
  return ("%s  %s"):format(letter, layout.cutstart(layout.clean(profile.path),
                                                   width - 3))
end

-- Returns the name of the measure 'field', for a sentence. The name of a time includes its clock if the
-- profiles a and b have the same clock.
local function nameof(a, b, field)
  local clock = field == "timesamples" and measures.clock(a)
  return (clock and clock == measures.clock(b) and clock .. " " or "") ..
         measures.NAMES[field]
end

-- Returns the tables of a comparison (functions, lines, types and so on) as lines of text.
--
--   - result: result of asamp.sums.compare
--   - which: text in the titles of tables of functions and lines: "self", or "with called functions"
--   - by: text in the titles: ", by " and the name of the measure; "" if there is only one measure
local function tablesof(result, style, which, by)
  local lines = {}
  local function append(...)
    local list = section(style, ...)
    table.move(list, 1, #list, #lines + 1, lines)
  end
  append(("By function (%s)%s"):format(which, by), result.functions, "function", labels.offunction)
  append(("By line (%s)%s"):format(which, by), result.lines, "line", labels.ofline)
  append("By type" .. by, result.types, "type", plainlabel)
  append("By class" .. by, result.classes, "class (type)", plainlabel)
  append("By holder (live bytes at the end)" ..
         (measures.counted(result.field) == "alive" and "" or by), result.holders or {},
         "holder", laststep, function(row)
    return row.name:find(holders.ARROW, 1, true) and
           layout.wrap(layout.clean(row.name), "           ", style.width) or nil
  end)
  return lines
end

--- Returns the text of the comparison of profiles a and b. 'results': results of asamp.sums.compare, one for
-- each measure; if a result has 'head' = true, only its totals are shown. Options:
--
--   - top: largest number of rows of a table
--   - color: true: with colours
--   - width: columns of the terminal; nil: layout.WIDTH
--   - all: true: also shows rows whose change is noise
--   - sigma, cumulative: the settings of asamp.sums.compare
--   - clocks: the reason why times are not compared; nil: they are compared
function M.render(a, b, results, options)
  local paint = layout.painter(options.color)
  local width = math.max(options.width or layout.WIDTH, layout.NARROW)
  local lines = {paint("bold", side("A", a, width)),
                 paint("bold", side("B", b, width)), ""}
  local function append(list)
    table.move(list, 1, #list, #lines + 1, lines)
  end
  for _, result in ipairs(results) do
    local format = formatter(result)
    local text = ("%s: %s in A, %s in B, %s (%s%s)."):format(
      nameof(a, b, result.field), format(result.a), format(result.b),
      signed(result.b - result.a, format),
      relative{a = result.a, b = result.b, change = result.b - result.a},
      result.error > 0 and ", ±" .. format(result.error) or "")
    text = text:sub(1, 1):upper() .. text:sub(2)
    if result.scale ~= 1 then
      text = text .. (" A's numbers are scaled by %.4g below, so that both totals are equal."):format(
        result.scale)
    end
    lines[#lines + 1] = layout.wrap(text, "  ", width)
  end
  if options.clocks then
    lines[#lines + 1] = layout.wrap(
      ("Time is not compared: %s."):format(options.clocks), "  ", width)
  end
  local shown = {}
  for _, result in ipairs(results) do
    shown[#shown + 1] = not result.head and result or nil
  end
  for _, result in ipairs(shown) do
    append(tablesof(result, {paint = paint, width = width, top = options.top, all = options.all,
                             format = formatter(result)},
                    options.cumulative and "with called functions" or "self",
                    #shown > 1 and ", by " .. measures.NAMES[result.field] or ""))
  end
  append{"", paint("dim", layout.wrap((
    "error: one standard error of the change, estimated from the samples. " ..
    "noise%s: changes of less than %g standard errors, " ..
    "and in a long table also larger changes that may be chance%s.")
      :format(options.all and " (marked ~)" or "", options.sigma,
              options.all and "" or "; --all shows the noise"), "  ", width))}
  return table.concat(lines, "\n") .. "\n"
end

return M
