-- SPDX-License-Identifier: MIT
-- The report's section "Held by": renders the holders of live objects (rows of asamp.sums.verdict.held) as
-- lines of text. 'style': settings of the report (tables.lua).

local layout = require "asamp.show.layout"
local units = require "asamp.show.units"

local M = {}

function M.lines(style, held)
  if not held or #held == 0 then
    return {}
  end
  local bytes = held.bytes > 0
  local lines = {"", style.paint("bold", "Held by"), "  alive  share  holder"}
  if held.at then
    table.insert(lines, 3, ("  found at %s, in the last search for holders"):format(
                           units.seconds(held.at / 1e6)))
  end
  for _, row in ipairs(held) do
    lines[#lines + 1] = ("%7s %6s  "):format(bytes and units.short(row.bytes) or units.count(row.samples),
                                            row.share and ("%.1f%%"):format(100 * row.share) or "-") ..
      layout.wrap(layout.clean(row.text) .. (row.gone and " (garbage at the end)" or ""), (" "):rep(16),
                  style.width):gsub("^ +", "")
  end
  if #held < held.of then
    lines[#lines + 1] = style.paint("dim", ("  and %s more: --show holders"):format(
      units.count(held.of - #held)))
  end
  return lines
end

return M
