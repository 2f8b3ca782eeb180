-- SPDX-License-Identifier: MIT
-- The report's table of the values of a label. 'style': settings of the report (tables.lua).

local labelled = require "asamp.sums.labelled"
local labels = require "asamp.show.labels"
local layout = require "asamp.show.layout"
local tables = require "asamp.show.tables"
local units = require "asamp.show.units"

local M = {}

local SUMS = {
  {"exactly", "exact", units.count, shares = true}, {"sampled", "bytes", units.short, spare = 6},
  {"time", "time", units.shorttime, shares = true},
  {"alive", "alive", units.short, spare = 3, shares = true},
  {"GCs", "collections", units.count, spare = 4}, {"pauses", "pause", units.shorttime, spare = 5},
}

-- Columns for a profile without exact numbers of bytes by label: sampled bytes replace the first two columns
-- of SUMS.
local ESTIMATES = table.move(SUMS, 3, #SUMS, 2, {{"bytes", "bytes", units.short, shares = true}})

function M.lines(style, name)
  local all = labelled.rows(style.profile, name)
  local sums = tables.sums(all, all[1] and all[1].exact and SUMS or ESTIMATES)
  return tables.titled(style, "By label " .. layout.clean(name), all, sums, "value",
    function(i, n) return layout.cutmiddle(layout.clean(all[i].value), n) end)
end

--- Returns a remark, as a list of lines, that the tables of n labels are omitted. Returns {} if n is 0.
function M.left(style, n)
  return n > 0 and {tables.remark(style, 2, ("and %s with fewer bytes; --by-label NAME shows " ..
    "one of them"):format(units.plural(n, "label")))} or {}
end

--- Returns a table of source lines for each value of a label: the lines that allocated most while the label
-- had this value.
--
-- name: name of the label
-- parts: the values and their lines (result of asamp.sums.labelled.within)
function M.within(style, name, parts)
  local lines = {}
  for _, part in ipairs(parts) do
    local columns = {
      {"sampled", function(row) return units.short(row.bytes) end},
      {"", function(row) return units.percent(row.bytes, part.bytes) end},
    }
    local title = ("Lines of %s=%s"):format(layout.clean(name), layout.clean(part.value))
    local list = tables.whole(style, title, part.lines, columns, "line", function(i, n)
      return labels.ofline(part.lines[i], n, style.paint)
    end, labels.least(style.width, part.lines))
    table.move(list, 1, #list, #lines + 1, lines)
  end
  return lines
end

return M
