-- SPDX-License-Identifier: MIT
-- The report's section "Copies" about bytes that strings and growing tables copied: results of
-- asamp.sums.copies as a sentence and a table.
-- 'style': settings of the report (tables.lua).

local labels = require "asamp.show.labels"
local layout = require "asamp.show.layout"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

local function rate(bytes)
  return bytes and units.short(bytes // 1 | 0) .. "/s" or "-"
end

-- Formats the mean number of copies of a byte, with as many digits as the samples justify, or "-" for nil.
local function often(times)
  return times and (times < 9.95 and "%.1f" or "%.0f"):format(times) or "-"
end

function M.advice(row)
  return ("quadratic: each byte is copied more than %s times. " ..
          "A concatenation such as s = s .. x copies the whole string s each time; " ..
          "table.concat copies each part once"):format(units.count(row.times // 1 | 0))
end

function M.summary(copies)
  return ("%s copied%s, %.0f%% of it more than once"):format(
    units.bytes(copies.bytes),
    copies.persecond and (" (%s/s)"):format(units.bytes(copies.persecond // 1 | 0)) or "",
    100 * copies.share)
end

local function listing(style, copies)
  local rows = tables.top(style, copies.lines)
  local lines = tables.titled(style, "Copies", copies.lines, {
    {"copied", function(row) return units.short(row.bytes) end},
    tables.shares(5, "bytes", copies.bytes),
    {"a second", spare = 4, function(row) return rate(row.persecond) end},
    {"again", spare = 1, function(row) return ("%.0f%%"):format(100 * row.share) end},
    {"by growth", spare = 3, function(row)
      return row.grown > 0 and ("%.0f%%"):format(100 * row.grown / row.bytes) or "-"
    end},
    {"times", spare = 2, function(row) return often(row.times) end},
  }, "line", function(i, n)
    return labels.ofline(rows[i], n, style.paint)
  end, labels.least(style.width, rows))
  -- Goes from the last row to the first, so that an insertion does not move the rows that follow in the loop.
  -- Row i is lines[i + 3].
  for i = #rows, 1, -1 do
    if rows[i].quadratic then
      table.insert(lines, i + 4, style.paint("yellow", layout.wrap(
        M.advice(rows[i]) .. ".", "           ", style.width)))
    end
  end
  return lines
end

--- Returns the report's section "Copies", about the source lines that copy bytes, as lines of text.
--
--   - copies: result of asamp.sums.copies; nil: returns {}
--   - brief: true: without explanations
function M.lines(style, copies, brief)
  if not copies then
    return {}
  elseif copies.samples == 0 then
    return {"", style.paint("bold", "Copies"), "  No copied bytes were sampled."}
  end
  local lines = listing(style, copies)
  table.insert(lines, 3, layout.wrap(M.summary(copies) .. ":", "  ", style.width))
  if not brief then
    lines[#lines + 1] = style.paint("dim", layout.wrap(
      "copied: bytes copied into new strings, and by buffers and tables that grow. " ..
      "again: share of these bytes that had been copied before. " ..
      "by growth: share that was copied because a buffer or table grew. " ..
      "times: how often a byte of the line's strings was copied on average (lower bound).",
      "  ", style.width))
  end
  return lines
end

return M
