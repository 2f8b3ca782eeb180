-- SPDX-License-Identifier: MIT
-- What was copied, by line: into new strings, and by buffers and tables that grow. Pure:
-- a profile in, rows out. (Scalene calls it copy volume.)
--
-- A byte is copied again when it had been copied before into what it is copied from now:
-- of a string that a concatenation puts in the place of one of its operands (s = s .. x)
-- that operand's bytes; of a buffer or a table that grows all that it had.

local order = require "asamp.sums.order"
local totals = require "asamp.sums.totals"

local M = {}

local SORTS = {[0] = "new", "again", "grown"}

-- A line joins all anew each time when its strings' bytes are copied so often on average.
local OFTEN = 10

local function zero(row)
  row.samples, row.bytes, row.new, row.again, row.grown = 0, 0, 0, 0, 0
  return row
end

local function add(row, sort, samples, bytes)
  row.samples, row.bytes = row.samples + samples, row.bytes + bytes
  row[sort] = row[sort] + bytes
end

-- How often a byte of the row's strings was copied on average, at least: there may have been
-- more new bytes than the few samples of them say, by two standard errors.
local function times(row)
  local period = row.bytes / row.samples
  local new = row.new / period
  return (row.new + row.again) / period / (new + 2 * math.sqrt(new) + 1)
end

local function finish(row, duration)
  row.persecond = duration > 0 and row.bytes / duration or nil
  row.share = row.bytes > 0 and (row.again + row.grown) / row.bytes or nil
  if row.again > 0 then
    row.times = times(row)
    row.quadratic = row.times >= OFTEN
  end
  return row
end

--- nil when copies were not sampled; else {samples, bytes, new (of these, copied into new
-- strings), again (of what strings took the place of), grown (moved by growth), persecond
-- (bytes; nil: no duration), share (of again and grown; nil of nothing), lines = rows with
-- the same and {file, line, name, times (how often a byte of its strings was copied, on
-- average, at least: to two standard errors; nil: nothing again), quadratic (true: so
-- often that all is copied each time)}, the largest first}.
-- 'covered' (nil: all): which nodes count.
function M.of(profile, covered)
  local copies = profile.copies
  if not copies then
    return nil
  end
  local _, _, nearest = totals.linerows(profile)
  local whole, rows, byline = zero{}, {}, {}
  for i, node in ipairs(copies.node) do
    if not covered or covered[node] then
      local sort = SORTS[copies.sort[i]]
      local line = nearest[node]
      add(whole, sort, copies.samples[i], copies.bytes[i])
      if line then
        local row = byline[line]
        if not row then
          row = zero{file = line.file, line = line.line, name = line.name}
          byline[line], rows[#rows + 1] = row, row
        end
        add(row, sort, copies.samples[i], copies.bytes[i])
      end
    end
  end
  local duration = profile.duration or 0
  for _, row in ipairs(rows) do
    finish(row, duration)
  end
  table.sort(rows, order.by("-bytes", "file", "line"))
  whole.lines = rows
  return finish(whole, duration)
end

return M
