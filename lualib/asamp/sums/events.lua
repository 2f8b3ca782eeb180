-- SPDX-License-Identifier: MIT
-- Totals of the events of a session that are not samples: collections and markers. Times are in us.

local M = {}

--- Returns totals of the collections, or nil if there are none.
--
--   - minors, majors: numbers of collections
--   - tenured: bytes that collections tenured
--   - inuse: bytes in use, {start (after the first collection), peak (the largest), stop (after the last
--     one)}
--   - held, rss: reserved bytes, and resident bytes of the process: {start, peak, stop} each
--   - pauses: {n, total, median, p99, longest, at (end of the longest)}; nil: unknown
function M.collections(profile)
  local course = profile.course
  if not course then
    return nil
  end
  local sum = {minors = profile.minors, majors = profile.majors,
               tenured = course.tenured}
  for _, key in ipairs{"inuse", "held", "rss"} do
    sum[key] = {start = course.first[key], peak = course.peak[key],
                stop = course.last[key]}
  end
  if course.pauses.total > 0 then
    sum.pauses = course.pauses
  end
  return sum
end

--- Divides the time until the last collection into n equal parts. Returns the bytes in use for each: the
-- largest value after a collection in the part, or else the value after the previous collection.
function M.heap(profile, n)
  local list = profile.collections
  local last = list[#list].time
  local levels, at, now = {}, 1, list[1].inuse
  for i = 1, n do
    local level
    while at <= #list and list[at].time <= last * i / n do
      now = list[at].inuse
      level = math.max(level or 0, now)
      at = at + 1
    end
    levels[i] = level or now
  end
  return levels
end

--- Returns a list with an element for each name of markers, in the order of first use:
--
--   - name: name of the markers
--   - count: number of markers with this name
--   - first, last: times of the first and the last one, us
--   - least, mean, most: smallest, mean and largest value, if all values are numbers
--   - value: value of the last one; "": none
function M.marks(profile)
  return profile.marknames or {}
end

return M
