-- SPDX-License-Identifier: MIT
-- Prints a row of the table of bench/peak: lua peak.lua NAME EXACT SAMPLED... EXACT and SAMPLED are
-- profiles of runs of one program; in the run of EXACT, nearly every block was sampled. Exit status 1: the
-- error of the sampled bytes at the peak is too large.

local reader = require "profiler.reader"
local totals = require "asamp.sums.totals"

-- smallest expected number of samples of a line whose error is checked
local LEAST = 10
-- largest relative difference between the peaks of two runs; they differ because hashes of strings differ
local SAME = 0.01

-- Returns four values for the moment at which the memory in use was largest: a table of the live bytes by
-- line, their sum, the memory in use, and the sampling period.
local function atpeak(path)
  local course = assert(reader.read(path)).course
  local profile = assert(reader.read(path, {at = course.highest}))
  local t, lines = totals.of(profile), {}
  for _, row in ipairs(t.lines) do
    local key = row.file .. ":" .. row.line
    lines[key] = (lines[key] or 0) + row.self.bytes
  end
  return lines, t.whole.bytes, course.peak.inuse, profile.period
end

local name, exact = arg[1], arg[2]
local truth, whole, inuse = atpeak(exact)
local far, sum, judged, within, worst, same = 0, whole, 0, 0, 0, true
for i = 3, #arg do
  local lines, bytes, peak, period = atpeak(arg[i])
  same = same and math.abs(peak - inuse) <= SAME * inuse
  local off = (bytes - whole) / math.sqrt(whole * period)
  if math.abs(off) >= math.abs(far) then
    far, sum = off, bytes
  end
  for key, right in pairs(truth) do
    if right >= LEAST * period then
      local e = ((lines[key] or 0) - right) / math.sqrt(right * period)
      judged, within = judged + 1, within + (math.abs(e) <= 3 and 1 or 0)
      worst = math.abs(e) > math.abs(worst) and e or worst
    end
  end
end
print(("| %s | %d | %d | %d | %+.1f | %d | %d | %+.1f |%s"):format(name, inuse, math.floor(whole),
  math.floor(sum), far, judged, within, worst, same and "" or " THE PEAKS DIFFER"))
os.exit(same and math.abs(far) <= 4 and within >= 0.99 * judged and 0 or 1)
