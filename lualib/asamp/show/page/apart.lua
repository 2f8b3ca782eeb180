-- SPDX-License-Identifier: MIT
-- Tables of the page of `asamp view`, by label, by Lua state and by OS thread, each with its ROWS largest
-- rows. The tables always cover the whole run. Of many labels, only those with most bytes have a table.

local labelled = require "asamp.sums.labelled"
local states = require "asamp.sums.states"
local units = require "asamp.show.units"

local M = {}

local ROWS = 500

local function cut(title, what, all, name)
  local rows = {}
  for i = 1, math.min(ROWS, #all) do
    local row = all[i]
    rows[i] = {name = name(row), bytes = row.bytes, alive = row.alive, time = row.time,
               collections = row.collections, count = row.count}
  end
  return {title = title, what = what, rows = rows, left = #all - #rows}
end

--- Returns tables of totals for the page: {labels, states}. 'labels' is a list with a table for each label,
-- 'states' a list of tables by script, Lua state and OS thread. Appends a sentence about omitted labels to
-- the list 'omitted'. Fields of a table:
--
--   - title: heading of the table
--   - what: heading of its column of names
--   - left: number of omitted rows
--   - rows: list of rows. Fields of a row:
--     - name: value of the label, name of the script or state, or id of the thread
--     - bytes, alive: allocated bytes, and bytes alive at the end
--     - time: sampled time, seconds
--     - collections: number of collections
--     - count: number of states, or nil
function M.of(profile, omitted)
  local out, names, left = {labels = {}, states = {}}, labelled.names(profile, labelled.MOST)
  if left > 0 then
    omitted[#omitted + 1] = ("The page has tables for %d of %s, those with most bytes; " ..
      "asamp report --by-label NAME shows any other."):format(#names, units.plural(#names + left, "label"))
  end
  for _, label in ipairs(names) do
    out.labels[#out.labels + 1] = cut("By label " .. label, "value", labelled.rows(profile, label),
                                      function(row) return row.value end)
  end
  if #(profile.states or {}) > 1 then
    local function name(row) return row.name end
    out.states = {
      cut("Lua states by script", "script", states.names(profile), name),
      cut("By Lua state", "state", states.states(profile), function(row)
        return row.id and ("%d  %s"):format(row.id, row.name) or row.name
      end),
    }
  end
  if #(profile.threads or {}) > 1 then
    table.insert(out.states, cut("By OS thread", "thread", states.threads(profile), function(row)
      return tostring(row.id)
    end))
  end
  return out
end

return M
