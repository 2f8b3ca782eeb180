-- SPDX-License-Identifier: MIT
-- The report's section of lifetimes: rows of asamp.sums.lifetimes as a table.
-- 'style': settings of the report (tables.lua).

local labels = require "asamp.show.labels"
local layout = require "asamp.show.layout"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

local function lifelabel(row)
  if row.kind == "young" then
    return "died young"
  elseif row.kind == "alive" then
    return "alive"
  end
  return "< " .. units.short(row.below)
end

local function listing(style, rows)
  local field = style.totals.unit == "bytes" and "bytes" or "samples"
  local columns = {
    {"lived for", lifelabel},
    {field, function(row) return tables.value(style.profile, row, field) end},
    {"", gap = 1, least = 6, spare = 1, function(row)
      return units.percent(row[field], style.totals.whole[field])
    end},
    {"of it", spare = 2, function(row)
      return row.share and ("%.0f%%"):format(100 * row.share) or "-"
    end},
  }
  return tables.whole(style,
    "By lifetime", rows, columns, "comes from line", function(i, n)
      return rows[i].file and labels.ofline(rows[i], n, style.paint) or "?"
    end, labels.least(style.width, rows))
end

--- Returns the report's section about lifetimes of blocks as lines of text.
--
--   - rows: result of asamp.sums.lifetimes; nil or empty: returns {}
--   - brief: true: without explanations
function M.lines(style, rows, brief)
  if not rows or #rows == 0 then
    return {}
  end
  local lines = listing(style, rows)
  if not brief then
    lines[#lines + 1] = style.paint("dim", layout.wrap(
      "lived for: bytes that the program allocated until a collection found the object dead. " ..
      "Only major collections find old objects dead. alive: objects that no collection found dead.", "  ",
      style.width))
  end
  return lines
end

return M
