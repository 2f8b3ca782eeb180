-- SPDX-License-Identifier: MIT
-- Prints the costs of profiling for bench/lifetimes: lua lifecosts.lua COSTS INSTRUCTIONS.
--   COSTS         lines "PERIOD WALL USER SYSTEM RSS STATUS" of runstat. Each round starts with a line whose
--                 period is "off": the run without the profiler, to which the other runs are compared
--   INSTRUCTIONS  lines "PERIOD WITHOUT LIFETIMES HOLDERS": the numbers of instructions without the profiler,
--                 with it, and with it and a search for holders

local order, times, peaks, off = {}, {}, {}, nil
for line in io.lines(arg[1]) do
  local period, user, system, rss, status =
    line:match "^(%S+) %S+ (%S+) (%S+) (%S+) (%S+)"
  assert(status == "0", line)
  local one = {time = user + system, rss = tonumber(rss)}
  if period == "off" then
    off = one
  else
    if not times[period] then
      order[#order + 1] = period
      times[period], peaks[period] = {}, {}
    end
    table.insert(times[period], one.time / off.time)
    table.insert(peaks[period], one.rss / off.rss)
  end
end

local counts = {}
for line in io.lines(arg[2]) do
  local period, without, lifetimes, holders = line:match "^(%S+) (%d+) (%d+) (%d+)$"
  counts[assert(period, line)] = {lifetimes / without, holders / without}
end

local function median(list)
  table.sort(list)
  return (list[(#list + 1) // 2] + list[#list // 2 + 1]) / 2
end

print "\nCost, of a run without (FiLiP, Tables 5 and 6, with pretenuring):\n"
print "| one sample every | instructions | ... with holders | CPU time | lowest | highest | peak of memory |"
print "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
for _, period in ipairs(order) do
  local list = times[period]
  local mid = median(list)
  print(("| %s | %.3f | %.3f | %.2f | %.2f | %.2f | %.2f |"):format(period, counts[period][1],
    counts[period][2], mid, list[1], list[#list], median(peaks[period])))
end
for _, row in ipairs{{"100%", 2.29, 2.12, 2.36}, {"50%", 1.64, 1.65, 1.68}, {"1%", 1.08, 1.34, 1.01},
                     {"0.1%", 1.12, 1.26, 1.001}} do
  print(("| paper, %s: DataFrame | - | - | %.2f | - | - | %.2f |"):format(row[1], row[2], row[4]))
  print(("| paper, %s: mean of five programs | - | - | %.2f | - | - | - |"):format(row[1], row[3]))
end
