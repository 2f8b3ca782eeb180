-- SPDX-License-Identifier: MIT
-- Copied bytes by line: copies into new strings, and moves by growing buffers and tables.
--
-- A byte is copied "again" if its source is itself a copy. This happens in two cases:
--
--   - A concatenation whose result replaces an operand (s = s .. x) copies the operand's bytes again.
--   - A buffer or table that grows copies all its bytes again.

local order = require "asamp.sums.order"
local totals = require "asamp.sums.totals"

local M = {}

local SORTS = {[0] = "new", "again", "grown"}

-- A line builds strings in quadratic time if it copies each byte at least 10 times on average.
local OFTEN = 10

local function zero(row)
  row.samples, row.bytes, row.new, row.again, row.grown = 0, 0, 0, 0, 0
  return row
end

local function add(row, sort, samples, bytes)
  row.samples, row.bytes = row.samples + samples, row.bytes + bytes
  row[sort] = row[sort] + bytes
end

-- Returns a lower bound of the mean number of copies of each byte of a row's strings: all copied bytes,
-- divided by the bytes copied for the first time plus two standard errors.
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

--- Returns the totals of copied bytes, or nil if copies were not sampled.
--
--   - samples, bytes: of all copies
--   - persecond: bytes; nil: the duration is unknown
--   - new: bytes copied into new strings for the first time
--   - again: bytes copied from a string that the new one replaces
--   - grown: bytes moved when a buffer or table grew
--   - share: (again + grown) / bytes
--   - times: lower bound of the mean number of copies per byte; nil: again is 0
--   - quadratic: true: times is at least OFTEN
--   - lines: a list of rows with these fields and file, line, name, for each line; the one with most bytes
--     first
--
-- covered: set of the call tree nodes whose samples count; nil: all
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
