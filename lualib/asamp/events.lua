-- SPDX-License-Identifier: MIT
-- What happened during a session besides samples: collections and markers,
-- summed up. Pure: a profile in, plain tables out. Times are microseconds.

local M = {}

-- The value below which a share of a sorted list lies.
local function quantile(sorted, share)
  return sorted[math.max(1, math.ceil(#sorted * share))]
end

-- What a number of the collections did over time.
local function course(collections, key)
  local peak = 0
  for _, c in ipairs(collections) do
    peak = math.max(peak, c[key])
  end
  return {start = collections[1][key], peak = peak,
          stop = collections[#collections][key]}
end

--- Sums up the collections; nil when the file tells of none: {minors, majors,
-- tenured (bytes), inuse, held, rss = {start, peak, stop} (bytes; of the
-- first collection, the highest, of the last), pauses = {n, total, median,
-- p99, longest, at (when the longest ended)}}. Without pauses when the file
-- tells none.
function M.collections(profile)
  local list = profile.collections
  if not list or #list == 0 then
    return nil
  end
  local sum = {minors = profile.minors, majors = profile.majors, tenured = 0}
  for _, key in ipairs{"inuse", "held", "rss"} do
    sum[key] = course(list, key)
  end
  local durations, total, longest = {}, 0, list[1]
  for i, c in ipairs(list) do
    durations[i] = c.duration or 0
    total = total + durations[i]
    sum.tenured = sum.tenured + (c.tenured or 0)
    if durations[i] > (longest.duration or 0) then
      longest = c
    end
  end
  if total > 0 then
    table.sort(durations)
    sum.pauses = {n = #durations, total = total, at = longest.time,
                  median = quantile(durations, 0.5),
                  p99 = quantile(durations, 0.99),
                  longest = durations[#durations]}
  end
  return sum
end

--- The bytes in use over the session: a list of n numbers, the highest of
-- each n-th of the time; where no collection fell what was before.
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
  local rows, byname = {}, {}
  for _, mark in ipairs(profile.marks or {}) do
    local row = byname[mark.name]
    if not row then
      row = {name = mark.name, count = 0, first = mark.time, sum = 0,
             numbers = 0}
      byname[mark.name] = row
      rows[#rows + 1] = row
    end
    row.count = row.count + 1
    row.last, row.value = mark.time, mark.value
    local number = tonumber(mark.value)
    if number then
      row.numbers, row.sum = row.numbers + 1, row.sum + number
      row.least = math.min(row.least or number, number)
      row.most = math.max(row.most or number, number)
    end
  end
  for _, row in ipairs(rows) do
    if row.numbers == row.count then
      row.mean = row.sum / row.count
    else
      row.least, row.most = nil, nil
    end
    row.numbers, row.sum = nil, nil
  end
  return rows
end

return M
