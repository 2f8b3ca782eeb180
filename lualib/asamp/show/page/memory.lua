-- SPDX-License-Identifier: MIT
-- What the page tells of resident memory: the rows of asamp memory, of the last picture and
-- of the one with most, and the sums over time. Pure: a profile in, what the page embeds out.

local resident = require "asamp.sums.resident"
local shown = require "asamp.show.resident"

local M = {}

local PARTS = 8     -- lines and files of a row
local COURSE = 500  -- pictures of the course, the last ones

local function picture(of)
  return {time = of.time, rss = of.rss, rows = shown.rows(of, PARTS), outside = shown.outside(of),
          note = shown.note(of)}
end

--- {told (a sentence), last, peak (nil: it is the last) = {time (seconds), rss (bytes), rows
-- (asamp.show.resident's), outside, note (sentences, nil: nothing to say)}, course = {{time, rss, lua,
-- free, native, rest}}, left (pictures that the course leaves out)}; nil when the profile has no picture.
function M.of(profile)
  local found = resident.ofprofile(profile)
  if not found then
    return nil
  end
  local from = math.max(1, #found.course - COURSE + 1)
  return {told = shown.told(found), last = picture(found.last),
          peak = found.peak ~= found.last and picture(found.peak) or nil,
          course = table.move(found.course, from, #found.course, 1, {}), left = from - 1}
end

return M
