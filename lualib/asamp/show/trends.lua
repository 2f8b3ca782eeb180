-- SPDX-License-Identifier: MIT
-- The report's section of live bytes over time: results of asamp.sums.trends as tables.
-- 'style': settings of the report (tables.lua).

local labels = require "asamp.show.labels"
local layout = require "asamp.show.layout"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

local BARS = layout.BARS

--- Returns a bar character for each number, as high as its share of 'most'; a space for 0.
function M.sparkline(list, most)
  local bars = {}
  for i, n in ipairs(list) do
    bars[i] = n > 0 and BARS[math.min(#BARS, 1 + n * #BARS // most | 0)] or " "
  end
  return table.concat(bars)
end

local function signed(n)
  return (n < 0 and "-" or "") .. units.short(math.floor(math.abs(n) + 0.5))
end

--- Returns the unit of time in which growth is printed: a number of seconds, and its name. It is not longer
-- than the run, so that a run of a second does not appear to predict an hour.
--
-- trends: result of asamp.sums.trends
function M.unit(trends)
  local last = trends.seconds[#trends.seconds]
  if last < 60 then
    return 1, "second"
  elseif last < 3600 then
    return 60, "minute"
  end
  return 3600, "hour"
end

--- Returns the growth of a row's live bytes in the unit of M.unit, with its error: "+12.3M ±1.1M", or "level"
-- if it may be chance.
function M.growth(row, trends)
  local seconds = M.unit(trends)
  local bytes, error = seconds * row.slope, seconds * row.error
  if math.abs(bytes) <= 3 * error or bytes == 0 then
    return "level"
  end
  return ("%s%s ±%s"):format(bytes > 0 and "+" or "", signed(bytes), units.short(error // 1 | 0))
end

local function listing(style, trends, title, list, what, label)
  local rows = tables.top(style, list)
  return tables.titled(style, title, list, {
    {"trend", function(row) return M.sparkline(row.alive, row.peak) end},
    {"alive", function(row) return units.short(row.alive[#row.alive]) end},
    {"most", spare = 2, function(row) return units.short(row.peak) end},
    {"per " .. select(2, M.unit(trends)), spare = 1, function(row) return M.growth(row, trends) end},
  }, what, function(i, n) return label(rows[i], n, style.paint) end,
  labels.least(style.width, rows, what == "function"))
end

--- Returns the report's sections "Over time" as lines of text: trends of live bytes, by line and by function.
--
--   - trends: result of asamp.sums.trends; nil, or without lines: returns {}
--   - brief: true: without explanations
function M.lines(style, trends, brief)
  if not trends or #trends.lines == 0 then
    return {}
  end
  local lines = listing(style, trends, "Over time, by line", trends.lines, "line", labels.ofline)
  local more = listing(style, trends, "Over time, by function", trends.functions, "function",
                       labels.offunction)
  table.move(more, 1, #more, #lines + 1, lines)
  if not brief then
    lines[#lines + 1] = style.paint("dim", layout.wrap(
      ("trend: live bytes of objects that survived their first collection, one bar per %s of the run. " ..
       "most: live bytes of the highest bar. " ..
       "per %s: growth of a straight line fitted to the bars, ± one standard error; " ..
       "level: no significant growth."):format(
        units.seconds(trends.seconds[2] - trends.seconds[1]), select(2, M.unit(trends))), "  ", style.width))
  end
  return lines
end

return M
