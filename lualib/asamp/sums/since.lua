-- SPDX-License-Identifier: MIT
-- Lines of a growing profile, with their changes since the previous reading.

local order = require "asamp.sums.order"

local M = {}

local function nameof(row)
  if row.native then
    return "[C] " .. row.file:match "[^/]*$" .. "  " .. row.name
  end
  return ("%s:%d  %s"):format(row.file, row.line, row.name or "")
end

-- Returns the key by which a line is found again in the next reading. The key of a Lua line is its file and
-- number. The name of its function is not part of the key, because the line may be named after another of its
-- functions then. The key of a C function is its file and name.
local function place(row)
  return ("%s:%s"):format(row.file, row.native and row.name or row.line)
end

-- Returns a list of rows: those of lines, and those of C functions that no Lua code called. 't': totals of
-- the profile.
local function rowsof(t)
  local all = table.move(t.lines, 1, #t.lines, 1, {})
  return table.move(t.outside or {}, 1, #(t.outside or {}), #all + 1, all)
end

--- Returns a map from the key of each line (place) to its values {bytes, alive (bytes), time (sampling
-- periods)}, for M.lines after the next reading. 't': totals of the profile.
function M.remember(t)
  local known = {}
  for _, row in ipairs(rowsof(t)) do
    known[place(row)] = {bytes = row.self.bytes, alive = row.self.alivebytes,
                          time = row.self.timesamples}
  end
  return known
end

local NONE = {bytes = 0, alive = 0, time = 0}

--- Returns the costs of each line since the previous reading, the most bytes first:
--
--   - name: text about the line
--   - bytes, time: allocated bytes, and time in sampling periods, since then
--   - alive, more: live bytes, and their change since then
--
-- t: totals of the profile
-- before: values at the previous reading (M.remember); nil: since the start
function M.lines(t, before)
  local rows = {}
  for _, row in ipairs(rowsof(t)) do
    local was = before and before[place(row)] or NONE
    local one = {name = nameof(row), bytes = row.self.bytes - was.bytes, alive = row.self.alivebytes,
                 more = row.self.alivebytes - was.alive, time = row.self.timesamples - was.time}
    if one.bytes ~= 0 or one.alive ~= 0 or one.time ~= 0 then
      rows[#rows + 1] = one
    end
  end
  table.sort(rows, order.by("-bytes", "-time", "name"))
  return rows
end

return M
