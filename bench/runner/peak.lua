-- SPDX-License-Identifier: MIT
-- Prints a row of the table of bench/peak: lua peak.lua NAME EXACT SAMPLED... The files are profiles of
-- runs of one program; in the run of EXACT nearly everything was sampled. Exit status 1: the bytes alive at
-- the peak are wrong.

local reader = require "profiler.reader"
local totals = require "asamp.sums.totals"

-- the least expected number of samples of a line, for its error to be checked
local LEAST = 10
-- the fraction of the peak by which runs may differ, because their strings have other hashes
local SAME = 0.01

-- Returns the bytes alive at the peak for each line, their sum, the bytes in use at the peak, and the
-- sampling period.
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
