-- SPDX-License-Identifier: MIT
-- Live bytes over time by line and by function, and their rate of growth. The profile must have time slices
-- (profile.bins).
--
-- Bytes count as live from the time slice of their allocation to that of the collection that found them dead.
-- Blocks that died before their first collection are left out. A row's slope is that of the least-squares
-- line through its live bytes at the slices' ends. Its standard error includes the sampling error, and the
-- residuals, because growth in steps deviates from a line.

local measures = require "asamp.sums.measures"
local totals = require "asamp.sums.totals"

local M = {}

local LEAST = 8  -- minimum number of slices of a trend
local SURE = 3   -- number of standard errors above which a slope counts as growth

-- Adds samples to the change of a row's live bytes in one time slice, and to the variance of this change.
--
-- sign: 1 if the samples' blocks became live in the slice; -1 if they died in it
local function add(row, slice, bytes, samples, sign)
  row.change[slice] = (row.change[slice] or 0) + sign * bytes
  row.variance[slice] = (row.variance[slice] or 0) + (samples > 0 and bytes * bytes / samples or 0)
end

local function newrow(of)
  return {file = of.file, line = of.line, name = of.name, change = {}, variance = {}}
end

-- Prepares the fit of least-squares lines to live bytes over time. The slope of such a line is a sum over the
-- time slices: the weight of the slice, times the change of the live bytes in it. Returns three values:
--
--   1. list of the weights of the time slices
--   2. the mean of the times
--   3. the sum of the squared distances of the times from their mean
--
-- seconds: list of the times: the ends of the time slices, in seconds
local function weights(seconds)
  local n, mean, squares = #seconds, 0, 0
  for _, t in ipairs(seconds) do
    mean = mean + t / n
  end
  for _, t in ipairs(seconds) do
    squares = squares + (t - mean) ^ 2
  end
  local list, sum = {}, 0
  for i = n, 1, -1 do
    sum = sum + (squares > 0 and (seconds[i] - mean) / squares or 0)
    list[i] = sum
  end
  return list, mean, squares
end

-- Returns the variance of the slope of a fitted line, estimated from the distances between the line and the
-- values.
--
-- line: {seconds, mean, squares}: the list of the times, and the second and third result of 'weights'
-- alive: live bytes at the end of each time slice
-- slope: slope of the line, bytes per second
local function scatter(line, alive, slope)
  local n, mean, rest = #alive, 0, 0
  for _, y in ipairs(alive) do
    mean = mean + y / n
  end
  for i, y in ipairs(alive) do
    rest = rest + (y - mean - slope * (line.seconds[i] - line.mean)) ^ 2
  end
  return rest / (n - 2) / line.squares
end

local function finish(row, line)
  local weight = line.weight
  local alive, slope, variance = 0, 0, 0
  row.alive, row.peak = {}, 0
  for i = 1, #weight do
    local change = row.change[i] or 0
    alive = math.max(0, alive + change)
    row.alive[i] = math.tointeger(alive) or alive
    row.peak = math.max(row.peak, row.alive[i])
    slope = slope + weight[i] * change
    variance = variance + weight[i] ^ 2 * (row.variance[i] or 0)
  end
  row.slope, row.error = slope, math.sqrt(variance + scatter(line, row.alive, slope))
  row.grows = slope > SURE * row.error
  row.change, row.variance = nil, nil
  return row
end

local function sorted(rows, line)
  local list = {}
  for _, row in ipairs(rows) do
    if finish(row, line).peak > 0 then
      list[#list + 1] = row
    end
  end
  table.sort(list, function(a, b)
    local x, y = a.alive[#line.seconds], b.alive[#line.seconds]
    if x ~= y then
      return x > y
    elseif a.peak ~= b.peak then
      return a.peak > b.peak
    elseif a.file ~= b.file then
      return a.file < b.file
    end
    return a.line < b.line
  end)
  return list
end

--- Returns the trends of live bytes, or nil if the profile has too little data.
--
--   - seconds: list of the ends of the time slices, in seconds since the start
--   - whole: a row for all samples
--   - lines, functions: lists of rows, the row with most live bytes at the end first. Fields of a row:
--     - file, line, name: the source line, or the function ('line' is then the line of its definition)
--     - alive: list of the live bytes at the end of each time slice
--     - peak: largest element of 'alive'
--     - slope, error: growth in bytes per second, and its standard error
--     - grows: true: the slope is significant (SURE)
--
-- covered: set of the call tree nodes whose samples count; nil: all
function M.of(profile, covered)
  local bins, gone = profile.bins, profile.gone
  if not bins or not gone or bins.n < LEAST or not profile.lines or
     not measures.hasdeaths(profile) then
    return nil
  end
  local width = math.max(bins.width, gone.width)
  local n = ((bins.n * bins.width - 1) // width) + 1
  local last = gone.bin[#gone.bin]
  n = last and math.max(n, last * gone.width // width + 1) or n
  local seconds = {}
  for i = 1, n do
    seconds[i] = i * width / 1e6
  end
  local _, _, nearest = totals.linerows(profile, true)
  local lines, functions, byline, byname = {}, {}, {}, {}
  local whole = newrow{}
  local function rowsof(line)
    local row = byline[line]
    if not row then
      row = newrow(line)
      byline[line], lines[#lines + 1] = row, row
      local key = ("%s\0%s\0%d"):format(line.file, line.name, line.defined)
      if not byname[key] then
        byname[key] = newrow{file = line.file, name = line.name, line = line.defined}
        functions[#functions + 1] = byname[key]
      end
      row["function"] = byname[key]
    end
    return row, row["function"]
  end
  local function count(columns, bytes, samples, sign)
    for i, node in ipairs(columns.node) do
      local b, s = bytes[i], samples[i]
      if s > 0 and (not covered or covered[node]) then
        local slice = columns.bin[i] * columns.width // width + 1
        add(whole, slice, b, s, sign)
        if nearest[node] then
          local row, fn = rowsof(nearest[node])
          add(row, slice, b, s, sign)
          add(fn, slice, b, s, sign)
        end
      end
    end
  end
  count(bins, bins.survivedbytes, bins.survived, 1)
  count(gone, gone.bytes, gone.samples, -1)
  local line = {seconds = seconds}
  line.weight, line.mean, line.squares = weights(seconds)
  for _, row in ipairs(lines) do
    row["function"] = nil
  end
  return {seconds = seconds, lines = sorted(lines, line), functions = sorted(functions, line),
          whole = finish(whole, line)}
end

return M
