-- SPDX-License-Identifier: MIT
-- Lines of a growing profile, with their changes since the previous reading. Has no side effects.

local order = require "asamp.sums.order"

local M = {}

local function nameof(row)
  if row.native then
    return "[C] " .. row.file:match "[^/]*$" .. "  " .. row.name
  end
  return ("%s:%d  %s"):format(row.file, row.line, row.name or "")
end

-- Returns the key of a line, without its name: another function may name the line in the next
-- reading. The key of a C function has its name.
local function place(row)
  return ("%s:%s"):format(row.file, row.native and row.name or row.line)
end

-- Returns a list of the rows of lines and of the C functions that no Lua code called. 't': totals.
local function rowsof(t)
  local all = table.move(t.lines, 1, #t.lines, 1, {})
  return table.move(t.outside or {}, 1, #(t.outside or {}), #all + 1, all)
end

--- Returns {bytes, alive, time} of all lines by key, for M.lines, which compares it with a later reading.
function M.remember(t)
  local known = {}
  for _, row in ipairs(rowsof(t)) do
    known[place(row)] = {bytes = row.self.bytes, alive = row.self.alivebytes,
                          time = row.self.timesamples}
  end
  return known
end

local NONE = {bytes = 0, alive = 0, time = 0}

--- Returns rows {name, bytes, time (both since 'before'), alive, more (change of alive)}, sorted
-- by bytes, then by time, the largest first. 'before': result of M.remember; nil: the start.
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
