-- SPDX-License-Identifier: MIT
-- Data of the page of `asamp view` about resident memory: the rows of `asamp memory` for the last snapshot
-- and the largest one, and sums over time.

local resident = require "asamp.sums.resident"
local shown = require "asamp.show.resident"

local M = {}

-- A row of the table shows one use of memory. This is the limit of the parts of a row: source lines or files.
local PARTS = 8
local COURSE = 500  -- limit of memory snapshots in 'course'; the latest ones are kept

local function picture(of)
  return {time = of.time, rss = of.rss, rows = shown.rows(of, PARTS), outside = shown.outside(of),
          note = shown.note(of)}
end

--- Returns nil if the profile has no snapshot of resident memory, else a table:
--
--   - summary: a sentence
--   - last: the last snapshot
--   - peak: the largest snapshot; nil: it is the last one
--   - course: sums of the snapshots over time: list of {time (seconds), rss, lua, free, native, rest}
--   - left: number of snapshots omitted from 'course'
--
-- Fields of 'last' and 'peak':
--
--   - time: time of the snapshot, seconds since the start
--   - rss: resident bytes of the process
--   - rows: {bytes, label, part, more} for each use of memory and its parts (asamp.show.resident.rows)
--   - outside: a sentence about memory that userdata own outside of the heap; nil: there is none
--   - note: sentences about the rows
function M.of(profile)
  local found = resident.ofprofile(profile)
  if not found then
    return nil
  end
  local from = math.max(1, #found.course - COURSE + 1)
  return {summary = shown.summary(found), last = picture(found.last),
          peak = found.peak ~= found.last and picture(found.peak) or nil,
          course = table.move(found.course, from, #found.course, 1, {}), left = from - 1}
end

return M
