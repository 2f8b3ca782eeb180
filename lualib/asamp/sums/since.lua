-- SPDX-License-Identifier: MIT
-- Lines of a profile that grows, by what they have come to since it was looked at before.
-- Pure.

local order = require "asamp.sums.order"

local M = {}

local function nameof(row)
  return ("%s:%d  %s"):format(row.file, row.line, row.name or "")
end

-- What a line is known by in every look: its name may be another function's in the next.
local function place(row)
  return ("%s:%d"):format(row.file, row.line)
end

--- What a later look compares with: by place what each line has.
function M.remember(t)
  local known = {}
  for _, row in ipairs(t.lines) do
    known[place(row)] = {bytes = row.self.bytes, alive = row.self.alivebytes,
                          time = row.self.timesamples}
  end
  return known
end

local NONE = {bytes = 0, alive = 0, time = 0}

--- Rows {name, bytes, time (since then), alive, more (of that since then)}, the most bytes,
-- then the most time, first. 'before': remember's; nil: since the begin.
function M.lines(t, before)
  local rows = {}
  for _, row in ipairs(t.lines) do
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
