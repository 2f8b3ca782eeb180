-- SPDX-License-Identifier: MIT
-- What happened during a session besides samples: collections and markers,
-- summed up. Pure: a profile in, plain tables out. Times are microseconds.

local M = {}

--- Sums up the collections; nil when the file tells of none: {minors, majors,
-- tenured (bytes), inuse, held, rss = {start, peak, stop} (bytes; of the
-- first collection, the highest, of the last), pauses = {n, total, median,
-- p99, longest, at (when the longest ended)}}. Without pauses when the file
-- tells none.
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

--- The bytes in use over the session: a list of n numbers, the highest of
-- each n-th of the time; where no collection ended what was before.
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

--- The markers by name: {name, count, first, last (times), least, mean, most
-- (when all values are numbers), value (the last one, "" without)}, in the
-- order in which the names came.
function M.marks(profile)
  return profile.marknames or {}
end

return M
