-- SPDX-License-Identifier: MIT
-- The report's section of native memory: results of asamp.sums.native as a sentence and a table.
-- 'style': settings of the report (tables.lua).

local labels = require "asamp.show.labels"
local layout = require "asamp.show.layout"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

--- Returns the name of the library of a row (asamp.sums.native), without its folder.
function M.library(row)
  return row.library == "-" and "(no C stack)" or row.library:match "[^/]*$"
end

function M.summary(native)
  return ("%s requested%s%s"):format(units.bytes(native.bytes),
    native.alive and (", %s of it not freed at the end"):format(units.bytes(native.alive)) or "",
    native.peak and native.peak > 0 and
    ("; the most in use after a collection was %s, at %s"):format(
      units.bytes(native.peak // 1 | 0), units.seconds(native.peaktime)) or "")
end

--- Returns the report's section "Native memory by library" as lines of text.
--
--   - native: result of asamp.sums.native; nil: returns {}
--   - brief: true: without explanations
function M.lines(style, native, brief)
  if not native then
    return {}
  elseif native.samples == 0 then
    return {"", style.paint("bold", "Native memory by library"), "  No native memory was sampled."}
  end
  local rows, list = tables.top(style, native.libraries), {}
  for i, row in ipairs(rows) do
    list[i] = {name = M.library(row), file = row.file or "-", line = row.line or 0}
  end
  local lines = tables.titled(style, "Native memory by library", native.libraries, {
    {"requested", function(row) return units.short(row.bytes) end},
    tables.shares(4, "bytes", native.bytes),
    {"alive", spare = 1, function(row) return row.alive and units.short(row.alive) or "-" end},
    {"samples", spare = 3, function(row) return units.count(row.samples) end},
  }, "library, and its line with most bytes", function(i, n)
    return labels.offunction(list[i], n, style.paint)
  end, labels.least(style.width, list, true))
  table.insert(lines, 3, layout.wrap(M.summary(native) .. ":", "  ", style.width))
  if not brief then
    lines[#lines + 1] = style.paint("dim", layout.wrap(
      "library: the library of the innermost C function, except the C and C++ standard libraries. " ..
      "alive: not freed at the end.", "  ", style.width))
  end
  return lines
end

return M
